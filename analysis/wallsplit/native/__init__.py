"""The loops that cost most, compiled from wallsplit.c where a C compiler was found when wallsplit was installed.

Nothing needs it. Each function here returns None where there is no compiled core, or where it declines what it was
given; the caller then does the same work in NumPy, and words the error where there is one. `WALLSPLIT_NATIVE=0` in the
environment says that there is none, a path in its place names another build of it. Results are equal, but for the last
digits of standard deviations.
"""

import ctypes
import os
import secrets
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wallsplit.native.values import CutBodies, CutTimeline, Ints, Leaves, Projected, Reading, Statistics

Array = npt.NDArray[Any]

_ASKED = os.environ.get("WALLSPLIT_NATIVE", "")
LIBRARY = Path(_ASKED) if _ASKED not in ("", "0", "1") else Path(__file__).with_name("_wallsplit.so")
INTEGER, REAL, TEXT, ROWID = range(4)
"""Kinds of columns, as in wallsplit.c."""


class _Array:
    """An array as an argument; ctypes keeps it alive during the call."""

    @classmethod
    def from_param(cls, array: Array | None) -> object:
        """Return what ctypes takes for the address of the array's first value; None is NULL."""
        return None if array is None else array.ctypes


_OPAQUE, _INT, _LONG, _UNSIGNED = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_uint32
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ws_reader": (_OPAQUE, [_INT, *(_Array,) * 4]),
    "ws_reader_free": (None, [_OPAQUE]),
    "ws_read": (_INT, [_OPAQUE, _INT, _LONG, _LONG, _LONG, _Array, _Array, _LONG, *(_Array,) * 4]),
    "ws_kind_count": (_LONG, [_OPAQUE]),
    "ws_kinds": (None, [_OPAQUE, _INT, _Array, _Array]),
    "ws_text_count": (_LONG, [_OPAQUE, _INT, _Array]),
    "ws_texts": (None, [_OPAQUE, _INT, _Array, _Array]),
    "ws_timeline": (_INT, [_INT, *(_Array,) * 6]),
    "ws_pieces": (_INT, [_Array, _Array, _LONG, ctypes.c_int32, *(_Array,) * 10]),
    "ws_sums": (_INT, [_Array, _INT, _Array, _LONG, _LONG, _Array]),
    "ws_places": (_INT, [_Array, _LONG, _Array, _LONG, _INT, _Array]),
    "ws_levels": (_INT, [_Array, _Array, _Array, _LONG, ctypes.c_int32, _Array]),
    "ws_bodies": (_INT, [_Array, _LONG, _Array, _LONG, _Array, _LONG, ctypes.c_uint64, *(_Array,) * 7]),
    "ws_latest": (_INT, [_Array, _Array, _Array, _LONG, _Array, _Array, _Array]),
    "ws_project": (
        _INT,
        [*(_Array,) * 4, _LONG, *(_Array,) * 6, _LONG, ctypes.c_int32, *(_Array,) * 8],
    ),
    "ws_statistics": (_INT, [_Array, _Array, _LONG, _UNSIGNED, *(_Array,) * 7, ctypes.c_uint64]),
}


def _loaded() -> tuple[ctypes.CDLL | None, str]:
    if _ASKED == "0":
        return None, "WALLSPLIT_NATIVE=0"
    if not LIBRARY.exists():
        return None, "no C compiler was found when wallsplit was installed"
    try:
        library = ctypes.CDLL(str(LIBRARY))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        return None, f"{LIBRARY.name} cannot be loaded ({error})"
    return library, ""


_core, REASON = _loaded()
"""REASON: why there is no compiled core; empty where there is one."""


def is_compiled() -> bool:
    """Return whether there is a compiled core."""
    return _core is not None


def name() -> str:
    """Return what does the work: `compiled`, or NumPy alone, `numpy`."""
    return "compiled" if is_compiled() else "numpy"


def _all(arrays: Sequence[Array]) -> Array:
    """Return the addresses of arrays, which must stay alive as long as these are used."""
    return np.array([array.ctypes.data for array in arrays], np.uintp)


def _plain(array: npt.ArrayLike, dtype: type[np.generic]) -> Array:
    """Return the array as C expects it: of this type, without gaps."""
    return np.ascontiguousarray(array, dtype)


def _are_alike(*columns: Sequence[Any] | Array) -> bool:
    """Return whether columns are equally long: C relies on it; NumPy, which else does the work, words the error."""
    return len({len(column) for column in columns}) == 1


def read_leaves(
    reading: Reading,
    leaves: Ints,
    firsts: Ints,
    positions: Sequence[int],
    kinds: Sequence[int],
    values: Sequence[Array],
    nulls: Sequence[npt.NDArray[np.bool_]],
    kinds_of_rows: npt.NDArray[np.uint32] | None = None,
    is_key: Sequence[bool] = (),
) -> Leaves | None:
    """Fill columns from leaf pages.

    The rows of leaf i go to `firsts[i] : firsts[i + 1]`. Columns that are key are not filled: `kinds_of_rows` is, with
    the kind of each row. What is written where None is returned means nothing.
    """
    if _core is None:
        return None
    columns = len(positions)
    keys = np.zeros(columns, np.bool_)
    keys[: len(is_key)] = is_key
    secret = np.array([secrets.randbits(64), secrets.randbits(64)], np.uint64)
    reader = _core.ws_reader(columns, _plain(positions, np.int32), _plain(kinds, np.int32), keys, secret)
    if not reader:
        return None
    try:
        declined = _core.ws_read(
            reader,
            *reading[:-1],
            _plain(leaves, np.int64),
            _plain(firsts, np.int64),
            len(leaves),
            _all(values),
            _all(nulls),
            None if kinds_of_rows is None else kinds_of_rows,
            reading.used,
        )
        if declined:
            return None
        return Leaves(
            [_texts(reader, column) for column in range(columns)],
            [_kinds(reader, column) for column in np.flatnonzero(keys).tolist()],
        )
    finally:
        _core.ws_reader_free(reader)


def _kinds(reader: int, column: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    assert _core is not None
    count = _core.ws_kind_count(reader)
    values, nulls = np.empty(count, np.int64), np.empty(count, np.bool_)
    _core.ws_kinds(reader, column, values, nulls)
    return values, nulls


def _texts(reader: int, column: int) -> list[bytes]:
    assert _core is not None
    size = np.empty(1, np.int64)
    count = _core.ws_text_count(reader, column, size)
    offsets, stored = np.empty(count + 1, np.int64), np.empty(int(size[0]), np.uint8)
    _core.ws_texts(reader, column, offsets, stored)
    whole, ends = stored.tobytes(), offsets.tolist()
    return [whole[start:end] for start, end in pairwise(ends)]


def timeline(starts: Sequence[Ints], ends: Sequence[Ints]) -> tuple[Ints, npt.NDArray[np.uint32]] | None:
    """Return (times, active) as ledger.timeline.Timeline has them, of layers of ascending disjoint intervals."""
    if _core is None or not all(map(_are_alike, starts, ends)):
        return None
    starts, ends = ([_plain(edges, np.int64) for edges in side] for side in (starts, ends))
    counts = np.array([len(edges) for edges in starts], np.int64)
    times, active = np.empty(2 * int(counts.sum()), np.int64), np.empty(2 * int(counts.sum()), np.uint32)
    filled = np.empty(1, np.int64)
    arguments = (len(counts), _all(starts), _all(ends), counts, times, active, filled)
    if _core.ws_timeline(*arguments):
        return None
    count = int(filled[0])
    return times[:count], active[: max(count - 1, 0)]


def pieces(
    times: Ints,
    active: npt.NDArray[np.uint32],
    is_idle: npt.NDArray[np.bool_],
    labels: Sequence[tuple[Ints, npt.NDArray[np.int32]]],
) -> CutTimeline | None:
    """Return a timeline cut where labels (times, codes) change: two for all idle accounts, then one per account."""
    if _core is None or len(times) != len(active) + bool(len(times)) or len(labels) != 2 + len(is_idle):
        return None
    if not all(_are_alike(*each) for each in labels):
        return None
    times, active, is_idle = _plain(times, np.int64), _plain(active, np.uint32), _plain(is_idle, np.bool_)
    ascending, codes = [_plain(each, np.int64) for each, _ in labels], [_plain(each, np.int32) for _, each in labels]
    counts = np.array([len(each) for each in ascending], np.int64)
    room, filled = len(active) + int(counts.sum()), np.empty(1, np.int64)
    dtypes = (np.int64, np.uint8, np.int8, np.bool_, np.int32)
    columns: list[Array] = [np.empty(room, dtype) for dtype in dtypes]
    changes = _all(ascending), _all(codes), counts
    if _core.ws_pieces(times, active, len(active), len(is_idle), is_idle, *changes, *columns, filled):
        return None
    return CutTimeline(*(column[: filled[0]] for column in columns))


def sums(groups: npt.NDArray[np.integer[Any]], lengths: npt.NDArray[np.integer[Any]], size: int) -> Ints | None:
    """Return the sum of the lengths of each group, 0 to `size` - 1."""
    if _core is None or not _are_alike(groups, lengths):
        return None
    groups, lengths, totals = np.ascontiguousarray(groups), _plain(lengths, np.int64), np.empty(size, np.int64)
    declined = _core.ws_sums(groups, groups.itemsize, lengths, len(groups), size, totals)
    return None if declined else totals


def places(ascending: Ints, numbers: Ints, *, right: bool) -> Ints | None:
    """Return what np.searchsorted does, of numbers that ascend, too."""
    if _core is None:
        return None
    ascending, numbers = _plain(ascending, np.int64), _plain(numbers, np.int64)
    place = np.empty(len(numbers), np.int64)
    declined = _core.ws_places(ascending, len(ascending), numbers, len(numbers), right, place)
    return None if declined else place


def latest(starts: Ints, ends: Ints, codes: npt.NDArray[np.int32]) -> tuple[Ints, npt.NDArray[np.int32]] | None:
    """Return (times, codes) as ledger.labels.Labels has them: of intervals by start the one that began last."""
    if _core is None or not _are_alike(starts, ends, codes):
        return None
    starts, ends, codes = _plain(starts, np.int64), _plain(ends, np.int64), _plain(codes, np.int32)
    times, labels, filled = np.empty(2 * len(starts), np.int64), np.empty(2 * len(starts), np.int32), np.empty(1, int)
    if _core.ws_latest(starts, ends, codes, len(starts), times, labels, filled):
        return None
    return times[: filled[0]], labels[: filled[0]]


def levels(starts: Ints, ends: Ints, order: Ints | None, most: int) -> npt.NDArray[np.uint8] | None:
    """Return how deep each interval lies in others, `most` at most, as intervals.levels does."""
    if _core is None or not _are_alike(starts, ends, starts if order is None else order):
        return None
    starts, ends = _plain(starts, np.int64), _plain(ends, np.int64)
    order = None if order is None else _plain(order, np.int64)
    level = np.empty(len(starts), np.uint8)
    declined = _core.ws_levels(starts, ends, order, len(starts), most, level)
    return None if declined else level


def bodies(hashes: npt.NDArray[np.uint64], places: Ints, offsets: Ints) -> CutBodies | None:
    """Return the bodies of a sequence cut at places[offsets[k] : offsets[k + 1]], one place or more, for each k.

    `hashes`: the sums of the tokens' hashes before each place, one more than there are tokens.
    """
    if _core is None:
        return None
    hashes, places, offsets = _plain(hashes, np.uint64), _plain(places, np.int64), _plain(offsets, np.int64)
    between, cut, count, length, sample = (np.empty(len(places), np.int64) for _ in range(5))
    hash_, filled = np.empty(len(places), np.uint64), np.empty(1, np.int64)
    given = (hashes, len(hashes) - 1, places, len(places), offsets, len(offsets) - 1, secrets.randbits(64))
    if _core.ws_bodies(*given, between, cut, count, length, sample, hash_, filled):
        return None
    some, pairs = slice(int(filled[0])), slice(len(places) - len(offsets) + 1)
    return CutBodies(cut[some], count[some], length[some], sample[some], hash_[some], between[pairs])


def project(
    thread: Array,
    start: Ints,
    end: Ints,
    order: Ints,
    calls: Sequence[Array],
    threads: int,
) -> Projected | None:
    """Return the ranges of each of `threads` threads with calls in them, and what these ran.

    `order`: the ranges by start, the longest first, then the outermost. `calls`: their thread, start, end, first, last
    and operations, by start. A thread below 0 is none.
    """
    if _core is None or not (_are_alike(thread, start, end, order) and _are_alike(*calls)):
        return None
    ranges = [_plain(thread, np.int32), _plain(start, np.int64), _plain(end, np.int64), _plain(order, np.int64)]
    of_calls = [_plain(calls[0], np.int32), *(_plain(column, np.int64) for column in calls[1:])]
    rows, first, last, operations = (np.empty(len(start), np.int64) for _ in range(4))
    level, children = (np.empty(len(start), np.int32) for _ in range(2))
    filled, crossing = np.zeros(1, np.int64), np.zeros(threads + 1, np.bool_)
    declined = _core.ws_project(
        *ranges,
        len(start),
        *of_calls,
        len(of_calls[0]),
        threads,
        *(rows, first, last, operations, level, children),
        filled,
        crossing,
    )
    if declined:
        return None
    some = slice(int(filled[0]))
    crossing = crossing[:threads]
    return Projected(rows[some], first[some], last[some], operations[some], level[some], children[some], crossing)


def statistics(values: Ints, groups: npt.NDArray[np.uint32], size: int) -> Statistics | None:
    """Return the statistics of the values of each group, 0 to `size` - 1."""
    if _core is None or not _are_alike(values, groups):
        return None
    values, groups = _plain(values, np.int64), _plain(groups, np.uint32)
    counts, total, least, most = (np.empty(size, np.int64) for _ in range(4))
    mean, median, deviation = (np.empty(size, np.float64) for _ in range(3))
    found = Statistics(counts, total, mean, median, least, most, deviation)
    declined = _core.ws_statistics(values, groups, len(values), size, *found, secrets.randbits(63) + 1)
    return None if declined else found
