"""Which "asynchronous" copies are none, because they move pageable memory?

Such a call waits for the work before it, and returns only when the copy is done; from pinned memory it would return at
once, and the copy would run beside kernels.
"""

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import clip, gaps, intersect, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Names
from wallsplit.why.copies import with_calls


@dataclass(frozen=True)
class PageableCopies:
    """Copies of pageable memory whose call is named asynchronous and yet ends no earlier than the copy."""

    count: int
    bytes: int
    host_ns: int
    """In their calls, each instant once: what pinning the memory would give back to the host, at most."""
    waiting_ns: int
    """Of it before the copy begins: for the work before it, or for room to stage the memory."""
    idle_ns: int
    """Of it with the device idle: what pinning would shorten the run by, at most."""


def pageable_copies(activity: Activity, window: Window, names: Names) -> PageableCopies | None:
    """Return the copies that begin in the window and block though they were not meant to; None without any."""
    if activity.rows is None or not activity.rows.memory_ops["is_pageable"].any():
        return None
    meant = activity.rows.calls["name"].is_in(names.texts.str.contains("Async").arg_true().cast(pl.Int32).implode())
    copies = with_calls(activity.rows, window).filter("is_blocking", pl.col("is_pageable").fill_null(value=False))
    copies = copies.filter(meant.gather(copies["call"]))
    if copies.is_empty():
        return None
    starts, ends = copies["call_start"].to_numpy(), copies["call_end"].to_numpy()
    calls = clip(union(starts, ends), window.start_ns, window.end_ns)
    waiting = union(starts, np.clip(copies["start"].to_numpy(), starts, ends))
    return PageableCopies(
        count=copies.height,
        bytes=int(copies["bytes"].sum()),
        host_ns=total_ns(calls),
        waiting_ns=total_ns(intersect(waiting, calls)),
        idle_ns=total_ns(intersect(calls, gaps(activity.busy, window.start_ns, window.end_ns))),
    )
