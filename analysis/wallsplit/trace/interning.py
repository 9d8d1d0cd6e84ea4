"""Equal byte strings become equal small integers, whole arrays at a time."""

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallsplit.trace.btree import Bytes, Integers

PADDING = 1024
"""Bytes a buffer must hold after the last string in it: strings are gathered in whole words."""

_LONGEST = (PADDING >> 3) - 2  # words; longer strings are looked up one at a time, copying them costs more than that
_KEEP = np.array([[255] * (n or 8) + [0] * (-n % 8) for n in range(8)], np.uint8).view(np.uint64).ravel()


class Interner:
    """The distinct byte strings seen so far; a string's code is its place in `texts`."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self._tables: dict[int, _Table] = {}
        self._long: dict[bytes, int] = {}

    def codes(self, buffer: Bytes, start: Integers, length: Integers) -> Integers:
        """Return the code of each string `buffer[start : start + length]`, one per string."""
        width = np.minimum((length + 7) >> 3, _LONGEST + 1)
        widths = np.flatnonzero(np.bincount(width)).tolist()
        if len(widths) == 1:
            return self._codes(buffer, start, length, widths[0])
        codes = np.empty(len(start), np.int64)
        for each in widths:
            rows = np.flatnonzero(width == each)
            codes[rows] = self._codes(buffer, start[rows], length[rows], each)
        return codes

    def _codes(self, buffer: Bytes, start: Integers, length: Integers, width: int) -> Integers:
        if width > _LONGEST:
            ends = (start + length).tolist()
            strings = (buffer[first:end].tobytes() for first, end in zip(start.tolist(), ends, strict=True))
            return np.array([self._long_code(string) for string in strings], np.int64)
        records = _records(buffer, start, length, width)
        if (table := self._tables.get(width)) is None:
            table = self._tables[width] = _Table(width + 1)
        known = table.count
        places = table.places(records)
        new = table.count - known
        table.codes[known : table.count] = np.arange(len(self.texts), len(self.texts) + new)
        self.texts += _texts(table.records[known : table.count], width)
        return table.codes.take(places)

    def _long_code(self, text: bytes) -> int:
        code = self._long.setdefault(text, len(self.texts))
        if code == len(self.texts):
            self.texts.append(text)
        return code


class _Table:
    """Distinct records of one size, found by open addressing; `codes` holds what their owner calls them."""

    def __init__(self, words: int) -> None:
        self.count = 0
        self.records = np.empty(64, f"V{8 * words}")
        self.codes = np.empty(64, np.int64)
        # Multipliers nobody can foresee: a trace made to collide would make the search below linear.
        self._multipliers = np.array([secrets.randbits(64) | 1 for _ in range(words)], np.uint64)
        self._bits = 8
        self._slots = np.full(1 << self._bits, -1)

    def places(self, records: NDArray[np.void]) -> Integers:
        """Return the place of each record in `records` of this table; new ones are appended."""
        hashes = self._hashes(records)
        places = self._slots.take(self._home(hashes))
        same = self.records.take(places, mode="clip") == records
        same &= places >= 0
        rest = np.flatnonzero(~same)
        if len(rest):
            self._reserve(len(rest))
            places[rest] = self._search(records[rest], self._home(hashes[rest]))
        return places

    def _hashes(self, records: NDArray[np.void]) -> NDArray[np.uint64]:
        hashes: NDArray[np.uint64] = records.view(np.uint64).reshape(-1, len(self._multipliers)) @ self._multipliers
        hashes ^= hashes >> np.uint64(32)
        hashes *= self._multipliers[0]
        return hashes

    def _home(self, hashes: NDArray[np.uint64]) -> Integers:
        return (hashes >> np.uint64(64 - self._bits)).view(np.int64)

    def _search(self, records: NDArray[np.void], slots: Integers) -> Integers:
        """Walk from each record's slot to its place, or to a free slot where it is entered."""
        places = np.empty(len(records), np.int64)
        left = np.arange(len(records))
        while len(left):
            at = slots[left]
            self._enter(records, left[self._slots[at] < 0], slots)
            found = self._slots[at]
            places[left] = found
            left = left[self.records[found] != records[left]]
            slots[left] = (slots[left] + 1) & (len(self._slots) - 1)
        return places

    def _enter(self, records: NDArray[np.void], rows: Integers, slots: Integers) -> None:
        """Append the records of `rows` at their free slots; of several at one slot, one."""
        self._slots[slots[rows]] = rows
        rows = rows[self._slots[slots[rows]] == rows]
        end = self.count + len(rows)
        self.records[self.count : end] = records[rows]
        self._slots[slots[rows]] = np.arange(self.count, end)
        self.count = end

    def _reserve(self, more: int) -> None:
        """Make room for `more` records with half of the slots free."""
        needed = self.count + more
        if needed > len(self.records):
            self.records = _grown(self.records, 2 * needed)
            self.codes = _grown(self.codes, 2 * needed)
        if 4 * needed > len(self._slots):
            self._bits = (8 * needed - 1).bit_length()
            self._slots = np.full(1 << self._bits, -1)
            self._settle(self._home(self._hashes(self.records[: self.count])))

    def _settle(self, slots: Integers) -> None:
        """Give every record a slot of its own, at or after its home."""
        left = np.arange(self.count)
        while len(left):
            at = slots[left]
            free = self._slots[at] < 0
            self._slots[at[free]] = left[free]
            left = left[self._slots[at] != left]
            slots[left] = (slots[left] + 1) & (len(self._slots) - 1)


def _records(buffer: Bytes, start: Integers, length: Integers, width: int) -> NDArray[np.void]:
    """Return each string in `width` words, zeros behind its end, its length in one more: equal iff the string is."""
    records = unaligned(buffer, np.dtype(f"V{8 * (width + 1)}"))[start]
    words = records.view(np.uint64).reshape(len(start), width + 1)
    words[:, width] = length
    if width:
        words[:, width - 1] &= _KEEP.take(length & 7)
    return records


def _texts(records: NDArray[np.void], width: int) -> list[bytes]:
    """Return the strings of `_records`, their bytes fetched once for all: unique names come by the million."""
    lengths = records.view(np.uint64).reshape(len(records), width + 1)[:, width].tolist()
    stored = records.tobytes()
    starts = range(0, len(stored), 8 * (width + 1))
    return [stored[start : start + length] for start, length in zip(starts, lengths, strict=True)]


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    grown = np.empty(size, array.dtype)
    grown[: len(array)] = array
    return grown


def unaligned(buffer: Bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a view with a value of `dtype` at every byte of `buffer`: indexing it gathers values from any position."""
    return np.ndarray((len(buffer) - dtype.itemsize + 1,), dtype, buffer, strides=(1,))
