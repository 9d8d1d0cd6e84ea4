"""Timelines of labels: one label, a small integer, at every instant; made from intervals that overlap as they like.

A label that one interval gives must give way to that of another: `paint` decides all instants at once, in array sweeps
of O(n log n), whether intervals nest, cross or lie on different threads.
"""

import numpy as np
import numpy.typing as npt

from wallsplit import native
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, places

Codes = npt.NDArray[np.int32]

NONE = -1
"""The code of an instant without a label."""


@dataclass(frozen=True)
class Labels:
    """A label at every instant: `codes[i]` from `times[i]` to the next time; NONE before the first, after the last."""

    times: Times
    """Ascending; the code changes at each."""
    codes: Codes
    """As many as times; the last is NONE."""

    def at(self, instants: Times) -> Codes:
        """Return the codes at some instants."""
        if not len(self.times):
            return np.full(len(instants), NONE, np.int32)
        codes = self.codes[places(self.times, instants, "right") - 1]
        codes[instants < self.times[0]] = NONE
        return codes


UNLABELLED = Labels(np.empty(0, np.int64), np.empty(0, np.int32))


def constant(intervals: Intervals, code: int = 0) -> Labels:
    """Return the timeline with one label inside a set of instants."""
    times = np.column_stack(intervals).ravel()
    codes = np.full(len(times), NONE, np.int32)
    codes[::2] = code
    return Labels(times, codes)


def latest_begun(starts: Times, ends: Times, codes: Codes, thread: npt.NDArray[np.int64]) -> Labels:
    """Return the codes of the interval `[starts[i], ends[i])` that, of those open, began last.

    Of several that began at once the shortest counts, of equally long ones that of the smallest thread, then the first.
    """
    if not (starts[1:] > starts[:-1]).all():
        order = np.argsort(starts, kind="stable")
        begun = starts[order]
        same = begun[1:] == begun[:-1]
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))  # few: only those are sorted by all keys
        rows = order[tied]
        order[tied] = rows[np.lexsort((-rows, -thread[rows], -ends[rows], starts[rows]))]
        starts, ends, codes = starts[order], ends[order], codes[order]
    real = starts < ends
    if not real.all():
        starts, ends, codes = starts[real], ends[real], codes[real]
    compiled = native.latest(starts, ends, codes)
    if compiled is not None:
        return Labels(*compiled)
    return _side_by_side(starts, ends, codes) if (ends[:-1] <= starts[1:]).all() else paint(starts, ends, codes)


def _side_by_side(starts: Times, ends: Times, codes: Codes) -> Labels:
    """Return the timeline of intervals of which none overlaps the next, ascending."""
    times, shown = np.column_stack([starts, ends]).ravel(), np.full(2 * len(codes), NONE, np.int32)
    shown[::2] = codes
    last = np.append(times[1:] != times[:-1], True)[: len(times)]  # what begins as another ends follows it
    times, shown = times[last], shown[last]
    changes = _is_new(shown)[: len(shown)]
    return Labels(times[changes], shown[changes])


def paint(starts: Times, ends: Times, codes: Codes) -> Labels:
    """Return the timeline that comes about if each interval in turn paints its code over those before it.

    An interval of n elementary stretches is the union of two of 2^k: they are drawn on level k, coarsest level first,
    and each level hands what it shows down to the next finer one. So a long interval costs no more than a short one.
    """
    real = starts < ends
    if not real.all():
        starts, ends, codes = starts[real], ends[real], codes[real]
    if not len(starts):
        return UNLABELLED
    times = np.concatenate([starts, ends])
    times.sort(kind="stable")
    times = times[_is_new(times)]
    first = np.searchsorted(times, starts).astype(np.int32)
    stop = np.searchsorted(times, ends).astype(np.int32)
    level = (np.frexp((stop - first).astype(np.float64))[1] - 1).astype(np.uint8)
    by_level = np.argsort(level, kind="stable").astype(np.int32)
    bounds = np.searchsorted(level[by_level], np.arange(int(level.max()) + 2))
    top = np.full(len(times), -1, np.int32)  # the last interval to paint each stretch
    for k in range(len(bounds) - 2, -1, -1):
        rows = by_level[bounds[k] : bounds[k + 1]]
        np.maximum.at(top, first[rows], rows)
        np.maximum.at(top, stop[rows] - (1 << k), rows)
        if k:
            half = 1 << (k - 1)
            top[half:] = np.maximum(top[half:], top[:-half])
    shown = np.where(top >= 0, codes[top], np.int32(NONE))
    changes = _is_new(shown)
    changes[0] &= shown[0] != NONE
    return Labels(times[changes], shown[changes])


def _is_new(values: npt.NDArray[np.int64] | Codes) -> npt.NDArray[np.bool_]:
    return np.append(True, values[1:] != values[:-1])
