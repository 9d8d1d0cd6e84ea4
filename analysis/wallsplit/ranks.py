"""Distinct numbers, and the place of each number among them: by a table where numbers are close together, else sorted.

Columns hold rows of names, threads, correlation numbers: millions of rows, few values. NumPy's `unique` sorts all rows
for that, and sorts them indirectly where places are asked for.
"""

from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", bound=np.number[Any])

_TABLE = 1 << 16
"""Integers this close together are looked up in a table however few there are."""
_PER_NUMBER = 4
"""Else where the table has at most so many entries per number."""
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
    least, offset, occurs = table
    return _values(numbers, least, occurs), (np.cumsum(occurs) - 1)[offset]


def distinct(numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the distinct numbers, ascending."""
    table = _table(numbers)
    return _distinct_sorted(numbers) if table is None else _values(numbers, table[0], table[2])


def places_among(values: npt.NDArray[Number], numbers: npt.NDArray[Number]) -> npt.NDArray[np.intp]:
    """Return the place of each number among ascending values, -1 for one that is not there."""
    place = np.searchsorted(values, numbers)
    is_there = place < len(values)
    is_there[is_there] = values[place[is_there]] == numbers[is_there]
    place[~is_there] = -1
    return place


def in_order(places: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.intp]:
    """Return the rows by place, 0 to `size` - 1; rows of one place stay in order."""
    return np.argsort(places.astype(np.uint16) if size <= RADIX else places, kind="stable")


def _table(numbers: npt.NDArray[Any]) -> tuple[int, npt.NDArray[Any], npt.NDArray[np.bool_]] | None:
    """Return (least, numbers - least, which of these occur); None where the table would be too large, or of reals."""
    if not len(numbers) or numbers.dtype.kind == "f":
        return None
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= max(_TABLE, _PER_NUMBER * len(numbers)):
        return None
    wide = numbers if numbers.itemsize >= np.dtype(np.int32).itemsize else numbers.astype(np.int64)
    offset = wide - wide.dtype.type(least) if least else wide
    occurs = np.zeros(most - least + 1, np.bool_)
    occurs[offset] = True
    return least, offset, occurs


def _values(numbers: npt.NDArray[Number], least: int, occurs: npt.NDArray[np.bool_]) -> npt.NDArray[Number]:
    values: npt.NDArray[Number] = np.flatnonzero(occurs).astype(numbers.dtype) + numbers.dtype.type(least)
    return values


def _distinct_sorted(numbers: npt.NDArray[Number], kind: Literal["stable"] | None = None) -> npt.NDArray[Number]:
    ordered = np.sort(numbers, kind=kind)
    values: npt.NDArray[Number] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return values
