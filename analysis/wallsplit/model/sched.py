"""When the scheduler put threads on a CPU and took them off, as far as nsys recorded it."""

import polars as pl

from wallsplit.model.rows import RawRows, pid
from wallsplit.schema import THREAD_SWITCHES, conform

TABLE = "SCHED_EVENTS"


def thread_switches(raw: RawRows) -> pl.DataFrame:
    """Return the scheduling events that name a thread (schema.THREAD_SWITCHES), in file order: it is per CPU."""
    rows = raw.read_instants(TABLE, ["globalTid", "isSchedIn"]).filter(pl.col("globalTid").is_not_null())
    is_in = (pl.col("isSchedIn") != 0).fill_null(value=False)
    frame = rows.select("start", pid("globalTid"), pl.col("globalTid").alias("thread"), is_in.alias("is_in"))
    return conform(frame, THREAD_SWITCHES, "thread_switches")
