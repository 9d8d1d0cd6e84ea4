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
from wallsplit.report.tables import csv as table_csv
from wallsplit.text import visible

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


def cell(text: str) -> str:
    """Return what a text becomes in a CSV file, quotes included, beside one with a semicolon."""
    content = table_csv("t.csv", pl.DataFrame({"text": [text, ";"]})).content.decode()
    return content.removeprefix("text\n").removesuffix('\n";"\n')


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("  =1+1", "'  =1+1"),
        ("\u3000\u00a0@SUM(A1)", "'\u3000\u00a0@SUM(A1)"),
        ("＝1+1", "'＝1+1"),
        ("－2", "'－2"),
        ("﹢2", "'﹢2"),
        ("a;=1+1", "a;'=1+1"),
        ("a; +1;-1", "a;' +1;'-1"),
        ("\t=1+1", r"\x09=1+1"),
        ("\n=1", r"\x0a=1"),
        ("\0=1", r"\x00=1"),
        ("\u200b=1", r"\u200b=1"),
        ("a=1-2@b", "a=1-2@b"),
        ("a;b", "a;b"),
    ],
)
def test_no_text_starts_a_formula_in_a_spreadsheet_whatever_stands_before_it(text: str, written: str) -> None:
    assert cell(text) == f'"{written}"'


@pytest.mark.parametrize("hidden", ["\x1b", "\r\n", "\x9b", "\u202e", "\u200d", "\u00ad", "\ufeff", "\U000e0041"])
def test_what_cannot_be_seen_is_written_out(hidden: str) -> None:
    assert cell(f"a{hidden}b") == f'"{visible(f"a{hidden}b")}"'
    assert hidden not in cell(f"a{hidden}b")


def test_texts_are_quoted_where_they_need_be() -> None:
    content = table_csv("t.csv", pl.DataFrame({"text": ["a", "b c"], "n": [1, 2]})).content
    assert content == b"text,n\na,1\nb c,2\n"


def test_guarded_names_are_otherwise_whole_and_visible() -> None:
    content = next(file.content for file in files(hostile(), "run", "csv") if "kernel_summary" in file.name)
    expected = [visible(f"'{name}" if name[0] in "=+-@" else name) for name in HOSTILE]
    assert [row["name"] for row in rows(content)] == expected


def test_parquet_holds_the_frames_as_they_are() -> None:
    for file, frame in zip(files(hostile(), "run", "parquet"), frames(hostile()).values(), strict=True):
        assert pl.read_parquet(io.BytesIO(file.content)).equals(frame)


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_every_file_carries_its_mark_and_is_the_same_each_time(table_format: TableFormat) -> None:
    once, again = files(usual(), "run", table_format), files(usual(), "run", table_format)
    assert once == again
    assert all(file.mark in file.content for file in once)
