"""Every table of an analysis, and its ledgers, as CSV or Parquet files."""

import io
from typing import Literal

import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.why_tables import why_tables
from wallsplit.report.writing import File
from wallsplit.text import SPREADSHEET_FORMULA, UNSEEN, visible
from wallsplit.why.samples.table import host_samples_table

TableFormat = Literal["csv", "parquet"]
_PARQUET_MARK = "wallsplit_table"


def frames(analysis: Analysis) -> dict[str, pl.DataFrame]:
    """Return every table that could be had, whole, the ledgers, their API exposure and what explains them first."""
    tables = {name: frame for name, frame in analysis.tables.items() if frame is not None}
    why = {} if analysis.explained is None else why_tables(analysis.ledgers, analysis.explained)
    return {
        "ledgers": ledgers(analysis),
        "api_exposure": api_exposure(analysis),
        **why,
        **_samples(analysis),
        **tables,
    }


def _samples(analysis: Analysis) -> dict[str, pl.DataFrame]:
    if analysis.explained is None or analysis.explained.cpu_sampling is None:
        return {}
    reasons = zip(analysis.ledgers, analysis.explained.ledgers, strict=True)
    sampled = [((led.pid, led.device, _bounds(analysis, led)[0]), why.host_samples) for led, why in reasons]
    return {"host_samples": host_samples_table((key, samples) for key, samples in sampled if samples)}


def files(analysis: Analysis, stem: str, table_format: TableFormat) -> tuple[File, ...]:
    """Return one file per table, `<stem>.<table>.csv` or `.parquet`; cells of a CSV start no spreadsheet formula."""
    encode = csv if table_format == "csv" else parquet
    return tuple(encode(f"{stem}.{name}.{table_format}", frame) for name, frame in frames(analysis).items())


def ledgers(analysis: Analysis) -> pl.DataFrame:
    """Return one row per ledger, its accounts as columns in ns; null = not measured."""
    schema = {
        "pid": pl.Int64,
        "device": pl.Int64,
        "start_ns": pl.Int64,
        "end_ns": pl.Int64,
        "wall_ns": pl.Int64,
        **{f"{account}_ns": pl.Int64 for account in ACCOUNTS},
        "gpu_busy_ns": pl.Int64,
        "busy_ratio": pl.Float64,
        "kernel_active_ratio": pl.Float64,
        "gpu_complete": pl.Boolean,
        "launch_coverage": pl.Float64,
        "api_complete": pl.Boolean,
        "api_coverage": pl.Float64,
    }
    return pl.DataFrame([_row(analysis, ledger) for ledger in analysis.ledgers], schema=schema, orient="row")


def api_exposure(analysis: Analysis) -> pl.DataFrame:
    """Return union, hidden and exposed time in ns of each API class of each ledger."""
    schema = {
        "pid": pl.Int64,
        "device": pl.Int64,
        "start_ns": pl.Int64,
        "class": pl.String,
        "union_ns": pl.Int64,
        "hidden_ns": pl.Int64,
        "exposed_ns": pl.Int64,
    }
    rows = [
        (x.pid, x.device, _bounds(analysis, x)[0], name, e.union_ns, e.hidden_ns, e.exposed_ns)
        for x in analysis.ledgers
        for name, e in x.api_exposure.items()
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(analysis: Analysis, x: Ledger) -> tuple[object, ...]:
    accounts = (x.accounts[account] for account in ACCOUNTS)
    busy = (x.gpu_busy_ns, x.busy_ratio, x.kernel_active_ratio)
    coverage = (x.gpu_complete, x.launch_coverage, x.api_complete, x.api_coverage)
    return (x.pid, x.device, *_bounds(analysis, x), x.wall_ns, *accounts, *busy, *coverage)


def _bounds(analysis: Analysis, ledger: Ledger) -> tuple[int | None, int | None]:
    window = ledger.window or analysis.window
    return (window.start_ns, window.end_ns) if window else (None, None)


def csv(name: str, frame: pl.DataFrame) -> File:
    """Return a frame as a CSV file; every text in it is visible, and starts no spreadsheet formula.

    Where one holds a semicolon, which a spreadsheet may take for the end of a cell, all are quoted.
    """
    texts = [column for column, kind in frame.schema.items() if kind == pl.String]
    shown = frame.with_columns(_guarded(_visible(frame[column])) for column in texts)
    ends = any(shown[column].str.contains(";", literal=True).any() for column in texts)
    rows = shown.write_csv(
        include_header=False, line_terminator="\n", quote_style="non_numeric" if ends else "necessary"
    )
    header = ",".join(frame.columns)
    return File(name, f"{header}\n{rows}".encode(), f"{header}\n".encode())


def _visible(column: pl.Series) -> pl.Series:
    hidden = column.filter(column.str.contains(UNSEEN)).unique().to_list()
    return column.replace(hidden, [visible(text) for text in hidden]) if hidden else column


def _guarded(column: pl.Series) -> pl.Series:
    return column.str.replace_all(SPREADSHEET_FORMULA, "${1}'${2}")


def parquet(name: str, frame: pl.DataFrame) -> File:
    """Return a frame as a Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata={_PARQUET_MARK: "1"})
    return File(name, buffer.getvalue(), _PARQUET_MARK.encode())
