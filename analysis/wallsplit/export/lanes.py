"""Tracks into lanes: what a viewer draws on one line must lie side by side or inside one another."""

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.export.slices import Slices
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Lane:
    """The beginnings and ends of slices that fit on one line, in order: each end is that of the slice begun last."""

    times: Times
    rows: Rows
    """The slice of each."""
    begins: npt.NDArray[np.bool_]


def lanes(slices: Slices, *, nests: bool) -> tuple[Lane, ...]:
    """Return the slices on as few lanes as a first fit needs: side by side or, with `nests`, inside one another too."""
    if not len(slices):
        return ()
    order = np.lexsort((-slices.end, slices.start))
    start, end = slices.start[order], slices.end[order]
    if (start[1:] >= end[:-1]).all() or (nests and _fits(start, end)):
        return (_lane(slices, order),)
    numbers = _nested(start, end) if nests else _side_by_side(start, end)
    return tuple(_lane(slices, order[numbers == lane]) for lane in range(int(numbers.max()) + 1))


def _lane(slices: Slices, rows: Rows) -> Lane:
    times, number, begins = _brackets(slices.start[rows], slices.end[rows])
    return Lane(times, rows[number], begins)


def _brackets(start: Times, end: Times) -> tuple[Times, Rows, npt.NDArray[np.bool_]]:
    """Return the edges (time, slice, whether it begins) of slices sorted by start and falling end.

    At one instant slices end before others begin, the inner before the outer; those without length come last, each by
    itself.
    """
    row = np.arange(len(start))
    times = np.concatenate([start, end])
    begins = np.concatenate([np.ones(len(row), np.bool_), np.zeros(len(row), np.bool_)])
    instant = np.tile(start == end, 2)
    turn = np.where(instant, 2, begins)
    among = np.where(instant, np.concatenate([2 * row, 2 * row + 1]), np.concatenate([row, -row]))
    order = np.lexsort((among, turn, times))
    return times[order], np.tile(row, 2)[order], begins[order]


def _fits(start: Times, end: Times) -> bool:
    """Return whether no two slices cross: then every end is that of the slice begun last that has not ended."""
    _, row, begins = _brackets(start, end)
    depth = np.cumsum(np.where(begins, 1, -1))
    level = np.where(begins, depth, depth + 1)
    at_level = row[np.argsort(level, kind="stable")]
    return bool((at_level[::2] == at_level[1::2]).all())


def _side_by_side(start: Times, end: Times) -> npt.NDArray[np.int64]:
    """Return the lane of each slice: the lowest that is free, so that no two on one overlap."""
    free: list[int] = []
    running: list[tuple[int, int]] = []
    result = np.empty(len(start), np.int64)
    for row, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while running and running[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(running)[1])
        lane = heapq.heappop(free) if free else len(running)
        heapq.heappush(running, (stop, lane))
        result[row] = lane
    return result


def _nested(start: Times, end: Times) -> npt.NDArray[np.int64]:
    """Return the lane of each slice: the first on which it crosses none."""
    open_until: list[list[int]] = []
    result = np.empty(len(start), np.int64)
    for row, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        result[row] = _fitting(open_until, begin, stop)
    return result


def _fitting(open_until: list[list[int]], begin: int, stop: int) -> int:
    for lane, ends in enumerate(open_until):
        while ends and ends[-1] <= begin:
            ends.pop()
        if not ends or stop <= ends[-1]:
            ends.append(stop)
            return lane
    open_until.append([stop])
    return len(open_until) - 1


def lane_names(name: str, count: int) -> Sequence[str]:
    """Return what the lanes of a track are called."""
    return [name if lane == 0 else f"{name} ({lane + 1})" for lane in range(count)]
