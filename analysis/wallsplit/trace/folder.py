"""Folder exports (nsys export --type parquetdir or arrowdir): one file per table, read by Polars."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from wallsplit.errors import TraceError
from wallsplit.trace.stamp import stamp
from wallsplit.trace.untyped_text import untyped_arrow, untyped_parquet

FORMATS = {".parquet": "nsys-parquetdir", ".arrow": "nsys-arrowdir"}
MOST_ROWS_PER_BYTE = 16
"""Of a file. Hardware samples, the densest of nsys' tables, pack 1.6; run lengths can claim over 400."""
LONGEST_SCHEMA_BYTES = 1 << 20  # nsys' widest table takes about 10 kB
EXACT_FLOAT32 = 2**24
"""Up to here a real of 32 bits tells each whole number from the next."""
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"

_TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Binary)


def export_suffix(path: Path, tables: Iterable[str]) -> str:
    """Return the suffix of the table files in the folder `path`, which has one of `tables` at least.

    Raises:
        TraceError: the folder is no export, or holds exports of both types.
    """
    tables = tuple(tables)
    names = {file.name for file in _listed(path)}
    found = [suffix for suffix in FORMATS if not names.isdisjoint(table + suffix for table in tables)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TraceError(f"{path}: holds {' and '.join(found)} tables of nsys; keep each export in a folder of its own")
    if not names:
        raise TraceError(f"{path}: is a folder, and empty; give an nsys export")
    raise TraceError(
        f"{path}: is a folder without the tables of an nsys export; give the .sqlite files in it, e.g. {path}/*.sqlite"
    )


class FolderSource:
    """One folder of tables. nsys writes the names, ids and NULLs of its SQLite export; only the types differ."""

    def __init__(self, path: Path, suffix: str) -> None:
        self.path = path
        self.format = FORMATS[suffix]
        self._files = _table_files(path, suffix)
        self._stamps = self._stamped()
        self.tables = {table: _schema(file) for table, file in self._files.items()}

    @property
    def size_bytes(self) -> int:
        """Return the size of all table files together."""
        return sum(size for size, _, _ in self._stamps)

    def read(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return the columns asked for, all rows, in file order (see Source)."""
        schema, file = self.tables[table], self._files[table]
        picked = list(columns) or schema.names()[:1]
        if not picked:  # a file without a column has no rows
            return pl.DataFrame()
        _check_types(file, {name: schema[name] for name in columns})
        with _refusals(file):
            _check_rows(file, _claimed_rows(file))
            frame = _read(file, picked)
            _check_rows(file, frame.height)
            if not columns:
                return pl.DataFrame(height=frame.height)
            return pl.DataFrame([_normalised(frame[name], schema[name]) for name in picked])

    def read_kinds(
        self, table: str, columns: Sequence[str], keys: Sequence[str]
    ) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame] | None:
        """Return None: such files are read as they are (see Source)."""

    def rows(self, table: str) -> int:
        """Return the number of rows (see Source): as a Parquet footer tells; Arrow's batches have to be walked."""
        file = self._files[table]
        if file.suffix != ".parquet":
            return self.read(table, ()).height
        with _refusals(file):
            rows = _claimed_rows(file)
        _check_rows(file, rows)
        return rows

    def check_unchanged(self) -> None:
        """Return if every table file is what it was when it was opened (see Source)."""
        if self._stamped() != self._stamps:
            raise TraceError(f"{self.path}: changed while it was read; wait until the export is finished, then repeat")

    def _stamped(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(stamp(file) for file in self._files.values())


def _listed(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None


def _table_files(path: Path, suffix: str) -> dict[str, Path]:
    files = [file for file in _listed(path) if file.suffix == suffix]
    for file in files:
        if not file.is_file():  # opening a pipe would wait for ever
            raise TraceError(f"{file}: is no plain file, where nsys writes one; export the report again")
    return {file.stem: file for file in files}


def _schema(file: Path) -> pl.Schema:
    with _refusals(file):
        raw = _scan_parquet(file.absolute()).collect_schema() if file.suffix == ".parquet" else _arrow_schema(file)
    return pl.Schema({name: _column_type(kind) for name, kind in raw.items()})


def _column_type(raw: pl.DataType) -> pl.DataType:
    """Return which type holds the values of a column (see Source): its own for what nsys never writes (lists …)."""
    if raw.is_integer() or raw in (pl.Boolean, pl.Null, pl.Decimal):
        return pl.Int64()
    if raw.is_float():
        return pl.Float64()
    return pl.Categorical() if raw in _TEXTS else raw


def _check_types(file: Path, kinds: Mapping[str, pl.DataType]) -> None:
    for name, kind in kinds.items():
        if kind not in (pl.Int64, pl.Float64, pl.Categorical):
            raise TraceError(
                f"{file}: column {name} is of type {kind}, where nsys writes numbers or texts; export the report again"
            )


def _claimed_rows(file: Path) -> int:
    """Return the rows a Parquet footer tells of before any is decoded; 0 for Arrow, whose rows are all in the file."""
    if file.suffix != ".parquet":
        return 0
    return int(_scan_parquet(file.absolute()).select(pl.len()).collect().item())


def _check_rows(file: Path, rows: int) -> None:
    size = file.stat().st_size
    if rows > MOST_ROWS_PER_BYTE * size:
        raise TraceError(f"{file}: claims {rows:,} rows in {size:,} bytes, as no export has; export the report again")


def _read(file: Path, columns: list[str]) -> pl.DataFrame:
    """Return the columns in the types of the file; texts as Binary if one of them is not UTF-8."""
    read, untyped = (_read_parquet, untyped_parquet) if file.suffix == ".parquet" else (_read_arrow, untyped_arrow)
    try:
        return read(file.absolute(), columns)
    except pl.exceptions.ComputeError:
        return read(io.BytesIO(untyped(file.read_bytes())), columns)


def _read_parquet(source: Path | io.BytesIO, columns: list[str]) -> pl.DataFrame:
    return _scan_parquet(source).select(columns).collect()


def _scan_parquet(source: Path | io.BytesIO) -> pl.LazyFrame:
    # A folder's name may hold what Polars would take as a pattern, or as a partition's key and value.
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


def _read_arrow(source: Path | io.BytesIO, columns: list[str]) -> pl.DataFrame:
    # nsys writes Arrow's stream format, which Polars cannot scan; it skips the columns not asked for all the same.
    return pl.read_ipc_stream(source, columns=columns)


def _arrow_schema(file: Path) -> pl.Schema:
    """Return the columns of a stream from its first message alone; asked for no rows, Polars still decodes a batch."""
    with file.open("rb") as stream:
        prefix = stream.read(8)  # continuation marker, length of the metadata
        message = prefix + stream.read(min(int.from_bytes(prefix[4:], "little"), LONGEST_SCHEMA_BYTES))
    return pl.read_ipc_stream(io.BytesIO(message + END_OF_STREAM)).schema


def _normalised(column: pl.Series, kind: pl.DataType) -> pl.Series:
    if column.dtype == pl.UInt64:  # ids of 64 bits; SQLite's export has the same bits as a signed number
        return column.reinterpret(signed=True)
    if column.dtype == pl.Binary:
        texts = [None if value is None else value.decode("utf-8", "replace") for value in column]
        column = pl.Series(column.name, texts, dtype=pl.String)
    if kind == pl.Categorical():
        return column.cast(pl.String).cast(kind)
    values = column.cast(kind)
    if column.dtype == pl.Decimal and (values.cast(column.dtype) != column).any():
        raise pl.exceptions.InvalidOperationError(f"column {column.name} holds values that are no whole numbers")
    if column.dtype == pl.Float32 and (column.abs() > EXACT_FLOAT32).any():
        raise pl.exceptions.InvalidOperationError(f"column {column.name} holds numbers beyond what Float32 tells apart")
    return values


@contextmanager
def _refusals(file: Path) -> Iterator[None]:
    """Make what Polars says about a file it cannot read the one-line error; a corrupt Parquet file may panic it."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise TraceError(f"{file}: is damaged ({reason}); copy it again or export the report again") from None
