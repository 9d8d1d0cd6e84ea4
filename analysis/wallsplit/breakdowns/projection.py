"""What the calls inside each of many ranges ran on the GPU."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from wallsplit.breakdowns.axis import Axis, Threads
from wallsplit.breakdowns.slices import Ints, prefix_aggregates, slice_extremes
from wallsplit.frozen import dataclass

BLOCK = 1 << 18
"""Ranges looked up at a time: bounds the memory, and the block stays in the processor's cache."""


Blocks = Iterator[tuple[Ints, Ints, Ints]]
"""Ranges a block at a time: row, start and end on the calls' axis."""


@dataclass(frozen=True)
class Ranges:
    """Annotated ranges [start, end] of a thread, one entry each."""

    thread: Threads
    start: Ints
    end: Ints

    def blocks(self, axis: Axis) -> Blocks:
        """Yield (row, start, end) of the ranges whose thread is on `axis`, times placed there, a block at a time."""
        for at in range(0, len(self.thread), BLOCK):
            start, end = (column[at : at + BLOCK] for column in (self.start, self.end))
            number = axis.number(self.thread[at : at + BLOCK])
            rows = np.flatnonzero(number >= 0)
            yield rows + at, axis.place(number[rows], start[rows]), axis.place(number[rows], end[rows])


@dataclass(frozen=True)
class Calls:
    """API calls that own GPU operations, one entry each."""

    thread: Threads
    start: Ints
    end: Ints
    first: Ints
    """Earliest start of the call's operations, ns."""
    last: Ints
    """Latest end of the call's operations, ns."""
    operations: Ints


@dataclass(frozen=True)
class Work:
    """What each of some calls ran: as in `Calls`."""

    first: Ints
    last: Ints
    operations: Ints


@dataclass(frozen=True)
class Projection:
    """The ranges that have GPU operations, by row: where these begin and end on the GPU (ns), how many they are."""

    rows: npt.NDArray[np.int32]
    first: Ints
    last: Ints
    operations: Ints


def project(calls: Calls, ranges: Ranges) -> Projection:
    """Return what the calls that lie wholly inside each range of their thread ran on the GPU.

    Calls of one thread mostly follow each other, so starts and ends both rise and the calls inside a range are a slice.
    A call inside an earlier one breaks that order: such calls are counted apart, by dominance.
    """
    axis = Axis.over(calls.thread, calls.start, calls.end)
    begins, ends = axis.places(calls.thread, calls.start, calls.end)
    order = np.argsort(begins, kind="stable")  # a merge sort: calls come nearly in this order
    ends = ends[order]
    rising = ends >= np.maximum.accumulate(ends)

    def picked(some: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, Work]:
        rows = order[some]
        return begins[rows], ends[some], Work(calls.first[rows], calls.last[rows], calls.operations[rows])

    found = _following(*picked(rising), ranges.blocks(axis))
    if rising.all():
        return found
    return _merge(found, _nested(*picked(~rising), ranges.blocks(axis)))


def _following(begins: Ints, ends: Ints, work: Work, blocks: Blocks) -> Projection:
    """Return the projection on calls whose begins and ends both rise: those inside a range are a slice."""
    parts = [np.empty((3, 0), np.int32)]  # half the memory of 64 bits, and there are millions
    next_begin = np.append(begins, np.iinfo(np.int64).max)
    for rows, start, end in blocks:
        low = np.searchsorted(begins, start, "left")
        some = np.flatnonzero(next_begin[low] <= end)  # half of the ranges go here, before the second search
        high = np.searchsorted(ends, end[some], "right")
        parts.append(np.stack([rows[some], low[some], high])[:, high > low[some]].astype(np.int32))
    rows, low, high = np.concatenate(parts, axis=1)
    del parts
    before = np.concatenate([[0], np.cumsum(work.operations)])
    first = slice_extremes(work.first, low, high, "min")
    last = slice_extremes(work.last, low, high, "max")
    return Projection(rows, first, last, before[high] - before[low])


def _nested(begins: Ints, ends: Ints, work: Work, blocks: Blocks) -> Projection:
    """Return the projection on any calls sorted by begin: those that begin no earlier and end no later than a range."""
    parts = [np.empty((3, 0), np.int64)]
    for rows, start, end in blocks:
        low, high = np.searchsorted(begins, start, "left"), np.searchsorted(begins, end, "right")
        some = high > low
        parts.append(np.stack([rows[some], len(begins) - low[some], end[some]]))
    rows, prefix, limit = np.concatenate(parts, axis=1)
    ends = ends[::-1]  # latest first: calls that begin no earlier are a prefix
    some = prefix_aggregates(ends, np.ones_like(ends), prefix, limit, "sum") > 0
    rows, prefix, limit = rows[some], prefix[some], limit[some]
    first = prefix_aggregates(ends, work.first[::-1], prefix, limit, "min")
    last = prefix_aggregates(ends, work.last[::-1], prefix, limit, "max")
    return Projection(rows, first, last, prefix_aggregates(ends, work.operations[::-1], prefix, limit, "sum"))


def _merge(one: Projection, other: Projection) -> Projection:
    """Return the projection on the calls of both."""
    rows = np.union1d(one.rows, other.rows)
    first = np.full(len(rows), np.iinfo(np.int64).max)
    last = np.full(len(rows), np.iinfo(np.int64).min)
    operations = np.zeros(len(rows), np.int64)
    for part in (one, other):
        at = np.searchsorted(rows, part.rows)
        first[at] = np.minimum(first[at], part.first)
        last[at] = np.maximum(last[at], part.last)
        operations[at] += part.operations
    return Projection(rows, first, last, operations)
