"""A trace: one nsys export as frames of its raw tables."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from wallsplit.errors import TraceError
from wallsplit.frozen import dataclass
from wallsplit.trace.folder import FolderSource, export_suffix
from wallsplit.trace.kinds import Kinds
from wallsplit.trace.raw import MARKS_OF_AN_EXPORT, MARKS_OF_NVPROF, TABLES, Alias, RawTable, names_of, raw_table
from wallsplit.trace.source import Source
from wallsplit.trace.sqlite import SqliteSource

NO_RECORDING = ("ENUM_", "sqlite_")
"""How the names of tables begin that hold what codes mean, or belong to SQLite itself: nothing of a recording."""

EXACT = 2**53
"""Up to here a real tells each whole number from the next; a larger one may have been rounded when it was stored."""


@dataclass(frozen=True)
class Trace:
    """An opened export. Tables and columns are found by name; what is absent is simply not there."""

    path: Path
    size_bytes: int
    source: Source
    _scanned: set[str] = field(default_factory=set, compare=False, repr=False)

    @classmethod
    def open(cls, path: Path) -> "Trace":
        """Return the export at `path`, an SQLite file or a folder of Parquet or Arrow files, opened read-only.

        Raises:
            TraceError: the path is no complete nsys export; the message says what it is instead.
        """
        source = _open_source(path)
        return cls(path, source.size_bytes, source)

    @property
    def format(self) -> str:
        """Return the container's name as reports print it."""
        return self.source.format

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the trace has the table and all these columns of it, under whatever name."""
        raw = raw_table(table)
        name = self.name_of(table)
        return name is not None and all(column in self._columns(raw, name) for column in columns)

    def read(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of a raw table (names of trace/raw.py): texts are Categorical, all else Int64.

        A column the trace lacks is null throughout, a table it lacks has no rows: nothing there was measured.

        Raises:
            LookupError: trace/raw.py lists no such table or column.
            TraceError: a column that should hold whole numbers holds something else.
        """
        name, there, kinds = self._asked(table, columns)
        present = [column for column in columns if column in there]
        if name is None or not present:
            return pl.DataFrame(schema=kinds)
        frame = self._read(name, {column: there[column] for column in present}, kinds)
        if len(present) == len(columns):
            return frame
        absent = [pl.lit(None, kind).alias(column) for column, kind in kinds.items() if column not in there]
        return frame.with_columns(absent).select(columns)

    def scan(self, table: str, columns: Sequence[str]) -> pl.LazyFrame:
        """Return what `read` does, lazily; only the columns that a query uses are read.

        Raises:
            LookupError: trace/raw.py lists no such table or column.
            TraceError: when it is collected, a column that should hold whole numbers holds something else.
        """
        name, there, kinds = self._asked(table, columns)
        present = pl.Schema({column: kind for column, kind in kinds.items() if column in there})
        if name is None or not present:
            return pl.LazyFrame(schema=kinds)

        def read(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
        ) -> Iterator[pl.DataFrame]:
            wanted = with_columns if with_columns is not None else present.names()
            frame = self._read(name, {column: there[column] for column in wanted}, kinds)
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if n_rows is None else frame.head(n_rows)

        lazy = register_io_source(read, schema=present, is_pure=True)
        absent = [pl.lit(None, kind).alias(column) for column, kind in kinds.items() if column not in present]
        return lazy.with_columns(absent).select(columns) if absent else lazy

    def _asked(self, table: str, columns: Sequence[str]) -> tuple[str | None, dict[str, Alias], dict[str, pl.DataType]]:
        """Return what this trace calls a raw table and its columns, and the types of those asked for."""
        raw = raw_table(table)
        if unknown := set(columns) - set(raw.columns):
            raise LookupError(f"trace/raw.py lists no column {', '.join(sorted(unknown))} of {table}")
        name = self.name_of(table)
        there = {} if name is None else self._columns(raw, name)
        if any(column in there for column in columns):
            self._scanned.update(raw.names)
        return name, there, {column: pl.Categorical() if column in raw.texts else pl.Int64() for column in columns}

    def _read(self, name: str, aliases: dict[str, Alias], kinds: dict[str, pl.DataType]) -> pl.DataFrame:
        frame = self.source.read(name, [alias.name for alias in aliases.values()])
        if not aliases:
            return frame  # so many rows, nothing in them
        read = zip(aliases.items(), frame.get_columns(), strict=True)
        return pl.DataFrame([self._typed(name, s, alias, kinds[column]).alias(column) for (column, alias), s in read])

    def kinds(self, table: str, columns: Sequence[str], keys: Sequence[str], *, expanded: bool = False) -> Kinds:
        """Return a raw table as kinds of rows: `keys` are the columns that are of a few kinds only.

        Columns are as `read` has them. `expanded`: they become a column per key again, so that kinds that do not come
        with the rows are not worth finding; each row is of its own.

        Raises:
            LookupError: trace/raw.py lists no such table or column.
            TraceError: a column that should hold whole numbers holds something else.
        """
        raw = raw_table(table)
        name = self.name_of(table)
        there = {} if name is None else self._columns(raw, name)
        here, known = ([column for column in some if column in there] for some in (columns, keys))
        found = None
        if name is not None and here and known:
            found = self.source.read_kinds(name, *([there[column].name for column in some] for some in (here, known)))
        if name is None or found is None:
            every = self.read(table, [*columns, *keys])
            rows, of_rows = every.select(columns), every.select(keys)
            return Kinds.each(rows, of_rows) if expanded else Kinds.of(rows, of_rows)
        self._scanned.update(raw.names)

        def typed(frame: pl.DataFrame, stored: Sequence[str], wanted: Sequence[str]) -> pl.DataFrame:
            kinds = {column: pl.Categorical() if column in raw.texts else pl.Int64() for column in wanted}
            read = {
                column: self._typed(name, s, there[column], kinds[column]).alias(column)
                for column, s in zip(stored, frame.get_columns(), strict=True)
            }
            absent = {
                column: pl.repeat(None, frame.height, dtype=kinds[column], eager=True).alias(column)
                for column in wanted
                if column not in read
            }
            return pl.DataFrame([(read | absent)[column] for column in wanted])

        read_rows, kind, of_kinds = found
        return Kinds(typed(read_rows, here, columns), typed(of_kinds, known, keys), kind)

    def not_scanned(self) -> dict[str, int]:
        """Return the tables that have rows and that nobody scanned so far, with their rows, most rows first.

        Tables of NO_RECORDING are left out.

        Raises:
            TraceError: the container is damaged.
        """
        tables = [
            name for name in self.source.tables if name not in self._scanned and not name.startswith(NO_RECORDING)
        ]
        rows = {name: self.source.rows(name) for name in tables}
        return dict(sorted(((n, r) for n, r in rows.items() if r), key=lambda item: (-item[1], item[0])))

    def name_of(self, table: str) -> str | None:
        """Return what this trace calls a raw table, listed in trace/raw.py or not; None where it has none."""
        return next((name for name in names_of(table) if name in self.source.tables), None)

    def _columns(self, raw: RawTable, name: str) -> dict[str, Alias]:
        """Return what this trace calls each column that it has."""
        schema = self.source.tables[name]
        named = {column: (Alias(column), raw.aliases.get(column, Alias(column))) for column in raw.columns}
        there = {column: next((a for a in names if a.name in schema), None) for column, names in named.items()}
        return {column: alias for column, alias in there.items() if alias}

    def _typed(self, table: str, column: pl.Series, alias: Alias, kind: pl.DataType) -> pl.Series:
        if kind == pl.Categorical():
            return column if column.dtype == kind else column.cast(pl.String).cast(kind)
        whole = column if column.dtype == kind else self._whole_numbers(table, column)
        return whole if alias.factor == 1 else whole * alias.factor

    def _whole_numbers(self, table: str, column: pl.Series) -> pl.Series:
        """Return a column of reals or texts as Int64, as nsys writes it: tools that copy tables forget types."""
        numbers = column if column.dtype.is_float() else column.cast(pl.String)
        whole = numbers.cast(pl.Int64, strict=False)
        if (whole.is_null() & column.is_not_null()).any() or (column.dtype.is_float() and (whole != column).any()):
            raise TraceError(
                f"{self.path}: column {column.name} of table {table} holds values that are no whole numbers; "
                "export the report again"
            )
        if column.dtype.is_float() and (column.abs() > EXACT).any():
            raise TraceError(
                f"{self.path}: column {column.name} of table {table} holds reals beyond 2^53, which may have been "
                "rounded; export the report again"
            )
        return whole

    def check_unchanged(self) -> None:
        """Return if the file is what it was when it was opened.

        Raises:
            TraceError: it was written to meanwhile.
        """
        self.source.check_unchanged()


def _open_source(path: Path) -> Source:
    if path.is_dir():
        return FolderSource(path, export_suffix(path, MARKS_OF_AN_EXPORT))
    source = SqliteSource(path)
    _check_is_export(path, source)
    return source


def _check_is_export(path: Path, source: SqliteSource) -> None:
    hostile = sorted(source.impostors.intersection(name for table in TABLES for name in table.names))
    if hostile:
        raise TraceError(
            f"{path}: {hostile[0]} is a view or virtual table, where nsys writes a plain table; export the report again"
        )
    if source.tables.keys() >= MARKS_OF_NVPROF:
        raise TraceError(
            f"{path}: was written by nvprof or the Visual Profiler, which nsys replaced; record the program with nsys"
        )
    if not any(table in source.tables for table in MARKS_OF_AN_EXPORT):
        raise TraceError(
            f"{path}: is an SQLite file, but not an nsys export (none of its tables is there); "
            "give the output of nsys export --type sqlite"
        )
