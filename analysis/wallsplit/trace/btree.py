"""The pages of an SQLite file, as numpy arrays: a table's leaves in row order, and the chains of payloads that spill.

Follows "Database File Format", https://www.sqlite.org/fileformat2.html. Pages are read into buffers of our own, never
mapped: a file truncated under a mapping would kill the process.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wallsplit.errors import TraceError
from wallsplit.native.values import Reading
from wallsplit.ranks import distinct
from wallsplit.trace.identify import SQLITE_MAGIC, page_size

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

BLOCK_BYTES = 1 << 22  # read and decoded at a time: the temporaries of one block stay in a core's cache
_HEADER_BYTES = 100
_INTERIOR, _LEAF = 5, 13
_DEEPEST = 20  # levels; as BTCURSOR_MAX_DEPTH, more than 2**31 pages can need


class UnreadableError(Exception):
    """This reader does not know such files or values; sqlite3 does."""


class PageFile:
    """An SQLite file opened for reading whole pages; pages count from 1, as in the file format.

    It remembers the pages it handed out as part of a tree or a chain: a file uses none twice.

    Raises:
        UnreadableError: the format is not one of those known here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)
        self._lock = threading.Lock()
        header = self._file.read(_HEADER_BYTES)
        if not _is_readable(header):
            self._file.close()
            raise UnreadableError(f"{path} has a format of another kind")
        self.page_size = page_size(header)
        self.usable_size = self.page_size - header[20]
        self.page_count = os.fstat(self._file.fileno()).st_size // self.page_size
        self._used = np.zeros(self.page_count + 1, np.bool_)
        self._used[:2] = True  # page 0 does not exist, page 1 is the schema's

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def corrupt(self, reason: str) -> TraceError:
        """Return the error of a file that breaks its own format, in one line."""
        return TraceError(f"{self.path}: the database is truncated or corrupt ({reason}); export the report again")

    @property
    def reading(self) -> Reading:
        """Return where the compiled core reads the pages."""
        return Reading(self._file.fileno(), self.page_size, self.usable_size, self.page_count, self._used)

    @property
    def block_pages(self) -> int:
        """How many pages make one block."""
        return max(1, BLOCK_BYTES // self.page_size)

    def read(self, pages: Integers, into: Bytes) -> Bytes:
        """Return the pages asked for, in order, as rows of `into`: shape (pages, page size).

        Raises:
            TraceError: the file ends before one of them.
        """
        rows = into[: len(pages) * self.page_size].reshape(len(pages), self.page_size)
        breaks = np.flatnonzero(np.diff(pages) != 1) + 1
        for first, last in zip((0, *breaks.tolist()), (*breaks.tolist(), len(pages)), strict=True):
            self._read_at((int(pages[first]) - 1) * self.page_size, rows[first:last].reshape(-1).data)
        return rows

    def leaves(self, root: int) -> tuple[Integers, Integers]:
        """Return the leaf pages of the table tree under `root`, in row order, and the number of rows on each.

        Raises:
            TraceError: the pages under `root` are no table tree.
        """
        buffer = np.empty(self.block_pages * self.page_size, np.uint8)
        level = np.array([root], np.int64)
        for _ in range(_DEEPEST):
            self._use(level)
            children: list[Integers] = []
            counts: list[Integers] = []
            for block in self._blocks(level, buffer):
                kinds = distinct(block[:, 0])
                if len(kinds) != 1 or kinds[0] not in (_INTERIOR, _LEAF):
                    raise self.corrupt("a table's tree holds a page of another kind")
                counts.append(block[:, 3].astype(np.int64) << 8 | block[:, 4])
                if kinds[0] == _INTERIOR:
                    children.extend(self._children(page) for page in block)
            if not children:
                return level, self._checked_counts(np.concatenate(counts))
            if len(children) != len(level):
                raise self.corrupt("a table's tree is out of balance")
            level = np.concatenate(children)
        raise self.corrupt("a table's tree is too deep")

    def chains(self, first_pages: Integers, lengths: Integers) -> Iterator[tuple[Integers, Bytes]]:
        """Yield the payloads that spill, a step along all their chains at a time: (chains still running, their bytes).

        Each step's bytes have the shape (chains, usable size − 4); a chain ends when `lengths` bytes were handed out.

        Raises:
            TraceError: a chain leaves the file or comes back to a page in use.
        """
        running, pages, left = np.arange(len(first_pages)), first_pages, lengths
        while len(running):
            self._use(pages)
            block = self.read(pages, np.empty(len(pages) * self.page_size, np.uint8))
            yield running, block[:, 4 : self.usable_size]
            left = left - (self.usable_size - 4)
            more = left > 0
            running, left = running[more], left[more]
            pages = np.ascontiguousarray(block[more, :4]).view(">u4").ravel().astype(np.int64)

    def _blocks(self, pages: Integers, buffer: Bytes) -> Iterator[Bytes]:
        for start in range(0, len(pages), self.block_pages):
            yield self.read(pages[start : start + self.block_pages], buffer)

    def _read_at(self, offset: int, view: memoryview) -> None:
        while len(view):
            if hasattr(os, "preadv"):
                got = os.preadv(self._file.fileno(), [view], offset)
            else:
                with self._lock:
                    self._file.seek(offset)
                    got = self._file.readinto(view) or 0
            if not got:
                raise self.corrupt("it ends inside a table")
            view, offset = view[got:], offset + got

    def _use(self, pages: Integers) -> None:
        if pages.min() < 1 or pages.max() > self.page_count:
            raise self.corrupt(f"a table needs pages beyond the {self.page_count} of the file")
        if self._used[pages].any() or len(distinct(pages)) != len(pages):
            raise self.corrupt("a page belongs to two places")
        self._used[pages] = True

    def _children(self, page: Bytes) -> Integers:
        count = int(page[3]) << 8 | int(page[4])
        cells_from = 12 + 2 * count
        if not count or cells_from > self.usable_size:
            raise self.corrupt("a tree page has an impossible number of cells")
        cells = page[12:cells_from].view(">u2").astype(np.int64)
        if cells.min() < cells_from or cells.max() > self.usable_size - 5:
            raise self.corrupt("a cell lies outside its page")
        left = page[cells[:, None] + np.arange(4)].view(">u4").ravel()
        return np.append(left, page[8:12].view(">u4")).astype(np.int64)

    def _checked_counts(self, counts: Integers) -> Integers:
        if counts.max() > (self.usable_size - 8) // 4 or (len(counts) > 1 and counts.min() == 0):
            raise self.corrupt("a table page has an impossible number of cells")
        return counts


def _is_readable(header: bytes) -> bool:
    """Return whether we know this format: what https://www.sqlite.org/fileformat2.html#the_database_header allows."""
    if len(header) < _HEADER_BYTES or not header.startswith(SQLITE_MAGIC):
        return False
    size, schema_format, encoding = page_size(header), int.from_bytes(header[44:48]), int.from_bytes(header[56:60])
    return (
        512 <= size <= 65536
        and size & (size - 1) == 0
        and size - header[20] >= 480
        and header[19] in (1, 2)  # the version of the rules to read by
        and header[21:24] == bytes((64, 32, 32))  # payload fractions, fixed
        and 1 <= schema_format <= 4
        and encoding == 1  # UTF-8
    )
