"""Idle time as tables that anyone can add up again."""

import polars as pl
import pytest

from builders import TraceBuilder
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.report.tables import frames


@pytest.fixture
def one(build: TraceBuilder) -> Analysis:
    """Two processes on one GPU; the first has ranges and sleeps, the second calls CUDA only."""
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 40, corr=1).range("data", 50, 90).osrt("poll", 80, 120)
    build.api("cudaMemcpy", 150, 190, corr=2).copy(160, 180, corr=2)
    return analyze(build.api("cudaMalloc", 20, 60, pid=2).kernel(100, 110, pid=2).write())


def of_process(frame: pl.DataFrame, pid: int) -> pl.DataFrame:
    return frame.filter(pl.col("pid") == pid)


@pytest.mark.parametrize(("table", "account"), [("host_parts", "host"), ("idle_causes", None), ("causes", "wall")])
def test_each_table_adds_up_to_its_account_of_the_ledger(one: Analysis, table: str, account: str | None) -> None:
    found = frames(one)
    for ledger in one.ledgers:
        mine = of_process(found["ledgers"], ledger.pid)
        busy = mine["gpu_busy_ns"][0] + mine["gpu.other_ns"][0]
        expected = mine[f"{account}_ns"][0] if account else mine["wall_ns"][0] - busy
        assert of_process(found[table], ledger.pid)["ns"].sum() == expected


def test_gaps_by_class_add_up_to_the_idle_time_and_name_every_account_of_it(one: Analysis) -> None:
    found = frames(one)
    classes = of_process(found["idle_gap_classes"], 1)
    accounts = [column for column in classes.columns if column.startswith(("cuda.", "host", "gpu.other"))]
    total = classes["total_ns"].sum()
    assert total == 190 - 28 - 20
    assert sum(classes[account].sum() for account in accounts) == total


def test_a_row_of_the_longest_gaps_says_what_is_on_either_side(one: Analysis) -> None:
    longest = of_process(frames(one)["idle_gaps"], 1).row(0, named=True)
    assert (longest["start_ns"], longest["end_ns"], longest["length_ns"], longest["cause"]) == (40, 160, 120, "host")
    assert (longest["range"], longest["previous"], longest["next"]) == ("data", "k", "[memcpy HtoD]")
    assert (longest["next_call"], longest["next_call_tid"], longest["next_call_start_ns"]) == ("cudaMemcpy", 1, 150)


def test_a_window_of_many_ranges_has_no_idle_tables(build: TraceBuilder) -> None:
    build.kernel(0, 100).range("step", 0, 40).range("step", 50, 90)
    assert "idle_causes" not in frames(analyze(build.write(), "nvtx:step"))
