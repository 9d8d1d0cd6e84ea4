"""Which ranges lie inside which, per thread."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wallsplit.breakdowns.axis import Axis, Threads
from wallsplit.breakdowns.slices import Ints, prefix_aggregates
from wallsplit.intervals import outer_first

Rows = npt.NDArray[np.int32]
"""Positions and counts of rows: half the memory of 64 bits, and there are millions."""


def nesting(thread: Threads, start: Ints, end: Ints, rank: npt.NDArray[np.integer[Any]]) -> tuple[Rows, Rows]:
    """Return (level, children) of each range.

    A range encloses those of its thread that start no earlier and end no later; of two equal ranges the one with the
    smaller `rank` encloses the other. Level = number of enclosing ranges; parent = the shortest of them (the
    innermost, of equally long ones). Push/pop ranges nest properly and take the quick way; threads with ranges that
    cross or have length zero take the general one.
    """
    axis = Axis.over(thread, start, end)
    begins, ends = axis.places(thread, start, end)
    order = outer_first(begins, ends, rank)
    begins, ends = begins[order], ends[order]
    depth, parent = _proper(begins, ends)
    inside = np.flatnonzero(parent >= 0)
    crossing = inside[ends[parent[inside]] < ends[inside]]
    at_once = np.flatnonzero(begins == ends)
    if len(crossing) or len(at_once):
        thread = thread[order]
        rows = np.flatnonzero(np.isin(thread, thread[np.concatenate([crossing, at_once])]))
        depth[rows], among = _general(ends[rows], (end - start)[order[rows]])
        parent[rows] = np.where(among >= 0, rows[among], -1)
    level, children = np.empty_like(depth), np.empty_like(depth)
    level[order] = depth
    children[order] = np.bincount(parent[parent >= 0], minlength=len(depth))
    return level, children


def _proper(begins: Ints, ends: Ints) -> tuple[Rows, Rows]:
    """Return (level, parent or -1), right where ranges nest: a range is inside all before it that have not ended."""
    index = np.arange(len(begins))
    level = index - np.searchsorted(np.sort(ends, kind="stable"), begins, "right")
    level = np.maximum(level, 0).astype(np.int32)  # ranges of length zero end before they are counted
    shallow = level.max(initial=0) < 1 << 16
    by_level = np.argsort(level.astype(np.uint16) if shallow else level, kind="stable")  # 16 bits: a radix sort
    key = level[by_level] * np.int64(len(begins)) + by_level
    outermost = np.searchsorted(key, len(begins))
    above = np.searchsorted(key, key[outermost:] - len(begins)) - 1  # the last range before it, one level up
    parent = np.full(len(begins), -1, np.int32)
    parent[by_level[outermost:]] = by_level[above]
    return level, parent


def _general(ends: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Return (level, parent or -1) by looking, for each range, at the earlier ones that end no earlier."""
    index = np.arange(len(ends))
    level = prefix_aggregates(-ends, np.ones_like(ends), index, -ends, "sum")
    shortest_first = np.lexsort((-index, length))
    place = np.empty_like(index)
    place[shortest_first] = index
    shortest = prefix_aggregates(-ends, place, index, -ends, "min")
    parent = np.full(len(ends), -1)
    parent[level > 0] = shortest_first[shortest[level > 0]]
    return level, parent
