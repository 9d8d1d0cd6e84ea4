"""The timeline: which layers are active when. Everything that asks *when* reads it.

One sweep over the sorted edges of all layers makes it, once per process and device. Ledgers of any number of windows
are then one bincount over it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from wallsplit import native
from wallsplit.accounts import ACCOUNTS, LAYERS
from wallsplit.frozen import dataclass
from wallsplit.intervals import EMPTY, Intervals, Times
from wallsplit.ranks import distinct as distinct_numbers
from wallsplit.ranks import ranked

Masks = npt.NDArray[np.uint32]
Codes = npt.NDArray[np.unsignedinteger]

MAX_LAYERS = 31
_LAYER_BITS = 5
_LAYER_MASK = (1 << _LAYER_BITS) - 1
_PACKABLE_NS = 1 << (63 - _LAYER_BITS)
_EXACT_IN_FLOAT_NS = 1 << 53
_LOOKUP_LIMIT = 1 << 20
_PIECES_AT_ONCE = 1 << 18
_WINDOWS_AT_ONCE = 1 << 12
_FEW_BOUNDS = 16
_PIECES_PER_ROW = 1_000
"""Between few bounds, or with many pieces per row, pieces are summed as they are; else they are cut at bounds first."""


def _account_of() -> Codes:
    """Return the position in ACCOUNTS of the account that each possible set of layers is booked to."""
    lowest = np.full(1 << len(LAYERS), len(LAYERS), np.uint8)
    for layer in range(len(LAYERS)):
        lowest[1 << layer : 2 << layer] = lowest[: 1 << layer]
        lowest[1 << layer] = layer
    return lowest


_ACCOUNT_OF = _account_of()


@dataclass(frozen=True, eq=False)
class Timeline:
    """`active[i]`, with bit k set where layer k is active, holds on `[times[i], times[i + 1])`; nothing does outside.

    `times` ascend strictly, one more than `active`; neighbours differ. Without any time nothing is ever active.
    """

    times: Times
    active: Masks


NOTHING = Timeline(np.empty(0, np.int64), np.empty(0, np.uint32))


def timeline(layers: Sequence[Intervals]) -> Timeline:
    """Return when which of the layers is active: layer k is bit k.

    Raises:
        ValueError: there are more than MAX_LAYERS layers.
    """
    if len(layers) > MAX_LAYERS:
        raise ValueError(f"at most {MAX_LAYERS} layers, got {len(layers)}")
    full = [intervals for intervals in layers if len(intervals.starts)]
    if not full:
        return NOTHING
    compiled = native.timeline([intervals.starts for intervals in layers], [intervals.ends for intervals in layers])
    if compiled is not None:
        return Timeline(*compiled)
    first = min(int(intervals.starts[0]) for intervals in full)
    last = max(int(intervals.ends[-1]) for intervals in full)
    times, toggled = _edges(layers, first) if last - first < _PACKABLE_NS else _far_edges(layers, first)
    # Every edge toggles its layer, and a layer's own intervals are disjoint: the running XOR is what is active.
    active = np.bitwise_xor.accumulate(toggled)
    settled = np.append(times[1:] != times[:-1], True)  # of edges at one instant the last leaves what holds from it on
    times, active = times[settled], active[settled]
    return Timeline(times + first, active[:-1])


def _edges(layers: Sequence[Intervals], first: int) -> tuple[Times, Masks]:
    """Return when anything begins or ends, ascending, as ns after `first`, and the layer's bit.

    Time and layer number are one integer: sorting plain integers is several times faster than an argsort, and merging
    is faster still, as each layer's edges are sorted.
    """
    edges = [(edge - first) << _LAYER_BITS | layer for layer, intervals in enumerate(layers) for edge in intervals]
    key = np.concatenate(edges)
    del edges
    key.sort(kind="stable")
    bit = np.uint32(1) << (key & _LAYER_MASK).astype(np.uint32)
    key >>= _LAYER_BITS
    return key, bit


def _far_edges(layers: Sequence[Intervals], first: int) -> tuple[Times, Masks]:
    """Return what `_edges` does, where time and layer number together would not fit into 64 bits."""
    times = np.concatenate([edge - first for intervals in layers for edge in intervals])
    bits = [np.full(2 * len(intervals.starts), 1 << layer, np.uint32) for layer, intervals in enumerate(layers)]
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate(bits)[order]


def clipped(whole: Timeline, start: int, end: int) -> Timeline:
    """Return the timeline of `[start, end)` alone, its first time being `start` and its last `end`.

    Neighbours may be equal at its two ends, where nothing is active.
    """
    if start >= end:
        return NOTHING
    low = int(np.searchsorted(whole.times, start, side="right"))
    high = int(np.searchsorted(whole.times, end, side="left"))
    if low == 1 and high == len(whole.times) - 1 and whole.times[0] == start and whole.times[-1] == end:
        return whole  # as for the default window: no copy of millions of pieces
    times = np.empty(high - low + 2, np.int64)
    times[0], times[1:-1], times[-1] = start, whole.times[low:high], end
    active = np.zeros(high - low + 1, np.uint32)  # nothing is before the first time, nor after the last
    first = max(low - 1, 0)
    inside = whole.active[first:high]
    active[first - low + 1 :][: len(inside)] = inside
    return Timeline(times, active)


def distinct(active: Masks) -> tuple[Masks, Codes]:
    """Return the sets of layers that occur, the empty one always first, and each piece's place among them."""
    top = int(active.max(initial=0)) + 1
    if top > _LOOKUP_LIMIT:
        kinds, places = ranked(np.append(np.uint32(0), active))
        return kinds, places[1:].astype(_smallest(len(kinds)))
    occurs = np.zeros(top, np.bool_)
    occurs[active] = True
    occurs[0] = True
    kinds = np.flatnonzero(occurs).astype(np.uint32)
    place = np.zeros(top, _smallest(len(kinds)))
    place[kinds] = np.arange(len(kinds))
    return kinds, place[active]


def _smallest(count: int) -> type[np.unsignedinteger]:
    return np.uint16 if count <= 1 << 16 else np.uint32


def account_codes(active: Masks) -> Codes:
    """Return the position in ACCOUNTS of the account that each set of layers is booked to: the first one active."""
    return _ACCOUNT_OF[active]


def booked(times: Times, labels: Codes, size: int, bounds: Times, *, outside: int) -> npt.NDArray[np.int64]:
    """Return the ns that each label, 0 to `size` - 1, takes between consecutive bounds: a row per pair of bounds.

    `labels[i]` holds on `[times[i], times[i + 1])`, the label `outside` before and after. `bounds` ascend; equal ones
    give a row of zeros.
    """
    low, high = np.searchsorted(times, bounds[[0, -1]], side="left").tolist() if len(bounds) else (0, 0)
    if len(bounds) <= _FEW_BOUNDS or high - low > _PIECES_PER_ROW * len(bounds):
        each = [_booked_between(times, labels, size, *ends, outside) for ends in pairwise(bounds.tolist())]
        return np.array(each, np.int64).reshape(-1, size)
    table = np.zeros((len(bounds) - 1, size), np.int64)
    for first in range(low, max(high, low + 1), _PIECES_AT_ONCE):  # so that what is made on the way stays small
        inner = times[first : min(first + _PIECES_AT_ONCE, high)]
        start = bounds[0] if first == low else inner[0]
        end = times[first + _PIECES_AT_ONCE] if first + _PIECES_AT_ONCE < high else bounds[-1]
        inside = slice(*np.searchsorted(bounds, [start, end], side="right").tolist())
        cuts = np.sort(np.concatenate([[start], inner, bounds[inside], [end]]), kind="stable")
        piece = np.searchsorted(times, cuts[:-1], side="right") - 1
        held = np.full(len(piece), outside, np.int64)
        within = (piece >= 0) & (piece < len(labels))
        held[within] = labels[piece[within]]
        slot = np.minimum(np.searchsorted(bounds, cuts[:-1], side="right") - 1, len(table) - 1)
        base, count = int(slot[0]), int(slot[-1] - slot[0]) + 1
        part = summed((slot - base) * size + held, np.diff(cuts), count * size)
        table[base : base + count] += part.reshape(count, size)
    return table


def _booked_between(
    times: Times, labels: Codes, size: int, start: int, end: int, outside: int
) -> npt.NDArray[np.int64]:
    """Return the ns that each label takes in `[start, end)`: a sum over the pieces, and what its ends cut off."""
    row = np.zeros(size, np.int64)
    low = max(int(np.searchsorted(times, start, side="right")) - 1, 0)
    high = int(np.searchsorted(times, end, side="left"))
    if start >= end or high <= low or low >= len(labels):
        row[outside] = end - start
        return row
    inner = times[low : high + 1]
    for first in range(0, len(inner) - 1, _PIECES_AT_ONCE):
        part = inner[first : first + _PIECES_AT_ONCE + 1]
        row += summed(labels[low + first :][: len(part) - 1], np.diff(part), size)
    row[labels[low]] -= max(start - int(inner[0]), 0)
    row[labels[low + len(inner) - 2]] -= max(int(inner[-1]) - end, 0)
    row[outside] += end - start - int(row.sum())
    return row


def booked_in(
    times: Times, labels: Codes, size: int, windows: Sequence[tuple[int, int]], *, outside: int
) -> npt.NDArray[np.int64]:
    """Return what `booked` does, a row per window (start, end); windows come in any order and may overlap."""
    starts, ends = np.array(windows, np.int64).reshape(-1, 2).T
    rows = []
    for first in range(0, len(starts), _WINDOWS_AT_ONCE):
        start, end = (edge[first : first + _WINDOWS_AT_ONCE] for edge in (starts, ends))
        bounds = distinct_numbers(np.concatenate([start, end]))
        table = booked(times, labels, size, bounds, outside=outside)
        until = np.concatenate([np.zeros((1, size), np.int64), np.cumsum(table, axis=0)])
        rows.append(until[np.searchsorted(bounds, end)] - until[np.searchsorted(bounds, start)])
    return np.concatenate(rows) if rows else np.zeros((0, size), np.int64)


def summed(
    groups: npt.NDArray[np.integer[Any]], lengths: npt.NDArray[np.integer[Any]], size: int
) -> npt.NDArray[np.int64]:
    """Return the sum of the lengths of each group, 0 to `size` - 1, exactly."""
    compiled = native.sums(groups, lengths, size)
    if compiled is not None:
        return compiled
    if int(lengths.sum()) < _EXACT_IN_FLOAT_NS:  # bincount adds in float64
        return np.bincount(groups, weights=lengths, minlength=size).astype(np.int64)
    result = np.zeros(size, np.int64)
    np.add.at(result, groups, lengths)
    return result


def where(whole: Timeline, wanted: int, *, never: int = 0) -> Intervals:
    """Return the instants at which any layer of the mask `wanted` is active and none of `never` is."""
    holds = (whole.active & np.uint32(wanted)) != 0
    if never:
        holds &= (whole.active & np.uint32(never)) == 0
    if not holds.any():
        return EMPTY
    changes = np.flatnonzero(holds[1:] != holds[:-1]) + 1
    first, last = np.zeros(int(holds[0]), np.int64), np.full(int(holds[-1]), len(holds))
    edges = whole.times[np.concatenate([first, changes, last])]
    return Intervals(edges[::2], edges[1::2])


def mask(*layers: str) -> int:
    """Return the bits of the layers of these accounts."""
    return sum(1 << LAYERS.index(name) for name in layers)


def accounts_between(whole: Timeline, bounds: Times) -> npt.NDArray[np.int64]:
    """Return the ns of each account, in the order of ACCOUNTS, between consecutive bounds: a row per pair of bounds."""
    return booked(whole.times, account_codes(whole.active), len(ACCOUNTS), bounds, outside=len(LAYERS))


@dataclass(frozen=True, eq=False)
class Layers(Mapping[str, Intervals]):
    """When each account is active, by its name, before any priority; `host`, which is what is left, is none of them."""

    timeline: Timeline

    def __getitem__(self, name: str) -> Intervals:
        return where(self.timeline, mask(name))

    def __iter__(self) -> Iterator[str]:
        return iter(LAYERS)

    def __len__(self) -> int:
        return len(LAYERS)
