"""The one interval algebra: sets of instants as sorted, disjoint, half-open intervals in integer ns.

Everything is O(n log n) in the number of intervals, and exact in 64-bit integers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]

MAX_LAYERS = 15
_PACKABLE_NS = 1 << 58
_EXACT_IN_FLOAT_NS = 1 << 53


class Intervals(NamedTuple):
    """A set of instants: `starts[i] <= t < ends[i]`, sorted, disjoint, not touching."""

    starts: Times
    ends: Times


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
    start, end = int(a.starts[0]), int(a.ends[-1])
    return intersect(a, gaps(b, start, end))


def sweep(layers: Sequence[Intervals], start: int, end: int) -> dict[int, int]:
    """Return, for every combination of layers active at once inside `[start, end)`, how long it lasts in ns.

    The key has bit i set where layer i is active; key 0 is the time no layer is. The values sum to `end - start`.
    At most MAX_LAYERS layers.
    """
    if len(layers) > MAX_LAYERS:
        raise ValueError(f"at most {MAX_LAYERS} layers, got {len(layers)}")
    inside = [clip(intervals, start, end) for intervals in layers]
    time, active = _edges(inside, start) if end - start < _PACKABLE_NS else _far_edges(inside, start)
    # Every edge toggles its layer, and a layer's own intervals are disjoint: the running XOR is what is active.
    active = np.bitwise_xor.accumulate(np.append(np.uint16(0), active))
    return _durations(active, np.diff(time, prepend=0, append=end - start))


def _edges(layers: Sequence[Intervals], start: int) -> tuple[Times, npt.NDArray[np.uint16]]:
    """Return when anything begins or ends, ascending from `start`, and the layer's bit.

    Time and layer number are one integer: sorting plain integers is several times faster than an argsort, and merging
    is faster still, as each layer's edges are sorted.
    """
    edges = [(edge - start) << 4 | layer for layer, intervals in enumerate(layers) for edge in intervals]
    key = np.concatenate(edges or [EMPTY.starts])
    del edges
    key.sort(kind="stable")
    bit = np.uint16(1) << (key & 15).astype(np.uint16)
    key >>= 4
    return key, bit


def _far_edges(layers: Sequence[Intervals], start: int) -> tuple[Times, npt.NDArray[np.uint16]]:
    """Return what `_edges` does, where time and layer number together would not fit into 64 bits."""
    times = np.concatenate([edge - start for intervals in layers for edge in intervals] or [EMPTY.starts])
    bits = [np.full(2 * len(intervals.starts), 1 << layer, np.uint16) for layer, intervals in enumerate(layers)]
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate(bits or [np.empty(0, np.uint16)])[order]


def _durations(active: npt.NDArray[np.uint16], lengths: Times) -> dict[int, int]:
    if int(lengths.sum()) < _EXACT_IN_FLOAT_NS:  # bincount adds in float64
        summed = np.bincount(active, weights=lengths, minlength=1).astype(np.int64)
    else:
        summed = np.zeros(1 << 16, np.int64)
        np.add.at(summed, active, lengths)
    return {int(mask): int(summed[mask]) for mask in np.flatnonzero(summed)} or {0: 0}
