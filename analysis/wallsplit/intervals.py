"""The one interval algebra: sets of instants as sorted, disjoint, half-open intervals in integer ns.

Everything is O(n log n) in the number of intervals, and exact in 64-bit integers.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from wallsplit import native

Times = npt.NDArray[np.int64]


class Intervals(NamedTuple):
    """A set of instants: `starts[i] <= t < ends[i]`, sorted, disjoint, not touching."""

    starts: Times
    ends: Times


_FEWER = 16
"""Times that are so many times fewer than what they are looked up in are searched for, one by one."""
EMPTY = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))


def union(starts: Times, ends: Times) -> Intervals:
    """Return the instants covered by any of the intervals `[starts[i], ends[i])`, given in any order."""
    real = starts < ends
    if not real.all():
        starts, ends = starts[real], ends[real]
    return covers(starts, ends)


def covers(starts: Times, ends: Times) -> Intervals:
    """Return the smallest set of closed covers of the intervals; a zero-length interval alone keeps its place.

    Sorting starts and ends apart is enough: a cover ends where as many intervals have ended as have started.
    """
    if not len(starts):
        return EMPTY
    starts, ends = _sorted(starts), _sorted(ends)
    cut = ends[:-1] < starts[1:]
    return Intervals(
        np.concatenate([starts[:1], starts[1:][cut]]),
        np.concatenate([ends[:-1][cut], ends[-1:]]),
    )


def _sorted(times: Times) -> Times:
    return times if (times[1:] >= times[:-1]).all() else np.sort(times, kind="stable")


def merge(sets: Sequence[Intervals]) -> Intervals:
    """Return the union of several sets."""
    full = [s for s in sets if len(s.starts)]
    if len(full) <= 1:
        return full[0] if full else EMPTY
    return union(np.concatenate([s.starts for s in full]), np.concatenate([s.ends for s in full]))


def of_others(sets: Sequence[Intervals]) -> list[Intervals]:
    """Return, for each of several sets, the union of all the others.

    One sweep tells when exactly one set is active, and which: without it nothing is left of those instants.
    """
    if len(sets) < 2:
        return [EMPTY for _ in sets]
    owner = np.repeat(np.arange(len(sets)), [len(each.starts) for each in sets])
    edges = np.concatenate([*(each.starts for each in sets), *(each.ends for each in sets)])
    order = np.argsort(edges, kind="stable")
    active = np.cumsum(np.where(order < len(owner), 1, -1))[:-1]
    sum_of_owners = np.cumsum(np.concatenate([owner, -owner])[order])[:-1]
    times = edges[order]
    alone = np.flatnonzero((active == 1) & (times[:-1] < times[1:]))
    alone = alone[np.argsort(sum_of_owners[alone], kind="stable")]
    bounds = np.searchsorted(sum_of_owners[alone], np.arange(len(sets) + 1)).tolist()
    whole = merge(sets)
    own = (alone[low:high] for low, high in pairwise(bounds))
    return [subtract(whole, union(times[rows], times[rows + 1])) for rows in own]


def outer_first(starts: Times, ends: Times, then: npt.NDArray[np.integer[Any]] | None = None) -> npt.NDArray[np.intp]:
    """Return the order of intervals by start, of equal starts the longest first, then by `then`, then as given.

    Equal starts are few: only those are sorted by all of it.
    """
    order = _in_order(starts)
    begun = starts[order]
    same = begun[1:] == begun[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    rows = order[tied]
    keys = (-ends[rows], starts[rows]) if then is None else (then[rows], -ends[rows], starts[rows])
    order[tied] = rows[np.lexsort(keys)]
    return order


def _in_order(times: Times) -> npt.NDArray[np.intp]:
    """Return the order of times; a look tells those that are in order, as those of one thread mostly are."""
    return np.arange(len(times)) if (times[1:] >= times[:-1]).all() else np.argsort(times, kind="stable")


def levels(starts: Times, ends: Times, most: int) -> npt.NDArray[np.uint8]:
    """Return how deep each interval lies in others: `most` where that is `most` or more.

    Of intervals by `outer_first`, those are of level 0 that begin when all before them are over; of level 1 those that
    would, were it not for those of level 0, and so on.
    """
    rows = None if (starts[1:] > starts[:-1]).all() else outer_first(starts, ends)
    compiled = native.levels(starts, ends, rows, most)
    if compiled is not None:
        return compiled
    level = np.full(len(starts), most, np.uint8)
    rows = np.arange(len(starts)) if rows is None else rows
    for k in range(most):
        begun, latest = starts[rows], np.maximum.accumulate(ends[rows])
        outer = np.append(True, begun[1:] >= latest[:-1])[: len(rows)]
        level[rows[outer]] = k
        rows = rows[~outer]
    return level


def clip(intervals: Intervals, start: int, end: int) -> Intervals:
    """Return the part of the set inside `[start, end)`."""
    first = int(np.searchsorted(intervals.ends, start, side="right"))
    last = int(np.searchsorted(intervals.starts, end, side="left"))
    if first >= last or start >= end:
        return EMPTY
    return Intervals(
        np.maximum(intervals.starts[first:last], start),
        np.minimum(intervals.ends[first:last], end),
    )


def total_ns(intervals: Intervals) -> int:
    """Return the length of the set in ns."""
    return int((intervals.ends - intervals.starts).sum())


def places(ascending: Times, times: Times, side: Literal["left", "right"] = "left") -> npt.NDArray[np.int64]:
    """Return what np.searchsorted does: how many of the ascending ones come before each time; `right`: or with it.

    Where the times ascend, too, a walk along both is faster than to search for each.
    """
    if _FEWER * len(times) > len(ascending):
        found = native.places(ascending, times, right=side == "right")
        if found is not None:
            return found
    return np.searchsorted(ascending, times, side)


def elapsed(intervals: Intervals, times: Times) -> Times:
    """Return how many ns of the set lie before each of the times."""
    begun = places(intervals.starts, times, "right")
    whole = np.concatenate([[0], np.cumsum(intervals.ends - intervals.starts)])[begun]
    last_end = np.append(intervals.ends, 0)[begun - 1]  # of none: nothing is whole, and nothing is ahead
    ahead = np.where(begun > 0, np.maximum(last_end - times, 0), 0)
    return np.asarray(whole - ahead, np.int64)


def gaps(intervals: Intervals, start: int, end: int) -> Intervals:
    """Return the part of `[start, end)` outside the set."""
    inside = clip(intervals, start, end)
    bounds = np.concatenate([[start], np.column_stack(inside).ravel(), [end]]).astype(np.int64)
    return union(bounds[0::2], bounds[1::2])


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """Return the instants in both sets."""
    if not len(a.starts) or not len(b.starts):
        return EMPTY
    start = int(min(a.starts[0], b.starts[0]))
    end = int(max(a.ends[-1], b.ends[-1]))
    return gaps(merge([gaps(a, start, end), gaps(b, start, end)]), start, end)


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """Return the instants of `a` that are not in `b`."""
    if not len(a.starts):
        return EMPTY
    return intersect(a, gaps(b, int(a.starts[0]), int(a.ends[-1])))


def holding(intervals: Intervals, times: Times) -> npt.NDArray[np.int64]:
    """Return, for each time, the position of the interval that holds it; -1 where none does."""
    position = places(intervals.starts, times, "right") - 1
    outside = times >= np.append(intervals.ends, 0)[position]
    position[outside] = -1
    return position
