"""Launches by hand, and against a loop over every pair of kernel and call."""

from collections import defaultdict
from statistics import mean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frames
from builders import TraceBuilder
from wallsplit.breakdowns import launches
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model

Figures = tuple[float | None, ...]
PARTS = ("api", "queue", "kernel", "total")


def rows(model: Model, window: Window | None = None) -> list[dict[str, object]]:
    return launches.compute(model, window).to_dicts()


def test_a_launch_is_its_call_its_wait_its_kernel_and_all_of_them(build: TraceBuilder) -> None:
    (row,) = rows(build.api("cudaLaunchKernel", 10, 15, 1, pid=3, tid=4).kernel(40, 70, 1, "k", 3, 2).model())
    assert [row[key] for key in launches.KEYS] == [3, 4, 2, "cudaLaunchKernel", "k"]
    assert [row[f"{part}_max_ns"] for part in PARTS] == [5, 25, 30, 60]
    assert (row["count"], row["queue_count"], row["shared_call"]) == (1, 1, False)


def test_a_kernel_that_starts_as_its_call_ends_waited_zero(build: TraceBuilder) -> None:
    (row,) = rows(build.api("cudaLaunchKernel", 10, 15, 1).kernel(15, 70, 1).model())
    assert (row["queue_count"], row["queue_avg_ns"], row["queue_stddev_ns"]) == (1, 0, 0)


def test_a_kernel_that_starts_during_its_call_has_no_wait_at_all(build: TraceBuilder) -> None:
    (row,) = rows(build.api("cudaLaunchKernel", 10, 80, 1).kernel(14, 70, 1).model())
    assert (row["queue_count"], row["queue_avg_ns"], row["queue_min_ns"], row["queue_stddev_ns"]) == (
        0,
        None,
        None,
        None,
    )
    assert row["total_avg_ns"] == 70  # to the end of the call, which is later


def test_kernels_of_one_graph_launch_say_that_they_share_the_call(build: TraceBuilder) -> None:
    build.api("cudaGraphLaunch", 0, 5, 1).kernel(10, 20, 1, "twice").kernel(20, 30, 1, "twice").kernel(
        30, 40, 1, "once"
    )
    assert {(row["kernel_name"], row["count"], row["shared_call"]) for row in rows(build.model())} == {
        ("twice", 2, True),
        ("once", 1, False),
    }


def test_kernels_without_a_call_are_left_out(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, 1).kernel(10, 20, 2).kernel(10, 20, 1, pid=2)
    assert rows(build.model()) == []


def test_a_kernel_with_two_calls_counts_under_each(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, 1).api("cuLaunchKernel", 1, 4, 1).kernel(10, 20, 1)
    assert sorted((row["api_name"], row["count"]) for row in rows(build.model())) == [
        ("cuLaunchKernel", 1),
        ("cudaLaunchKernel", 1),
    ]


def test_a_window_keeps_launches_under_way_in_it(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, 1).kernel(50, 60, 1, "waiting meanwhile")
    build.api("cudaLaunchKernel", 6, 8, 2).kernel(10, 20, 2, "over before")
    assert [row["kernel_name"] for row in rows(build.model(), Window("w", 20, 30))] == ["waiting meanwhile"]


def test_the_longest_on_average_come_first(build: TraceBuilder) -> None:
    for corr, (name, end) in enumerate({"short": 20, "long": 90, "middle": 50}.items()):
        build.api("cudaLaunchKernel", 0, 5, corr).kernel(10, end, corr, name)
    assert [row["kernel_name"] for row in rows(build.model())] == ["long", "middle", "short"]


def statistics_of(values: list[int]) -> Figures:
    return (mean(values), median(values), min(values), max(values)) if values else (None,) * 4


def by_loops(calls: list[frames.Call], kernels: list[frames.Kernel]) -> dict[tuple[object, ...], Figures]:
    groups = defaultdict(list)
    for i, (call_start, call_end, tid, call_corr, api) in enumerate(calls):
        for start, end, corr, name in kernels:
            if corr == call_corr:
                total = max(call_end, end) - call_start
                groups[tid, api, name].append((i, call_end - call_start, start - call_end, end - start, total))
    result: dict[tuple[object, ...], Figures] = {}
    for key, pairs in groups.items():
        call, api_ns, queue, kernel, total_ns = (list(column) for column in zip(*pairs, strict=True))
        waits = [ns for ns in queue if ns >= 0]
        figures = (figure for part in (api_ns, waits, kernel, total_ns) for figure in statistics_of(part))
        result[key] = (len(pairs), len(waits), len(set(call)) < len(call), *figures)
    return result


SPAN = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)
CORRELATION = st.integers(1, 5)
CALLS = st.lists(st.tuples(SPAN, st.integers(1, 2), CORRELATION, st.sampled_from(["cudaLaunchKernel", "cuLaunch"])))
KERNELS = st.lists(st.tuples(SPAN, CORRELATION, st.sampled_from("ab")))


@settings(deadline=None)
@given(CALLS, KERNELS)
def test_they_equal_a_loop_over_all_pairs_of_kernel_and_call(
    calls: list[tuple[list[int], int, int, str]], kernels: list[tuple[list[int], int, str]]
) -> None:
    call_rows = [(start, end, tid, corr, name) for (start, end), tid, corr, name in calls]
    kernel_rows = [(start, end, corr, name) for (start, end), corr, name in kernels]
    columns = [f"{part}_{kind}_ns" for part in PARTS for kind in ("avg", "med", "min", "max")]
    found = {
        (row["tid"], row["api_name"], row["kernel_name"]): tuple(
            row[c] for c in ("count", "queue_count", "shared_call", *columns)
        )
        for row in rows(frames.model(call_rows, kernel_rows))
    }
    assert found == {key: pytest.approx(figures) for key, figures in by_loops(call_rows, kernel_rows).items()}
