"""Do threads stand in each other's way when they launch?

Launch calls of one process take locks in the driver: threads inside such calls at once mostly wait for one another.
"""

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, clip, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import summed


@dataclass(frozen=True)
class Contention:
    """Threads of a process inside launch calls."""

    threads: int
    """Those with a launch call in the window."""
    launching_ns: int
    """At least one is inside a call."""
    contended_ns: int
    """At least two are."""
    most_threads: int
    """At once."""


def contention(activity: Activity, window: Window) -> Contention | None:
    """Return how threads launch at once in the window; None without a launch call. Whole processes, all devices."""
    if activity.rows is None:
        return None
    calls = activity.rows.calls.filter((pl.col("api_class") == "launch") & ~pl.col("is_captured"))
    inside = [_inside(own, window) for own in calls.select("thread", "start", "end").partition_by("thread")]
    inside = [intervals for intervals in inside if len(intervals.starts)]
    if not inside:
        return None
    if len(inside) == 1:
        return Contention(1, total_ns(inside[0]), 0, 1)
    starts, ends = (
        np.sort(np.concatenate([intervals[edge] for intervals in inside]), kind="stable") for edge in (0, 1)
    )  # stable: a merge, as each thread's are in order
    edges = np.concatenate([starts, ends])
    order = np.argsort(edges, kind="stable")
    at_once = np.cumsum(np.where(order < len(starts), 1, -1))[:-1]
    by_number = summed(at_once, np.diff(edges[order]), len(inside) + 1)
    return Contention(
        threads=len(inside),
        launching_ns=int(by_number[1:].sum()),
        contended_ns=int(by_number[2:].sum()),
        most_threads=int(np.flatnonzero(by_number)[-1]),
    )


def _inside(calls: pl.DataFrame, window: Window) -> Intervals:
    """Return when a thread is inside a launch call: runtime calls hold driver calls."""
    return clip(union(calls["start"].to_numpy(), calls["end"].to_numpy()), window.start_ns, window.end_ns)
