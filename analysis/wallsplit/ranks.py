"""Distinct numbers, and the place of each number among them: by a table where numbers lie close together, else sorted.

Columns hold rows of names, threads, correlation numbers: millions of rows, few values. NumPy's `unique` sorts all rows
for that, and sorts them indirectly where places are asked for.
"""

from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", bound=np.number[Any])

_TABLE = 1 << 16
"""Integers this close together are looked up in a table however few there are."""
_PER_NUMBER = 4
"""Else where the table has at most so many entries per number."""
_PAGE_BITS = 12
"""Numbers that lie together in places, such as ids of recordings in turn, have a table for each page that occurs."""
_FEW_PLACES = 4
"""Rows of so few places are looked for place by place."""
RADIX = 1 << 16
"""Integers below it are sorted by digits, in linear time."""


def ranked(numbers: npt.NDArray[Number], *, in_runs: bool = False) -> tuple[npt.NDArray[Number], npt.NDArray[np.int64]]:
    """Return the distinct numbers, ascending, and the place of each of `numbers` among them.

    `in_runs`: they mostly ascend, which a merge sort makes use of.
    """
    table = _table(numbers)
    if table is None:
        values = _distinct_sorted(numbers, "stable" if in_runs else None)
        return values, np.searchsorted(values, numbers)
    return _values(numbers, table), (np.cumsum(table.occurs) - 1)[table.entry]


def distinct(numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the distinct numbers, ascending."""
    table = _table(numbers)
    return _distinct_sorted(numbers) if table is None else _values(numbers, table)


def places_among(values: npt.NDArray[Number], numbers: npt.NDArray[Number]) -> npt.NDArray[np.intp]:
    """Return the place of each number among ascending values, -1 for one that is not there."""
    place = np.searchsorted(values, numbers)
    is_there = place < len(values)
    is_there[is_there] = values[place[is_there]] == numbers[is_there]
    place[~is_there] = -1
    return place


def in_order(places: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.intp]:
    """Return the rows by place, 0 to `size` - 1; rows of one place stay in order."""
    if 0 < size <= _FEW_PLACES:
        return np.concatenate([np.flatnonzero(places == place) for place in range(size)])
    return np.argsort(places.astype(np.uint16) if size <= RADIX else places, kind="stable")


def rows_of_each(places: npt.NDArray[np.integer[Any]], size: int) -> list[npt.NDArray[np.intp]]:
    """Return the rows of each place, 0 to `size` - 1, in order."""
    return np.split(in_order(places, size), np.cumsum(np.bincount(places, minlength=size))[:-1]) if size else []


class _Table(NamedTuple):
    """What numbers occur, in order: the pages of them, one after another."""

    entry: npt.NDArray[np.integer[Any]]
    """Of each number."""
    occurs: npt.NDArray[np.bool_]
    least: int
    pages: npt.NDArray[np.int64] | None
    """The distance of each page of entries from `least`, in pages; None: there is one, however long."""


def _table(numbers: npt.NDArray[Any]) -> _Table | None:
    """Return the table of some numbers; None where it would be too large, or of reals."""
    if not len(numbers) or numbers.dtype.kind == "f":
        return None
    least, most = int(numbers.min()), int(numbers.max())
    limit = max(_TABLE, _PER_NUMBER * len(numbers))
    if (most - least) >> _PAGE_BITS >= limit:
        return None
    room = 8 * numbers.itemsize - 1
    wide = numbers if room >= 31 and most - least < 1 << room else numbers.astype(np.int64)
    distance = wide - wide.dtype.type(least) if least else wide
    if most - least < limit:
        return _Table(distance, _occurring(distance, most - least + 1), least, None)
    page = distance >> _PAGE_BITS
    occurs = _occurring(page, ((most - least) >> _PAGE_BITS) + 1)
    pages = np.flatnonzero(occurs)
    if len(pages) << _PAGE_BITS > limit:
        return None
    entry = (np.cumsum(occurs) - 1)[page] << _PAGE_BITS
    entry += (distance & wide.dtype.type((1 << _PAGE_BITS) - 1)).astype(np.int64, copy=False)
    return _Table(entry, _occurring(entry, len(pages) << _PAGE_BITS), least, pages)


def _occurring(entries: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.bool_]:
    occurs = np.zeros(size, np.bool_)
    occurs[entries] = True
    return occurs


def _values(numbers: npt.NDArray[Number], table: _Table) -> npt.NDArray[Number]:
    entries = np.flatnonzero(table.occurs)
    if table.pages is not None:
        in_page = entries & ((1 << _PAGE_BITS) - 1)
        entries = (table.pages[entries >> _PAGE_BITS] << _PAGE_BITS) + in_page
    values: npt.NDArray[Number] = entries.astype(numbers.dtype) + numbers.dtype.type(table.least)
    return values


def _distinct_sorted(numbers: npt.NDArray[Number], kind: Literal["stable"] | None = None) -> npt.NDArray[Number]:
    ordered = np.sort(numbers, kind=kind)
    values: npt.NDArray[Number] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return values
