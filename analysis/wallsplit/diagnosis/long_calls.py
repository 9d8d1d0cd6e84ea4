"""Is it a few long calls among many short ones that hold a cause? Then its name alone would mislead."""

import numpy as np
import polars as pl

from wallsplit.diagnosis.diagnosis import LongCalls
from wallsplit.intervals import Intervals, intersect, total_ns, union
from wallsplit.ledger.rows import Rows
from wallsplit.model import Names

LONG_NS = 1_000_000
LONG_TIMES = 50
"""A call is long if it lasts at least LONG_NS and this many times the median call of its name."""
CLASSES = {
    "launch": ("launch",),
    "sync": ("sync",),
    "alloc": ("alloc",),
    "transfer": ("memcpy", "memset"),
    "graph_build": ("graph_build",),
    "loading": ("launch", "setup"),
}
"""The classes of calls that a cause's time is spent in."""


def long_calls(rows: Rows, names: Names, cause: str, when: Intervals) -> LongCalls | None:
    """Return the long calls that hold most of a cause's time; None where none do. `when`: the cause's instants."""
    if cause not in CLASSES:
        return None
    of_cause = rows.calls.filter(pl.col("is_driving") & pl.col("booked_class").is_in(list(CLASSES[cause])))
    length = pl.col("end") - pl.col("start")
    usual = length.median().over("name")
    long = of_cause.with_columns(pl.len().over("name").alias("of_count")).filter(
        (length >= LONG_NS) & (length >= LONG_TIMES * usual)
    )
    if 2 * _held(long, when) <= total_ns(when):
        return None
    by_name = [(_held(own, when), own) for own in long.partition_by("name", maintain_order=True)]
    held_ns, own = max(by_name, key=lambda part: part[0])
    inside = int(np.count_nonzero([_held(own[row], when) for row in range(own.height)]))
    return LongCalls(names[own["name"][0]], inside, int(own["of_count"][0]), held_ns)


def _held(calls: pl.DataFrame, when: Intervals) -> int:
    return total_ns(intersect(union(calls["start"].to_numpy(), calls["end"].to_numpy()), when))
