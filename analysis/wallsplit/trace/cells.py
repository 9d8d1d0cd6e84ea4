"""The cells of table leaves: where each row's record lies, and the whole record where it spills onto other pages."""

from collections.abc import Iterator

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.trace.btree import BLOCK_BYTES, Bytes, Integers, PageFile
from wallsplit.trace.interning import PADDING, unaligned

_BIG_WORD = np.dtype(">u4")


@dataclass(frozen=True)
class Cells:
    """Rows as records in a buffer: one value per row in each array, all in bytes but `rowid`."""

    buffer: Bytes  # ends with PADDING bytes that belong to no record
    start: Integers  # of the record
    length: Integers  # of the whole record
    reach: Integers  # of the part of it that lies at `start`; the rest is on overflow pages
    rowid: Integers

    def take(self, rows: Integers) -> "Cells":
        """Return these rows of the cells."""
        return Cells(self.buffer, self.start[rows], self.length[rows], self.reach[rows], self.rowid[rows])


def cells_of(file: PageFile, buffer: Bytes, counts: Integers) -> Cells:
    """Return the cells of the leaf pages at the front of `buffer`, which hold `counts` rows each.

    Raises:
        TraceError: a cell does not lie within its page.
    """
    page_starts = np.arange(len(counts)) * file.page_size
    page = np.repeat(page_starts, counts)
    first_row = np.cumsum(counts) - counts
    pointer = page + 8 + 2 * (np.arange(len(page)) - np.repeat(first_row, counts))
    cell = buffer.take(pointer).astype(np.int64) << 8 | buffer.take(pointer + 1)
    if len(cell) and ((cell < np.repeat(8 + 2 * counts, counts)).any() or cell.max() > file.usable_size - 4):
        raise file.corrupt("a cell lies outside its page")
    length, at = varints(buffer, page + cell)
    rowid, start = varints(buffer, at)
    if len(length) and (length.min() < 1 or length.max() > file.page_count * file.page_size):
        raise file.corrupt("a row has an impossible length")
    reach, end = length, start + length
    spills = length > file.usable_size - 35
    if spills.any():
        reach = np.where(spills, _local_length(length, file.usable_size), length)
        end = start + reach + 4 * spills
    if (end > page + file.usable_size).any():
        raise file.corrupt("a row runs over the end of its page")
    return Cells(buffer, start, length, reach, rowid)


def assembled(file: PageFile, cells: Cells) -> Iterator[tuple[slice, Cells]]:
    """Yield the given rows, records whole, a bounded number of bytes at a time: (which of the rows, their cells).

    Raises:
        TraceError: a chain of overflow pages leaves the file or crosses itself.
    """
    ends = np.cumsum(cells.length)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + BLOCK_BYTES, side="right")))
        part = slice(first, last)
        yield part, _assemble(file, cells.take(np.arange(first, last)))
        first = last


def _assemble(file: PageFile, cells: Cells) -> Cells:
    start = np.cumsum(cells.length) - cells.length
    whole = np.empty(int(cells.length.sum()) + PADDING, np.uint8)
    for here, there, size in zip(cells.start.tolist(), start.tolist(), cells.reach.tolist(), strict=True):
        whole[there : there + size] = cells.buffer[here : here + size]
    next_page = unaligned(cells.buffer, _BIG_WORD)[cells.start + cells.reach].astype(np.int64)
    filled = cells.reach.copy()
    for rows, block in file.chains(next_page, cells.length - cells.reach):
        at = np.arange(block.shape[1]) + filled[rows, None]
        inside = at < cells.length[rows, None]
        whole[(at + start[rows, None])[inside]] = block[inside]
        filled[rows] += block.shape[1]
    return Cells(whole, start, cells.length, cells.length, cells.rowid)


def _local_length(length: Integers, usable_size: int) -> Integers:
    """Return how much of a record that spills stays in its leaf ("Cell Payload Overflow Pages" of the file format)."""
    least = (usable_size - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable_size - 4)
    return np.where(local <= usable_size - 35, local, least)


def varints(buffer: Bytes, at: Integers) -> tuple[Integers, Integers]:
    """Return the variable-length integers at these positions, and the positions behind them.

    Seven bits a byte, the high bit says that more follow; the ninth byte gives all its eight bits.
    """
    byte = buffer.take(at, mode="clip")
    value = (byte & 127).astype(np.int64)
    more = byte > 127
    at = at + 1
    for bits in (7, 7, 7, 7, 7, 7, 7, 8):
        if not more.any():
            break
        byte = buffer.take(at, mode="clip")
        low = byte & 127 if bits == 7 else byte
        value = np.where(more, value << bits | low, value)
        at += more
        more &= byte > 127
    return value, at
