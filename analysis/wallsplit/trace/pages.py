"""Whole columns of an SQLite table, decoded straight from the file's pages: no Python object per value.

What is not an ordinary table of integers, reals and UTF-8 texts is left to sqlite3.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl

from wallsplit import native
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


def _read(path: Path, table: TableInfo, columns: Sequence[str], threads: int, text: PolarsType) -> pl.DataFrame:
    with PageFile(path) as file:
        leaves, counts = file.leaves(table.root_page)
        outputs = [_column(table, name, int(counts.sum())) for name in columns]
        parts = _decode(file, leaves, counts, outputs, threads)
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


def _decode(file: PageFile, leaves: Integers, counts: Integers, columns: Sequence[Column], threads: int) -> list[Part]:
    """Fill the columns from the leaves, in runs of equal length, one per thread."""
    firsts = np.concatenate(([0], np.cumsum(counts)))
    runs = max(1, min(threads, len(leaves) // _FEWEST_PAGES))
    bounds = [len(leaves) * run // runs for run in range(runs + 1)]

    def decode_run(first_leaf: int, last_leaf: int) -> Part:
        reader = RecordReader(file, columns)
        buffer = np.zeros(min(file.block_pages, last_leaf - first_leaf) * file.page_size + PADDING, np.uint8)
        for first in range(first_leaf, last_leaf, file.block_pages):
            last = min(first + file.block_pages, last_leaf)
            file.read(leaves[first:last], buffer)
            rows = slice(int(firsts[first]), int(firsts[last]))
            reader.decode(cells_of(file, buffer, counts[first:last]), rows)
        texts = {name: interner.texts for name, interner in reader.texts.items()}
        return slice(int(firsts[first_leaf]), int(firsts[last_leaf])), texts

    def compiled(first_leaf: int, last_leaf: int) -> Part | None:
        texts = native.read_leaves(
            file.reading,
            leaves[first_leaf:last_leaf],
            firsts[first_leaf : last_leaf + 1],
            [column.position for column in columns],
            [native.ROWID if column.is_rowid else _KINDS[column.affinity] for column in columns],
            [column.values for column in columns],
            [column.nulls for column in columns],
        )
        if texts is None:
            return None
        rows = slice(int(firsts[first_leaf]), int(firsts[last_leaf]))
        return rows, {column.name: found for column, found in zip(columns, texts, strict=True) if column.is_text}

    def each(decode: Callable[[int, int], P]) -> list[P]:
        if runs == 1:
            return [decode(0, len(leaves))]
        with ThreadPoolExecutor(runs) as pool:
            return list(pool.map(decode, bounds[:-1], bounds[1:]))

    if native.is_compiled() and all(column.default is None for column in columns):
        used = file.reading.used.copy()
        parts = [part for part in each(compiled) if part is not None]
        if len(parts) == runs:
            return parts
        file.reading.used[:] = used
        for column in columns:
            column.nulls[:] = False
    return each(decode_run)


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
