"""A trace: one nsys export as lazy frames of its raw tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from wallsplit.errors import TraceError
from wallsplit.trace.folder import FolderSource, export_suffix
from wallsplit.trace.source import Source
from wallsplit.trace.sqlite import SqliteSource

EVENT_TABLES = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "NVTX_EVENTS",
    "OSRT_API",
    "MPI_P2P_EVENTS",
    "MPI_START_WAIT_EVENTS",
    "MPI_COLLECTIVES_EVENTS",
    "MPI_OTHER_EVENTS",
    "PROFILER_OVERHEAD",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    "GPU_METRICS",
)
INFORMATION_TABLES = (
    "StringIds",
    "ANALYSIS_DETAILS",
    "META_DATA_EXPORT",
    "EXPORT_META_DATA",
    "TARGET_INFO_GPU",
    "TARGET_INFO_CUDA_GPU",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_GPU_METRICS",
    "TARGET_INFO_SESSION_START_TIME",
    "PROCESSES",
    "DIAGNOSTIC_EVENT",
)
MARKS_OF_AN_EXPORT = (*EVENT_TABLES, "ANALYSIS_DETAILS", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_GPU")
TEXT_COLUMNS = frozenset({"metricName", "name", "text", "value"})
"""All other columns that are read hold whole numbers, whatever type whoever rewrote the table declared them with."""
NO_RECORDING = ("ENUM_", "sqlite_")
"""How the names of tables begin that hold what codes mean, or belong to SQLite itself: nothing of a recording."""
MARKS_OF_NVPROF = frozenset({"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "StringTable"})


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
        """Return whether the trace has the table and all these columns of it."""
        schema = self.source.tables.get(table)
        return schema is not None and all(column in schema for column in columns)

    def scan(self, table: str, columns: Sequence[str]) -> pl.LazyFrame:
        """Return the columns of a raw table lazily; only those a query uses are read. Text is Categorical.

        A column the trace lacks is null throughout, a table it lacks has no rows: nothing there was measured.

        Raises:
            TraceError: when it is collected, a column that should hold whole numbers holds something else.
        """
        schema = self.source.tables.get(table, pl.Schema())
        kinds = {name: schema[name] if name in TEXT_COLUMNS else pl.Int64() for name in columns if name in schema}
        present = pl.Schema(kinds)
        if not present:
            return pl.LazyFrame(schema=dict.fromkeys(columns, pl.Int64()))
        self._scanned.add(table)

        def read(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
        ) -> Iterator[pl.DataFrame]:
            frame = self.source.read(table, with_columns if with_columns is not None else present.names())
            frame = frame.with_columns(self._whole_numbers(table, c) for c in frame if c.dtype != present[c.name])
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if n_rows is None else frame.head(n_rows)

        lazy = register_io_source(read, schema=present, is_pure=True)
        absent = [pl.lit(None, pl.Int64()).alias(name) for name in columns if name not in present]
        return lazy.with_columns(absent).select(columns) if absent else lazy

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

    def _whole_numbers(self, table: str, column: pl.Series) -> pl.Series:
        """Return a column of reals or texts as Int64, as nsys writes it: tools that copy tables forget types."""
        numbers = column if column.dtype.is_float() else column.cast(pl.String)
        whole = numbers.cast(pl.Int64, strict=False)
        if (whole.is_null() & column.is_not_null()).any() or (column.dtype.is_float() and (whole != column).any()):
            raise TraceError(
                f"{self.path}: column {column.name} of table {table} holds values that are no whole numbers; "
                "export the report again"
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
    hostile = sorted(source.impostors.intersection((*EVENT_TABLES, *INFORMATION_TABLES)))
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
