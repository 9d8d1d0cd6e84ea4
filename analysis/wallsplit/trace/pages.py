"""Whole columns of an SQLite table, decoded straight from the file's pages: no Python object per value.

What is not an ordinary table of integers, reals and UTF-8 texts is left to sqlite3.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wallsplit import native
from wallsplit.frozen import dataclass
from wallsplit.native.values import Leaves
from wallsplit.trace.btree import Integers, PageFile, UnreadableError
from wallsplit.trace.cells import cells_of
from wallsplit.trace.identify import journal
from wallsplit.trace.interning import PADDING
from wallsplit.trace.records import Column, RecordReader
from wallsplit.trace.tables import TableInfo

PolarsType: TypeAlias = pl.DataType | type[pl.DataType]
Part: TypeAlias = tuple[slice, dict[str, list[bytes]]]  # rows that one thread read, and the texts their codes mean
P = TypeVar("P")

_DTYPES = {"INTEGER": np.int64, "NUMERIC": np.int64, "REAL": np.float64, "TEXT": np.uint32}
_KINDS = {"INTEGER": native.INTEGER, "NUMERIC": native.INTEGER, "REAL": native.REAL, "TEXT": native.TEXT}
_NULLS = {"INTEGER": pl.Int64, "NUMERIC": pl.Int64, "REAL": pl.Float64}
_FEWEST_PAGES = 64  # for a thread of their own


def read_table(
    path: Path,
    table: TableInfo,
    columns: Sequence[str],
    threads: int = 2,
    text: PolarsType = pl.Categorical,
) -> pl.DataFrame | None:
    """Return these columns of all rows, in row-id order, as Int64, Float64 and `text` (String or Categorical).

    Equal to what `SELECT` gives, invalid UTF-8 replaced by U+FFFD. None, for sqlite3 to read instead, is returned for
    everything out of the ordinary: a table WITHOUT ROWID, virtual or generated columns, a column of blobs or of values
    of several types, another text encoding, a format or a journal we do not know.

    Raises:
        TraceError: the file is truncated, or its pages contradict each other.
    """
    if not _is_ordinary(table, columns) or journal(path):
        return None
    try:
        return _read(path, table, columns, threads, text)
    except UnreadableError:
        return None


def read_kinds(
    path: Path, table: TableInfo, columns: Sequence[str], keys: Sequence[str], threads: int = 2
) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame] | None:
    """Return (columns of all rows, kind of each row, what the `keys` are in each kind): millions of rows are of few.

    Columns as `read_table` returns them. None where there is no compiled core, where it is not an ordinary table, and
    where so many rows are of a kind of their own that `read_table` takes less memory. Kinds may be equal.

    Raises:
        TraceError: the file is truncated, or its pages contradict each other.
    """
    every = [*columns, *keys]
    if not (native.is_compiled() and columns and keys) or not _is_ordinary(table, every) or journal(path):
        return None
    try:
        with PageFile(path) as file:
            leaves, counts = file.leaves(table.root_page)
            rows = int(counts.sum())
            outputs = [_column(table, name, rows if name in columns else 0) for name in every]
            if any(column.is_rowid or column.is_text for column in outputs[: len(columns)]):
                return None
            kind = np.empty(rows, np.uint32)
            parts = _compiled(file, _Runs.of(leaves, counts, threads), outputs, kind, len(columns))
    except UnreadableError:
        return None
    return None if parts is None else _kinds(parts, outputs, kind, len(columns))


def _kinds(
    parts: "Sequence[_CompiledPart]", outputs: Sequence[Column], kind: NDArray[np.uint32], numbers: int
) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame]:
    """Return what `read_kinds` does, of parts whose kinds each count from 0: the kinds of all, one after another."""
    ends = np.cumsum([part.kind_count for part in parts]).tolist()
    places = [slice(end - part.kind_count, end) for part, end in zip(parts, ends, strict=True)]
    for part, place in zip(parts, places, strict=True):
        kind[part.rows] += place.start
    texts = [(place, part.texts(outputs)) for part, place in zip(parts, places, strict=True)]
    keys = []
    for number, column in enumerate(outputs[numbers:]):
        values, nulls = (np.concatenate([part.leaves.kinds[number][i] for part in parts]) for i in (0, 1))
        stored = values.astype(np.uint32) if column.is_text else values.view(_DTYPES[column.affinity])
        own = replace(column, values=stored, nulls=nulls)
        keys.append(_text_series(own, texts, pl.Categorical) if column.is_text else _series(own))
    return pl.DataFrame([_series(column) for column in outputs[:numbers]]), pl.Series("kind", kind), pl.DataFrame(keys)


def _read(path: Path, table: TableInfo, columns: Sequence[str], threads: int, text: PolarsType) -> pl.DataFrame:
    with PageFile(path) as file:
        leaves, counts = file.leaves(table.root_page)
        outputs = [_column(table, name, int(counts.sum())) for name in columns]
        parts = _decode(file, _Runs.of(leaves, counts, threads), outputs)
    series = []
    while outputs:  # one at a time: a column lies in memory twice only while it is copied
        column = outputs.pop(0)
        series.append(_text_series(column, parts, text) if column.is_text else _series(column))
    return pl.DataFrame(series)


def _column(table: TableInfo, name: str, rows: int) -> Column:
    position = table.columns.index(name)
    kind = table.affinity(position)
    values = np.empty(rows, _DTYPES[kind])
    nulls = np.zeros(rows, np.bool_)
    return Column(name, position, kind, table.defaults[position], position == table.rowid_column, values, nulls)


@dataclass(frozen=True)
class _Runs:
    """A table's leaves, in runs of equal length, one per thread."""

    leaves: Integers
    counts: Integers
    firsts: Integers
    """The first row of each leaf, and how many rows there are."""
    bounds: list[int]

    @classmethod
    def of(cls, leaves: Integers, counts: Integers, threads: int) -> "_Runs":
        runs = max(1, min(threads, len(leaves) // _FEWEST_PAGES))
        bounds = [len(leaves) * run // runs for run in range(runs + 1)]
        return cls(leaves, counts, np.concatenate(([0], np.cumsum(counts))), bounds)

    def each(self, decode: Callable[[int, int], P]) -> list[P]:
        """Return what `decode` returns for (first leaf, last leaf) of each run."""
        if len(self.bounds) == 2:
            return [decode(*self.bounds)]
        with ThreadPoolExecutor(len(self.bounds) - 1) as pool:
            return list(pool.map(decode, self.bounds[:-1], self.bounds[1:]))

    def rows(self, first_leaf: int, last_leaf: int) -> slice:
        """Return the rows of some leaves."""
        return slice(int(self.firsts[first_leaf]), int(self.firsts[last_leaf]))


def _decode(file: PageFile, runs: _Runs, columns: Sequence[Column]) -> list[Part]:
    """Fill the columns from the leaves: in the compiled core, or where it declines in NumPy."""
    compiled = _compiled(file, runs, columns)
    if compiled is not None:
        return [(part.rows, part.texts(columns)) for part in compiled]

    def decode_run(first_leaf: int, last_leaf: int) -> Part:
        reader = RecordReader(file, columns)
        buffer = np.zeros(min(file.block_pages, last_leaf - first_leaf) * file.page_size + PADDING, np.uint8)
        for first in range(first_leaf, last_leaf, file.block_pages):
            last = min(first + file.block_pages, last_leaf)
            file.read(runs.leaves[first:last], buffer)
            reader.decode(cells_of(file, buffer, runs.counts[first:last]), runs.rows(first, last))
        return runs.rows(first_leaf, last_leaf), {name: interner.texts for name, interner in reader.texts.items()}

    return runs.each(decode_run)


@dataclass(frozen=True)
class _CompiledPart:
    """What the compiled core read of one run."""

    rows: slice
    leaves: Leaves

    @property
    def kind_count(self) -> int:
        """Return of how many kinds its rows are."""
        return len(self.leaves.kinds[0][0])

    def texts(self, columns: Sequence[Column]) -> dict[str, list[bytes]]:
        """Return the texts of each text column."""
        named = zip(columns, self.leaves.texts, strict=True)
        return {column.name: texts for column, texts in named if column.is_text}


def _compiled(
    file: PageFile,
    runs: _Runs,
    columns: Sequence[Column],
    kinds: NDArray[np.uint32] | None = None,
    numbers: int | None = None,
) -> list[_CompiledPart] | None:
    """Fill the columns, or the first `numbers` of them and `kinds`; None, and nothing is filled, where it declines."""
    if not native.is_compiled() or any(column.default is not None for column in columns):
        return None
    used = file.reading.used.copy()

    def decode_run(first_leaf: int, last_leaf: int) -> _CompiledPart | None:
        firsts = runs.firsts[first_leaf : last_leaf + 1]
        leaves = native.read_leaves(
            file.reading,
            runs.leaves[first_leaf:last_leaf],
            firsts,
            [column.position for column in columns],
            [native.ROWID if column.is_rowid else _KINDS[column.affinity] for column in columns],
            [column.values for column in columns],
            [column.nulls for column in columns],
            kinds,
            [numbers is not None and place >= numbers for place in range(len(columns))],
        )
        return None if leaves is None else _CompiledPart(runs.rows(first_leaf, last_leaf), leaves)

    parts = [part for part in runs.each(decode_run) if part is not None]
    if len(parts) == len(runs.bounds) - 1:
        return parts
    file.reading.used[:] = used
    for column in columns:
        column.nulls[:] = False
    return None


def _series(column: Column) -> pl.Series:
    if not column.nulls.any():
        return pl.Series(column.name, column.values)
    if column.nulls.all() and not column.is_text:  # a column that no row fills takes no memory
        return pl.repeat(None, len(column.nulls), dtype=_NULLS[column.affinity], eager=True).alias(column.name)
    values = pl.Series(column.name, column.values)
    return pl.select(pl.when(~pl.Series(column.nulls)).then(values).alias(column.name)).to_series()


def _text_series(column: Column, parts: Sequence[Part], dtype: PolarsType) -> pl.Series:
    """Return the texts of all threads one after another; each row's text is then picked by its code."""
    runs = [texts.pop(column.name) for _, texts in parts]
    first = 0
    for (rows, _), run in zip(parts, runs, strict=True):
        column.values[rows] += first
        first += len(run)
    texts = _decoded([text for run in runs for text in run])
    if texts.is_empty():  # every row is null
        texts = pl.Series([""], dtype=pl.String)
    return texts.cast(dtype).gather(_series(column)).alias(column.name)


def _decoded(texts: list[bytes]) -> pl.Series:
    """Return the texts as String, invalid UTF-8 replaced by U+FFFD."""
    try:
        return pl.Series(texts, dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series([text.decode("utf-8", "replace") for text in texts], dtype=pl.String)


def _is_ordinary(table: TableInfo, columns: Sequence[str]) -> bool:
    affinities = {table.affinity(table.columns.index(name)) for name in columns}
    return table.plain and table.root_page > 1 and "BLOB" not in affinities and len(columns) > 0
