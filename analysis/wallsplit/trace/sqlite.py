"""SQLite exports: opened read-only and immutable, real tables only, never a write beside the file."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from wallsplit.cores import CORES
from wallsplit.errors import TraceError
from wallsplit.text import shorten
from wallsplit.trace.identify import check_sqlite_file
from wallsplit.trace.pages import read_kinds, read_table
from wallsplit.trace.stamp import stamp
from wallsplit.trace.tables import affinity, quoted, table_info

BATCH_ROWS = 100_000
COUNTED_ROWS = 100_000
"""Of a table with no more rows they are counted; more would mean to read it."""
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)  # the second is how sqlite3 reports a name that is no UTF-8
LIMITS = {
    # A hostile schema must not cost more than its file's size: no attached files, small expressions, bounded texts.
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
    sqlite3.SQLITE_LIMIT_COLUMN: 1_000,
    sqlite3.SQLITE_LIMIT_LENGTH: 256 * 1024 * 1024,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
}


class SqliteSource:
    """One SQLite file as tables of columns."""

    format = "nsys-sqlite"

    def __init__(self, path: Path) -> None:
        check_sqlite_file(path)
        self.path = path
        self._stamp = stamp(path)
        self._db = _connect(path)
        try:
            self.tables, self.impostors = _tables(self._db)
        except UNREADABLE as error:
            raise self._damaged(error) from None

    def read(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return the columns asked for, all rows, in row-id order (see Source)."""
        schema = self.tables[table]
        picked = pl.Schema({name: schema[name] for name in columns})
        try:
            pages = read_table(self.path, table_info(self._db, table), columns, CORES)
            return self._read_rows(table, picked) if pages is None else _cast(pages, picked)
        except UNREADABLE as error:
            raise self._damaged(error) from None

    def read_kinds(
        self, table: str, columns: Sequence[str], keys: Sequence[str]
    ) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame] | None:
        """Return the columns, the kinds of the rows and what the keys are in them, in row-id order (see Source)."""
        schema = self.tables[table]
        try:
            found = read_kinds(self.path, table_info(self._db, table), columns, keys, CORES)
        except UNREADABLE as error:
            raise self._damaged(error) from None
        if found is None:
            return None
        rows, kind, kinds = found
        return (
            _cast(rows, pl.Schema({name: schema[name] for name in columns})),
            kind,
            _cast(kinds, pl.Schema({name: schema[name] for name in keys})),
        )

    def rows(self, table: str) -> int:
        """Return the number of rows (see Source): counted in a small table, by the row ids of a large one.

        nsys only ever appends, so that row ids have no gaps; in a large table out of which rows were deleted the
        number is an upper bound.
        """
        name = quoted(table)
        try:
            few = self._db.execute(f"SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {COUNTED_ROWS + 1})")  # noqa: S608
            count = int(few.fetchone()[0])
            if count <= COUNTED_ROWS:
                return count
            if table_info(self._db, table).plain:
                first, last = self._db.execute(
                    f"SELECT (SELECT min(_rowid_) FROM {name}), (SELECT max(_rowid_) FROM {name})"  # noqa: S608
                ).fetchone()
                if isinstance(first, int) and isinstance(last, int) and last - first < self.size_bytes:
                    return last - first + 1
            return int(self._db.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608
        except UNREADABLE as error:
            raise self._damaged(error) from None

    def check_unchanged(self) -> None:
        """Return if the file is what it was when it was opened (see Source)."""
        if stamp(self.path) != self._stamp:
            raise TraceError(f"{self.path}: changed while it was read; wait until the export is finished, then repeat")

    @property
    def size_bytes(self) -> int:
        """Return the size of the file."""
        return self._stamp[0]

    def _read_rows(self, table: str, schema: pl.Schema) -> pl.DataFrame:
        if not schema:
            rows = self._db.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0]  # noqa: S608
            return pl.DataFrame(height=rows)
        names = ", ".join(quoted(name) for name in schema)
        # NOT INDEXED: a covering index would give the rows in its own order.
        cursor = self._db.execute(f"SELECT {names} FROM {quoted(table)} NOT INDEXED")  # noqa: S608
        batches = [pl.DataFrame(schema=schema)]
        while rows := cursor.fetchmany(BATCH_ROWS):
            columns = [
                self._column(table, name, values, kind)
                for (name, kind), values in zip(schema.items(), zip(*rows, strict=True), strict=True)
            ]
            batches.append(pl.DataFrame(columns))
        return pl.concat(batches, rechunk=True)

    def _column(self, table: str, name: str, values: tuple[object, ...], kind: pl.DataType) -> pl.Series:
        if kind == pl.Categorical():
            texts = [v if v is None or isinstance(v, str) else _as_text(v) for v in values]
            return pl.Series(name, texts, dtype=pl.String).cast(pl.Categorical())
        try:
            if kind == pl.Int64() and None not in values:
                array = np.array(values)
                if array.dtype == np.int64:
                    return pl.Series(name, array)
            return pl.Series(name, values, dtype=kind, strict=True)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            what = "whole numbers" if kind == pl.Int64() else "numbers"
            raise TraceError(
                f"{self.path}: column {name} of table {table} holds values that are no {what}; export the report again"
            ) from None

    def _damaged(self, error: Exception) -> TraceError:
        reason = shorten(str(error))
        return TraceError(f"{self.path}: SQLite cannot read it ({reason}); copy it again or export the report again")


def _cast(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame if frame.schema == schema else frame.cast(schema)


def _connect(path: Path) -> sqlite3.Connection:
    # immutable=1 keeps SQLite from looking for, or making, a journal or -shm file beside the user's file.
    location = f"file:{quote(os.fsencode(path.absolute().as_posix()))}?mode=ro&immutable=1"
    try:
        db = sqlite3.connect(location, uri=True, check_same_thread=False)
        for limit, value in LIMITS.items():
            db.setlimit(limit, value)
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("PRAGMA query_only=ON")
        db.execute("PRAGMA cell_size_check=ON")
    except sqlite3.Error as error:
        raise TraceError(f"{path}: SQLite cannot open it ({error}); export the report again") from None
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _tables(db: sqlite3.Connection) -> tuple[dict[str, pl.Schema], frozenset[str]]:
    """Return the real tables with their columns, and the names of views and virtual tables, which are never read."""
    tables: dict[str, pl.Schema] = {}
    impostors = set()
    for name, kind, sql, root in db.execute("SELECT name, type, sql, rootpage FROM sqlite_master").fetchall():
        if kind not in ("table", "view"):
            continue
        if kind == "view" or not root or not str(sql).lstrip().upper().startswith("CREATE TABLE"):
            impostors.add(str(name))
            continue
        columns = db.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
        tables[name] = pl.Schema({column[1]: _column_type(column[2]) for column in columns})
    return tables, frozenset(impostors)


def _column_type(declared: str) -> pl.DataType:
    kind = affinity(declared)
    if kind in ("INTEGER", "NUMERIC"):  # SQLite stores whole numbers as such in both
        return pl.Int64()
    return pl.Categorical() if kind in ("TEXT", "BLOB") else pl.Float64()


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
