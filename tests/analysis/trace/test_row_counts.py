"""How many rows a table has, without reading it; and which tables nobody asked for."""

import sqlite3
from pathlib import Path

import polars as pl
import pytest

from builders import TraceBuilder
from wallsplit.model import load
from wallsplit.trace import Trace
from wallsplit.trace import sqlite as sqlite_module


def with_rows(path: Path, rows: int, *statements: str, create: str = "CREATE TABLE T (start INT)") -> Trace:
    TraceBuilder(path).api("cudaFree", 0, 1).write()
    with sqlite3.connect(path) as db:
        db.execute(create)
        db.executemany("INSERT INTO T VALUES (?)", [(i,) for i in range(rows)])
        for statement in statements:
            db.execute(statement)
    db.close()
    return Trace.open(path)


@pytest.fixture
def few_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_module, "COUNTED_ROWS", 10)


def test_a_small_table_is_counted_whatever_was_deleted(tmp_path: Path) -> None:
    assert with_rows(tmp_path / "x.sqlite", 50, "DELETE FROM T WHERE start % 2 = 0").source.rows("T") == 25
    assert with_rows(tmp_path / "y.sqlite", 0).source.rows("T") == 0


@pytest.mark.usefixtures("few_are_counted")
def test_a_large_table_has_as_many_rows_as_its_row_ids_span(tmp_path: Path) -> None:
    assert with_rows(tmp_path / "x.sqlite", 1_000).source.rows("T") == 1_000
    assert with_rows(tmp_path / "y.sqlite", 1_000, "DELETE FROM T WHERE start < 400").source.rows("T") == 600


@pytest.mark.usefixtures("few_are_counted")
@pytest.mark.parametrize(
    "create", ["CREATE TABLE T (start INT PRIMARY KEY) WITHOUT ROWID", "CREATE TABLE T (_rowid_ TEXT)"]
)
def test_a_large_table_without_row_ids_of_its_own_is_counted(tmp_path: Path, create: str) -> None:
    assert with_rows(tmp_path / "x.sqlite", 200, create=create).source.rows("T") == 200


@pytest.mark.usefixtures("few_are_counted")
def test_row_ids_that_claim_more_than_the_file_can_hold_are_not_believed(tmp_path: Path) -> None:
    trace = with_rows(tmp_path / "x.sqlite", 20, "UPDATE T SET rowid = 4611686018427387904 WHERE start = 19")
    assert trace.source.rows("T") == 20


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_tables_of_a_folder_are_counted(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"start": [1, 2, 3]})
    for name in ("ANALYSIS_DETAILS", "GPU_METRICS"):
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc_stream(path)
    assert Trace.open(tmp_path).source.rows("GPU_METRICS") == 3


def test_a_table_stands_among_the_unused_ones_until_it_is_scanned(tmp_path: Path) -> None:
    trace = with_rows(tmp_path / "x.sqlite", 3)
    assert trace.not_scanned() == {"T": 3, "CUPTI_ACTIVITY_KIND_RUNTIME": 1, "StringIds": 1}
    trace.scan("StringIds", ["id"])
    assert "StringIds" not in trace.not_scanned()


def test_a_table_without_the_columns_asked_for_gave_nothing(tmp_path: Path) -> None:
    trace = with_rows(tmp_path / "x.sqlite", 3, "ALTER TABLE T RENAME TO OSRT_API")
    trace.scan("OSRT_API", ["nameId"])
    assert trace.not_scanned()["OSRT_API"] == 3


def test_a_model_knows_what_it_did_not_read_and_nothing_of_what_it_did(tmp_path: Path) -> None:
    model = load(with_rows(tmp_path / "x.sqlite", 3, "CREATE TABLE EMPTY (start INT)"))
    assert [(one.table, one.rows) for one in model.not_used] == [("T", 3)]
