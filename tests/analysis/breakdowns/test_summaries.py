"""What all summaries promise: windows, statistics, order, and what happens where there is nothing."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import frames
from builders import TraceBuilder
from wallsplit.breakdowns import BREAKDOWNS, tables
from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import overlapping
from wallsplit.errors import TraceError
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model

JSON_ORDER = [
    *("api_summary", "kernel_families", "kernel_summary", "memory_time_summary", "memory_size_summary", "launches"),
    *("nvtx_groups", "nvtx_summary", "nvtx_gpu_projection", "osrt_summary", "graph_replays", "anomalies"),
    "nsys_messages",
]
FAR = Window("w", 10**9, 10**9 + 1)


@pytest.fixture
def full(build: TraceBuilder) -> Model:
    """Return a trace with a row for every table."""
    build.api("cudaLaunchKernel", 0, 5, 1).kernel(10, 20, 1, "k").range("step", 0, 50).osrt("poll", 0, 9)
    build.api("cudaMemcpy", 6, 8, 2).copy(20, 30, 2).api("cudaGraphLaunch", 9, 10, 3).graph(40, 45, 3, graph=8)
    build.add("DIAGNOSTIC_EVENT", timestamp=0, severity=2, text="lost 5 events", globalPid=0)
    return build.api("cudaFree", 60, 61, result=1).model()


def table(model: Model, name: str, window: Window | None = None) -> pl.DataFrame:
    found = tables(model, window)[name]
    assert found is not None
    return found


def test_the_tables_come_in_the_order_of_the_contract(full: Model) -> None:
    assert [b.name for b in BREAKDOWNS] == list(tables(full, None)) == JSON_ORDER
    assert all(b.title for b in BREAKDOWNS)


@pytest.mark.parametrize("breakdown", BREAKDOWNS, ids=lambda b: b.name)
def test_every_table_has_its_rows_in_its_schema(breakdown: Breakdown, full: Model) -> None:
    found = table(full, breakdown.name)
    assert found.height
    assert found.schema == breakdown.schema


@pytest.mark.parametrize("breakdown", BREAKDOWNS, ids=lambda b: b.name)
def test_every_table_without_rows_is_empty_and_in_its_schema(breakdown: Breakdown, full: Model) -> None:
    anywhere = breakdown.name == "nsys_messages"  # they are about the recording, whatever the window
    for nothing in (table(frames.model(), breakdown.name), *([] if anywhere else [table(full, breakdown.name, FAR)])):
        assert nothing.schema == breakdown.schema
        assert nothing.is_empty()


def test_a_table_the_trace_cannot_give_is_none(full: Model) -> None:
    found = tables(replace(full, lacking=frozenset({"kernels.correlation_id"})), None)
    assert [name for name, rows in found.items() if rows is None] == ["launches"]


@pytest.mark.parametrize(
    ("start", "end", "inside"),
    [
        (0, 10, False),  # ends where the window starts
        (0, 11, True),
        (19, 30, True),
        (20, 30, False),  # starts where it ends
        (0, 30, True),
        (10, 10, True),  # nothing long, but in it
        (20, 20, False),
        (9, 9, False),
    ],
)
def test_a_row_overlaps_a_window_as_half_open_intervals_do(start: int, end: int, *, inside: bool) -> None:
    assert overlapping(pl.DataFrame({"start": [start], "end": [end]}), Window("w", 10, 20)).height == inside


def test_a_window_keeps_rows_at_full_length(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 100).api("cudaMalloc", 200, 300)
    assert table(build.model(), "api_summary", Window("w", 90, 95)).row(0, named=True)["total_ns"] == 100


def test_statistics_are_the_samples_and_0_deviation_for_one(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 1).api("cudaMalloc", 10, 13).api("cudaMalloc", 20, 28).api("cudaFree", 30, 34)
    malloc, free = table(build.model(), "api_summary").drop("class", "share_ratio").rows()
    assert malloc == ("cudaMalloc", 3, 12, 4.0, 3.0, 1, 8, pytest.approx(13**0.5))
    assert free == ("cudaFree", 1, 4, 4.0, 4.0, 4, 4, 0.0)


def test_shares_are_of_what_is_listed_and_unknown_where_that_is_nothing(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 30).api("cudaFree", 50, 60).range("instant", 7, 7)
    model = build.model()
    assert table(model, "api_summary")["share_ratio"].to_list() == [0.75, 0.25]
    assert table(model, "nvtx_summary")["share_ratio"].to_list() == [None]


def test_the_largest_come_first_and_equal_ones_by_name(build: TraceBuilder) -> None:
    for i, (name, ns) in enumerate([("b", 5), ("c", 9), ("a", 5)]):
        build.osrt(name, 100 * i, 100 * i + ns)
    assert table(build.model(), "osrt_summary")["name"].to_list() == ["c", "a", "b"]


def test_an_api_call_keeps_its_class_by_name_even_while_it_records_a_graph(build: TraceBuilder) -> None:
    build.api("cudaStreamBeginCapture", 0, 1).api("cudaLaunchKernel", 2, 4).api("cudaStreamEndCapture", 5, 6)
    classes = dict(table(build.model(), "api_summary").select("name", "class").rows())
    assert classes["cudaLaunchKernel"] == "launch"


def test_kernels_are_summed_over_processes_and_devices_by_demangled_name(build: TraceBuilder) -> None:
    build.kernel(0, 5, name="k<int>", pid=1).kernel(0, 7, name="k<int>", pid=2, device=1).kernel(0, 1, name="k<float>")
    assert table(build.model(), "kernel_summary").select("name", "count", "total_ns").rows() == [
        ("k<int>", 2, 12),
        ("k<float>", 1, 1),
    ]


def test_sizes_are_of_the_operations_that_record_one(build: TraceBuilder) -> None:
    build.copy(0, 1, size=8).copy(1, 2, size=4).memset(2, 3)
    build.rows["CUPTI_ACTIVITY_KIND_MEMCPY"][1]["bytes"] = None
    build.rows["CUPTI_ACTIVITY_KIND_MEMSET"][0]["bytes"] = None
    figures = table(build.model(), "memory_size_summary").select("operation", "count", "total_bytes", "stddev_bytes")
    assert figures.rows() == [("[CUDA memcpy Host-to-Device]", 2, 8, 0.0), ("[CUDA memset]", 1, None, None)]


def test_start_end_and_push_pop_ranges_of_one_name_are_two_rows(build: TraceBuilder) -> None:
    build.range("a", 0, 5).range("a", 0, 9, event_type=60).range("a", 0, 2, event_type=71).range(
        "a", 0, 4, event_type=70
    )
    assert table(build.model(), "nvtx_summary").select("style", "count", "total_ns").rows() == [
        ("StartEnd", 2, 11),
        ("PushPop", 2, 9),
    ]


def test_graph_replays_are_listed_by_process_device_and_graph(build: TraceBuilder) -> None:
    build.graph(0, 5, graph=7).graph(5, 12, graph=7).graph(0, 1, graph=7, device=1).graph(0, 2, graph=8)
    assert table(build.model(), "graph_replays").select("pid", "device", "graph", "count", "total_ns").rows() == [
        (1, 0, 7, 2, 12),
        (1, 0, 8, 1, 2),
        (1, 1, 7, 1, 1),
    ]


def test_marks_of_where_tracing_started_are_no_os_runtime_calls(build: TraceBuilder) -> None:
    build.osrt("poll", 0, 5).osrt("OS runtime libraries profiling started", 0, 0)
    for row, event_class in zip(build.rows["OSRT_API"], (27, 31), strict=True):
        row["eventClass"] = event_class
    assert table(build.model(), "osrt_summary")["name"].to_list() == ["poll"]


def test_sums_beyond_64_bits_are_refused_not_wrapped(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    for _ in range(2**8):
        build.kernel(0, 2**55)
    with pytest.raises(
        TraceError, match="the ns of 256 rows add up to more than 64 bits hold, as those of no recording"
    ):
        tables(build.model(), None)


def test_one_absurd_row_refuses_no_trace(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").copy(0, 1, size=2**62).copy(1, 2, size=2**62).copy(2, 4, size=8)
    model = build.copy(3, 2**62 - 1).copy(-(2**62) + 1, 2**62).model()
    assert table(model, "memory_size_summary")["total_bytes"].to_list() == [8]
    assert table(model, "memory_time_summary")["total_ns"].to_list() == [4]
    assert table(model, "anomalies").rows()[-2:] == [
        ("impossible_size", 2, "copies, sets and allocations of a size that no memory has"),
        ("unusable_rows", 2, "rows of CUPTI_ACTIVITY_KIND_MEMCPY with a missing or reversed end or an impossible time"),
    ]
