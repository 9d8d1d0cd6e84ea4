"""Tables as files."""

import csv
import io
from collections.abc import Callable

import polars as pl
import pytest

from analyses import ALL, HOSTILE, hostile, usual
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.report.tables import TableFormat, files, frames

WHY = (
    *("host_parts", "idle_causes", "causes", "idle_gap_classes", "idle_gaps"),
    *("steps", "phases_of_run", "sm", "launch", "sync", "copies", "comm", "rank_skew", "diagnosis"),
    *("memory_use", "range_threads"),
)
"""What explains the ledgers, where it is known."""


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_every_table_that_can_be_had_is_a_file(make: Callable[[], Analysis], table_format: TableFormat) -> None:
    one = make()
    had = [name for name, frame in one.tables.items() if frame is not None]
    why = WHY if one.explained else ()
    names = [f"run.{name}.{table_format}" for name in ("ledgers", "api_exposure", *why, *had)]
    assert [file.name for file in files(one, "run", table_format)] == names


def test_ledgers_have_every_account_as_a_column() -> None:
    frame = frames(usual())["ledgers"]
    assert frame.height == 1
    assert sum(frame[f"{account}_ns"][0] for account in ACCOUNTS) == frame["wall_ns"][0]


def test_a_cell_starts_no_formula_in_a_spreadsheet() -> None:
    for file in files(hostile(), "run", "csv"):
        for row in rows(file.content):
            for column, cell in row.items():
                number = column.endswith(("_ns", "_bytes", "_ratio", "count", "pid", "tid", "device"))
                assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_guarded_names_are_otherwise_whole() -> None:
    content = next(file.content for file in files(hostile(), "run", "csv") if "kernel_summary" in file.name)
    expected = [f"'{name}" if name[0] in "=+-@" else name for name in HOSTILE]
    assert [row["name"] for row in rows(content)] == expected


def test_parquet_holds_the_frames_as_they_are() -> None:
    for file, frame in zip(files(hostile(), "run", "parquet"), frames(hostile()).values(), strict=True):
        assert pl.read_parquet(io.BytesIO(file.content)).equals(frame)


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_every_file_carries_its_mark_and_is_the_same_each_time(table_format: TableFormat) -> None:
    once, again = files(usual(), "run", table_format), files(usual(), "run", table_format)
    assert once == again
    assert all(file.mark in file.content for file in once)
