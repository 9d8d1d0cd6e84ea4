"""The projection by hand, and against a loop over every range, call and operation."""

from dataclasses import replace
from random import Random
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frames
from builders import TraceBuilder, global_id
from wallsplit.breakdowns import nvtx_gpu_projection
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.model.annotations import Annotations
from wallsplit.model.correlation import Correlation
from wallsplit.schema import NVTX_STYLES, ApiCalls, Kernels

FIGURES = ("count", "gpu_op_count", "projected_total_ns", "range_total_ns", "level_avg", "child_avg")
Figures = dict[str, tuple[float, ...]]


def projection(model: Model, window: Window | None = None) -> Figures:
    """Return FIGURES by `range style`."""
    table = nvtx_gpu_projection.compute(model, window)
    return {f"{row['range']} {row['style']}": tuple(row[f] for f in FIGURES) for row in table.iter_rows(named=True)}


def by_loops(model: Model) -> Figures:
    operations = [row for frame in model.gpu_operations for row in frame.iter_rows(named=True)]
    calls = model.api_calls.to_dicts()
    ranges = []
    for row in model.nvtx.to_dicts():
        inside = {
            (call["pid"], call["correlation_id"])
            for call in calls
            if call["thread"] == row["thread"] and row["start"] <= call["start"] and call["end"] <= row["end"]
        }
        mine = [op for op in operations if (op["pid"], op["correlation_id"]) in inside]
        if mine:
            projected = max(op["end"] for op in mine) - min(op["start"] for op in mine)
            ranges.append({**row, "operations": len(mine), "projected": projected})
    ranges.sort(key=lambda r: (r["thread"], r["start"], -r["end"], r["range"], NVTX_STYLES.index(r["style"])))
    parents = []
    for i, row in enumerate(ranges):
        around = [j for j in range(i) if ranges[j]["thread"] == row["thread"] and ranges[j]["end"] >= row["end"]]
        row["level"] = len(around)
        parents.append(min(around, key=lambda j: (ranges[j]["end"] - ranges[j]["start"], -j), default=-1))
    groups: dict[str, list[tuple[int, ...]]] = {}
    for i, row in enumerate(ranges):
        figures = (row["operations"], row["projected"], row["end"] - row["start"], row["level"], parents.count(i))
        groups.setdefault(f"{model.names[row['range']]} {row['style']}", []).append(figures)
    result: Figures = {}
    for name, rows in groups.items():
        operations_of, projected_of, length_of, level_of, children_of = zip(*rows, strict=True)
        sums = (sum(operations_of), sum(projected_of), sum(length_of))
        result[name] = (len(rows), *sums, mean(level_of), mean(children_of))
    return result


def test_a_range_spans_from_its_first_operation_to_its_last(build: TraceBuilder) -> None:
    build.range("step", 0, 100).api("cudaLaunchKernel", 10, 20, 1).api("cudaMemcpyAsync", 30, 40, 2)
    build.kernel(500, 600, 1).copy(900, 950, 2)
    assert projection(build.model()) == {"step PushPop": (1, 2, 450, 100, 0, 0)}


def test_a_call_that_reaches_out_of_the_range_does_not_belong_to_it(build: TraceBuilder) -> None:
    build.range("step", 10, 100).api("early", 9, 20, 1).api("exact", 10, 100, 2).api("late", 90, 101, 3)
    build.kernel(1, 2, 1).kernel(200, 203, 2).kernel(900, 950, 3)
    assert projection(build.model()) == {"step PushPop": (1, 1, 3, 90, 0, 0)}


def test_a_short_call_inside_a_straddling_one_belongs_to_the_range(build: TraceBuilder) -> None:
    build.range("step", 10, 100).api("straddling", 20, 150, 1).api("within it", 30, 40, 2)
    build.kernel(200, 300, 1).kernel(400, 405, 2)
    assert projection(build.model()) == {"step PushPop": (1, 1, 5, 90, 0, 0)}


@pytest.mark.parametrize("at", [10, 100])
def test_a_call_of_no_length_at_either_end_of_a_range_lies_in_it(build: TraceBuilder, at: int) -> None:
    """Inside a call that straddles that end, so that starts and ends of the calls do not rise together."""
    build.range("step", 10, 100).api("straddling", at - 5, at + 5, 1).api("within it", at, at, 2)
    build.kernel(200, 300, 1).kernel(400, 405, 2)
    assert projection(build.model()) == {"step PushPop": (1, 1, 5, 90, 0, 0)}


def test_ranges_without_operations_are_in_no_count_and_enclose_nothing(build: TraceBuilder) -> None:
    build.range("step", 0, 100).range("step", 200, 300).range("empty", 5, 9).api("cudaLaunchKernel", 10, 20, 1)
    build.kernel(30, 40, 1)
    assert projection(build.model()) == {"step PushPop": (1, 1, 10, 100, 0, 0)}


def test_a_graph_replay_and_every_node_of_a_traced_graph_are_operations(build: TraceBuilder) -> None:
    build.range("whole", 0, 10).api("cudaGraphLaunch", 1, 2, 1).graph(50, 90, 1)
    build.range("nodes", 20, 30).api("cudaGraphLaunch", 21, 22, 2).kernel(100, 110, 2).kernel(120, 130, 2)
    assert projection(build.model()) == {"whole PushPop": (1, 1, 40, 10, 0, 0), "nodes PushPop": (1, 2, 30, 10, 0, 0)}


def test_start_end_and_push_pop_ranges_nest_in_one_another(build: TraceBuilder) -> None:
    build.range("epoch", 0, 100, event_type=60).range("step", 10, 50).api("cudaLaunchKernel", 20, 30, 1)
    build.kernel(40, 45, 1)
    assert projection(build.model()) == {"epoch StartEnd": (1, 1, 5, 100, 0, 1), "step PushPop": (1, 1, 5, 40, 1, 0)}


def test_an_operation_with_two_calls_counts_once_where_a_range_holds_both(build: TraceBuilder) -> None:
    build.range("both", 0, 100).api("cudaMemcpy", 10, 20, 7).api("cudaMemcpy_v3020", 30, 40, 7)
    build.range("one", 25, 90).copy(50, 60, 7)
    assert projection(build.model()) == {"both PushPop": (1, 1, 10, 100, 0, 1), "one PushPop": (1, 1, 10, 65, 1, 0)}


def test_equal_correlation_ids_of_other_processes_stay_apart(build: TraceBuilder) -> None:
    build.range("step", 0, 100).api("cudaLaunchKernel", 10, 20, 7).kernel(30, 40, 7).kernel(500, 600, 7, pid=2)
    assert projection(build.model()) == {"step PushPop": (1, 1, 10, 100, 0, 0)}


def test_a_window_keeps_the_ranges_that_overlap_it_at_full_length_and_level(build: TraceBuilder) -> None:
    build.range("epoch", 0, 1000)
    for i in range(3):
        build.range(f"step{i}", 100 * i, 100 * i + 50).api("cudaLaunchKernel", 100 * i + 10, 100 * i + 20, i + 1)
        build.kernel(100 * i + 30, 100 * i + 40, i + 1)
    assert projection(build.model(), Window("w", 149, 200)) == {
        "epoch PushPop": (1, 3, 210, 1000, 0, 3),
        "step1 PushPop": (1, 1, 10, 50, 1, 0),
    }


def test_times_too_far_apart_for_one_axis_are_still_exact(build: TraceBuilder) -> None:
    for i in range(3 * 99):
        base = (0, 2**54, 2**55 - 200)[i % 3]
        build.range("step", base, base + 100, tid=i).api("cudaLaunchKernel", base + 10, base + 20, i, tid=i)
        build.api("cudaLaunchKernel", base + 99, base + 101, 1_000 + i, tid=i)
        build.kernel(base + 30, base + 40, i).kernel(base + 30, base + 99, 1_000 + i)
    assert projection(build.model()) == {"step PushPop": (297, 297, 2_970, 29_700, 0, 0)}


SPAN = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)
THREAD = st.integers(1, 2)
CORRELATION = st.integers(1, 6)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[frames.Call], list[frames.Kernel], list[frames.Range]]:
    """Return calls that follow, nest, cross and share correlation ids; ranges of both styles that do the same."""
    calls = draw(st.lists(st.tuples(SPAN, THREAD, CORRELATION), max_size=8))
    kernels = draw(st.lists(st.tuples(SPAN, CORRELATION), max_size=8))
    ranges = draw(st.lists(st.tuples(SPAN, THREAD, st.sampled_from("ab"), st.sampled_from(NVTX_STYLES)), max_size=8))
    return (
        [(start, end, tid, correlation, "cudaLaunchKernel") for (start, end), tid, correlation in calls],
        [(20 + start, 20 + end, correlation, "k") for (start, end), correlation in kernels],
        [(start, end, tid, name, style) for (start, end), tid, name, style in ranges],
    )


@settings(deadline=None)
@given(rows())
def test_it_equals_a_loop_over_all_ranges_calls_and_operations(
    rows: tuple[list[frames.Call], list[frames.Kernel], list[frames.Range]],
) -> None:
    model = frames.model(*rows)
    assert projection(model) == {name: pytest.approx(figures) for name, figures in by_loops(model).items()}


@settings(deadline=None)
@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    rows: tuple[list[frames.Call], list[frames.Kernel], list[frames.Range]], random: Random
) -> None:
    model = frames.model(*rows)
    order = [random.sample(range(len(part)), len(part)) for part in rows]
    calls, kernels = model.api_calls[order[0]], model.kernels[order[1]]
    other = replace(
        model,
        api_calls=ApiCalls(calls),
        kernels=Kernels(kernels),
        annotations=Annotations.of_frame(model.nvtx[order[2]]),
        correlation=Correlation.of(calls, (kernels, model.graph_replays, model.memory_ops)),
    )
    assert projection(other) == projection(model)


def test_a_range_that_ends_on_another_thread_lies_on_none(build: TraceBuilder) -> None:
    """As `nsys stats` has it."""
    build.api("cudaLaunchKernel", 10, 20, corr=1).kernel(20, 30, corr=1)
    for name, end_thread in (("stays", global_id(1, 1)), ("crosses", global_id(1, 2)), ("unsaid", None)):
        build.range(name, 0, 100, event_type=60)
        build.rows["NVTX_EVENTS"][-1]["endGlobalTid"] = end_thread
    model = build.model()
    assert projection(model).keys() == {"stays StartEnd", "unsaid StartEnd"}
    assert model.nvtx.height == 3
