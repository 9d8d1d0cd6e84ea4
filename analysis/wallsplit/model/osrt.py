"""Calls into the operating system's runtime libraries, as far as nsys traced them."""

import polars as pl

from wallsplit.model.names import NameTable
from wallsplit.model.rows import RawRows, pid
from wallsplit.schema import OSRT_CALLS, OsrtCalls, conform

TABLE = "OSRT_API"
CALL = 27
"""The eventClass of calls; others mark where this kind of tracing started and finished."""


def osrt(raw: RawRows, names: NameTable) -> OsrtCalls:
    """Return the OS runtime calls of a trace (schema.OSRT_CALLS), in file order."""
    is_call = pl.col("eventClass").fill_null(CALL) == CALL
    every = raw.trace.read(TABLE, ["start", "end", "globalTid", "nameId", "eventClass"])
    rows = raw.usable(TABLE, every.filter(is_call))
    frame = rows.select(
        "start",
        "end",
        pid("globalTid"),
        pl.col("globalTid").fill_null(0).alias("thread"),
        names.rows_of_ids(rows["nameId"]).alias("name"),
    )
    return OsrtCalls(conform(frame, OSRT_CALLS, "osrt"))
