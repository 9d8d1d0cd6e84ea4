"""A program's own clock against its ranges in a trace, with no tolerance that a busy machine could use up.

A clock that is read right before and right behind a range shows at least the range, and at most the time from the
edge of a range before it to that behind it; one that is read right inside shows at most the range.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

SLEW = 500e-6
"""NTP may slow or hasten the monotonic clock, which programs read, by that much against the raw one (adjtimex(2))."""
TICK_NS = 1_000
"""Either clock may be that coarse."""
FAR_NS = 2**61
Ints = npt.NDArray[np.int64]


def around(marked: pl.DataFrame, own: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return, in ns, the least and the most that a clock can show which is read right before and right behind ranges.

    That is the range, and the time from the edge before it to that behind it on its thread.
    """
    edges, begins, ends = _edges(marked, own)
    return edges[ends] - edges[begins], edges[ends + 1] - edges[begins - 1]


def inside(marked: pl.DataFrame, own: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the same for a clock that is read right after a range begins and right before it ends."""
    edges, begins, ends = _edges(marked, own)
    return np.maximum(edges[ends - 1] - edges[begins + 1], 0), edges[ends] - edges[begins]


def _edges(marked: pl.DataFrame, own: pl.DataFrame) -> tuple[Ints, Ints, Ints]:
    """Return every edge of ranges on the thread of those asked for, ascending, and where in them theirs are."""
    (thread,) = own["thread"].unique()
    there = marked.filter(thread=thread)
    edges = np.sort(np.concatenate([[-FAR_NS, FAR_NS], there["start"].to_numpy(), there["end"].to_numpy()]))
    begins, ends = (np.searchsorted(edges, own[edge].to_numpy()).astype(np.int64) for edge in ("start", "end"))
    return edges, begins, ends


def agrees(clock_ns: Sequence[int] | int, least: Ints | int, most: Ints | int) -> bool:
    """Return whether all that a clock showed lies between the bounds, as far as clocks can tell."""
    clock = np.array(clock_ns, np.float64)
    return bool(
        np.all(clock >= np.asarray(least) * (1 - SLEW) - TICK_NS)
        and np.all(clock <= np.asarray(most) * (1 + SLEW) + TICK_NS)
    )
