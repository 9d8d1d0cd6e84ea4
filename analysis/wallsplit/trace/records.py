"""Records to columns: rows whose headers are the same bytes share one layout, which is parsed once.

The record format is section 2.1 of https://www.sqlite.org/fileformat2.html.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wallsplit.frozen import dataclass
from wallsplit.trace.btree import Bytes, Integers, PageFile, UnreadableError
from wallsplit.trace.cells import Cells, assembled, varints
from wallsplit.trace.interning import PADDING, Interner, unaligned
from wallsplit.trace.tables import Affinity, Value

Reals: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = slice | Integers

_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)  # bytes of serial types 0 to 11
_SHIFTS = np.array([0, 56, 48, 40, 32, 16, 0])  # bits too many in the eight bytes fetched for types 1 to 6
_ABSENT = -1  # in place of a serial type: the row was stored before the column was added
_NULL, _REAL, _ONE, _FIRST_TEXT = 0, 7, 9, 13
_MOST = 1 << 33  # no serial type is larger: values end at 2 GiB


@dataclass(frozen=True)
class Column:
    """A column to read, and where its values go, one per row of the table."""

    name: str
    position: int
    affinity: Affinity
    default: Value
    is_rowid: bool
    values: NDArray[Any]  # Int64, Float64, or UInt32: the code of a text
    nulls: NDArray[np.bool_]

    @property
    def is_text(self) -> bool:
        """Return whether the column declares texts."""
        return self.affinity == "TEXT"


class RecordReader:
    """Decodes records into columns; it remembers the headers and the texts it has seen. One per thread."""

    def __init__(self, file: PageFile, columns: Sequence[Column]) -> None:
        self.texts = {column.name: Interner() for column in columns if column.affinity == "TEXT"}
        self._file = file
        self._columns = columns
        self._headers = Interner()
        # Per header: the record's length, where the last value wanted ends, and each column's serial type and offset.
        self._lengths = np.empty(0, np.int64)
        self._ends = np.empty(0, np.int64)
        self._types = np.empty((len(columns), 0), np.int64)
        self._offsets = np.empty((len(columns), 0), np.int64)

    def decode(self, cells: Cells, rows: slice) -> None:
        """Write the values of these cells to `rows` of the columns.

        Raises:
            UnreadableError: a column holds a value of another type than it declares.
            TraceError: a record breaks its format.
        """
        if cells.reach is cells.length:
            self._decode(cells, rows)
            return
        far = self._beyond_reach(cells)
        near = np.setdiff1d(np.arange(len(cells.start)), far, assume_unique=True)
        self._decode(cells.take(near), rows.start + near)
        for part, whole in assembled(self._file, cells.take(far)):
            self._decode(whole, rows.start + far[part])

    def _beyond_reach(self, cells: Cells) -> Integers:
        """Return the cells of which a wanted value, or the header, lies on overflow pages."""
        far = cells.reach < cells.length
        header_length, _ = varints(cells.buffer, cells.start)
        candidates = np.flatnonzero(far & (header_length <= cells.reach))
        layouts = self._layouts(cells.take(candidates))
        far[candidates] = self._ends.take(layouts) > cells.reach[candidates]
        return np.flatnonzero(far)

    def _decode(self, cells: Cells, rows: Rows) -> None:
        if not len(cells.start):
            return
        layouts = self._layouts(cells)
        for number, column in enumerate(self._columns):
            if column.is_rowid:
                column.values[rows] = cells.rowid
                continue
            types = self._types[number]
            start = cells.start + self._offsets[number].take(layouts)
            values = self._values(column, cells.buffer, start, types, layouts)
            null = types == _NULL
            if (absent := types == _ABSENT).any():
                if column.default is None:
                    null |= absent
                else:
                    values[absent.take(layouts)] = self._default(column)
            column.values[rows] = values
            if null.any():
                column.nulls[rows] = null.take(layouts)
            if column.affinity == "REAL":
                column.nulls[rows] |= np.isnan(values)  # NaN is no value in SQLite: it reads as NULL

    def _values(
        self, column: Column, buffer: Bytes, start: Integers, types: Integers, layouts: Integers
    ) -> Integers | Reals:
        if column.affinity == "TEXT":
            return _texts(self.texts[column.name], buffer, start, types, layouts)
        if column.affinity == "REAL":
            return _reals(buffer, start, types, layouts)
        return _integers(buffer, start, types, layouts)

    def _default(self, column: Column) -> int | float:
        """Return what the column's array holds for its default: a text's code."""
        if isinstance(column.default, int | float):
            return column.default
        text = str(column.default).encode()
        padded = np.frombuffer(text + bytes(PADDING), np.uint8)
        return int(self.texts[column.name].codes(padded, np.array([0]), np.array([len(text)]))[0])

    def _layouts(self, cells: Cells) -> Integers:
        """Return the layout of each record, which must have its header in reach."""
        header_length, _ = varints(cells.buffer, cells.start)
        if ((header_length < 2) | (header_length > cells.reach)).any():
            raise self._file.corrupt("a record's header has an impossible length")
        layouts = self._headers.codes(cells.buffer, cells.start, header_length)
        new = [self._parse(header) for header in self._headers.texts[len(self._lengths) :]]
        if new:
            lengths, ends, types, offsets = zip(*new, strict=True)
            self._lengths = np.append(self._lengths, np.array(lengths, np.int64))
            self._ends = np.append(self._ends, np.array(ends, np.int64))
            self._types = np.hstack((self._types, np.array(types, np.int64).T))
            self._offsets = np.hstack((self._offsets, np.array(offsets, np.int64).T))
        if (self._lengths.take(layouts) != cells.length).any():
            raise self._file.corrupt("a record's length is not that of its values")
        return layouts

    def _parse(self, header: bytes) -> tuple[int, int, list[int], list[int]]:
        """Return a header's record length, the end of the last value wanted, the columns' serial types and offsets."""
        types = _serial_types(header)
        if types is None:
            raise self._file.corrupt("a record's header holds a type that does not exist")
        *offsets, length = accumulate(map(_size, types), initial=len(header))
        values = dict(enumerate(zip(types, offsets, strict=True)))
        stored = [values.get(column.position, (_ABSENT, 0)) for column in self._columns]
        for column, (serial_type, _) in zip(self._columns, stored, strict=True):
            if not _is_declared(column, serial_type):
                raise UnreadableError(f"column {column.name} holds a value of another type than it declares")
        end = max(offset + _size(serial_type) for serial_type, offset in stored)
        return length, end, [serial_type for serial_type, _ in stored], [offset for _, offset in stored]


def _is_declared(column: Column, serial_type: int) -> bool:
    """Return whether a value stored so is of the type its column declares."""
    if column.is_rowid or serial_type == _NULL:
        return True
    if column.affinity == "TEXT":
        is_text = serial_type >= _FIRST_TEXT and serial_type % 2 == 1
        return is_text or (serial_type == _ABSENT and isinstance(column.default, str | None))
    kinds = float | int | None if column.affinity == "REAL" else int | None
    if serial_type == _ABSENT:
        return isinstance(column.default, kinds)
    return serial_type <= _ONE and (serial_type != _REAL or column.affinity == "REAL")


def _integers(buffer: Bytes, start: Integers, types: Integers, layouts: Integers) -> Integers:
    """Return big-endian two's complement of 1 to 8 bytes: eight are fetched, those too many shifted out."""
    stored = (types > _NULL) & (types < _REAL)
    if not stored.any():
        ones: Integers = (types == _ONE).astype(np.int64).take(layouts)
        return ones
    values: Integers = unaligned(buffer, np.dtype(">i8"))[start].astype(np.int64)
    values >>= _SHIFTS.take(types, mode="clip").take(layouts)
    if not stored.all():
        values = np.where(stored.take(layouts), values, (types == _ONE).take(layouts))
    return values


def _reals(buffer: Bytes, start: Integers, types: Integers, layouts: Integers) -> Reals:
    """Return IEEE doubles; those without a fraction may be stored as integers."""
    values: Reals = unaligned(buffer, np.dtype(">f8"))[start].astype(np.float64)
    whole = np.flatnonzero((types != _REAL).take(layouts))
    if len(whole):
        values[whole] = _integers(buffer, start[whole], types, layouts[whole])
    return values


def _texts(interner: Interner, buffer: Bytes, start: Integers, types: Integers, layouts: Integers) -> Integers:
    """Return the texts' codes; 0 where none is stored."""
    sizes = (types - _FIRST_TEXT) >> 1
    rows = np.flatnonzero((sizes >= 0).take(layouts))
    if len(rows) == len(layouts):
        return interner.codes(buffer, start, sizes.take(layouts))
    codes = np.zeros(len(layouts), np.int64)
    codes[rows] = interner.codes(buffer, start[rows], sizes.take(layouts[rows]))
    return codes


def _serial_types(header: bytes) -> list[int] | None:
    """Return the serial types a header lists after its own length; None if there is no such header."""
    if max(header) < 128:
        types = list(header[1:])
    else:
        numbers, at = [], 0
        while at < len(header):
            number, at = _varint(header, at)
            numbers.append(number)
        types = numbers[1:]
        if at > len(header) or max(numbers) > _MOST:
            return None
    return None if 10 in types or 11 in types else types


def _size(serial_type: int) -> int:
    """Return how many bytes a value of this type occupies."""
    return (serial_type - 12) >> 1 if serial_type >= 12 else _SIZES[max(serial_type, _NULL)]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length integer at a position, and the position behind it; past the end it reads zeros."""
    value = 0
    for place in range(at, at + 8):
        byte = data[place] if place < len(data) else 0
        value = value << 7 | byte & 127
        if byte < 128:
            return value, place + 1
    return value << 8 | (data[at + 8] if at + 8 < len(data) else 0), at + 9
