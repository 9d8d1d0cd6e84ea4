"""How work reaches the GPU, planted by hand; the depth of the queue also nanosecond by nanosecond."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from gpu_use import cut, only_activity, whole
from shared_traces import CASES, needs_shared_traces
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model, load
from wallsplit.trace import Trace
from wallsplit.why.launch import Launch, launch, table
from wallsplit.why.spread import Spread, median, spread
from wallsplit.words.gpu_use import full_queue_note

US = 1_000


def launches(model: Model, window: Window | None = None, steps: list[int] | None = None) -> Launch:
    activity, selected = only_activity(model), window or whole(model)
    found = launch(activity, selected, np.array(steps or [], np.int64), cut(model, activity, selected))
    assert found is not None
    return found


def test_a_launch_has_the_time_of_its_call_the_latency_to_its_kernel_and_the_queue_between(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(30, 50, corr=1)
    build.api("cudaLaunchKernel", 20, 26, corr=2).kernel(25, 60, corr=2)  # on the GPU before its call returns: no queue
    found = launches(build.model())
    assert found.api == Spread(count=2, med_ns=8.0, p95_ns=10, p99_ns=10, max_ns=10, total_ns=16)
    assert found.latency == Spread(count=2, med_ns=17.5, p95_ns=30, p99_ns=30, max_ns=30, total_ns=35)
    assert found.queue == Spread(count=1, med_ns=20.0, p95_ns=20, p99_ns=20, max_ns=20, total_ns=20)


def test_one_call_that_launches_many_nodes_is_one_launch_up_to_its_first_node(build: TraceBuilder) -> None:
    build.api("cudaGraphLaunch", 0, 5, corr=1)
    build.kernel(40, 50, corr=1, graphNodeId=2).kernel(20, 30, corr=1, graphNodeId=1)
    found = launches(build.model())
    assert (found.count, found.latency.max_ns) == (1, 20)
    assert found.small.shorter_than_call_ratio is None  # a node has no call of its own


def test_captured_launches_and_those_without_gpu_work_are_no_launches(build: TraceBuilder) -> None:
    build.api("cudaStreamBeginCapture", 0, 1).api("cudaLaunchKernel", 2, 3, corr=1).api("cudaStreamEndCapture", 4, 5)
    build.api("cudaLaunchKernel", 6, 7, corr=2).kernel(10, 20, corr=1).memset(20, 30, corr=2)
    activity, window = only_activity(model := build.model()), whole(model)
    assert launch(activity, window, np.empty(0, np.int64), cut(model, activity, window)) is None


def test_the_first_launch_of_each_kernel_name_and_graph_is_told_apart(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 7, corr=1).kernel(10, 20, corr=1, name="a")
    build.api("cudaLaunchKernel", 20, 21, corr=2).kernel(22, 24, corr=2, name="a")
    build.api("cudaLaunchKernel", 30, 35, corr=3).kernel(36, 38, corr=3, name="b")
    build.api("cudaGraphLaunch", 40, 43, corr=4).graph(46, 48, corr=4, graph=9)
    build.api("cudaGraphLaunch", 50, 52, corr=5).graph(56, 58, corr=5, graph=9)
    first = launches(build.model()).first
    assert first == Spread(count=3, med_ns=5.0, p95_ns=7, p99_ns=7, max_ns=7, total_ns=15)


def test_operations_without_a_call_do_not_deepen_the_queue(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(20, 60, corr=1).kernel(30, 100)
    depth = launches(build.model()).depth
    assert (depth.max, depth.mean, depth.empty_ns, depth.one_ns) == (1, 0.6, 40, 60)


def test_a_queue_of_32_operations_is_deep(build: TraceBuilder) -> None:
    for number in range(32):
        build.api("cudaLaunchKernel", number, number + 1, corr=number).kernel(100 + number, 101 + number, corr=number)
    depth = launches(build.model()).depth
    assert (depth.max, depth.deep_ns, depth.shallow_ns, depth.one_ns) == (32, 101 - 31, 60, 2)


def queue_of(build: TraceBuilder, pending: int, slow: int) -> Launch:
    """Return the launches of a trace in which `pending` kernels are queued when a call of `slow` ns begins."""
    for number in range(1, pending + 1):
        build.api("cudaLaunchKernel", number * US, number * US + 500, corr=number).kernel(10**9, 10**9 + 1, corr=number)
    start = (pending + 1) * US
    build.api("cudaLaunchKernel", start, start + slow, corr=999).kernel(10**9 + 1, 10**9 + 2, corr=999)
    return launches(build.model())


def test_a_slow_launch_into_a_full_queue_waited_for_room(build: TraceBuilder) -> None:
    pressed = queue_of(build, 255, 20 * US).backpressure
    assert (pressed.count, pressed.total_ns, pressed.depth_med) == (1, 20 * US, 256.0)  # itself included


@pytest.mark.parametrize(("pending", "slow"), [(254, 20 * US), (255, 20 * US - 1)])
def test_a_launch_with_room_in_the_queue_or_that_is_quick_did_not_wait(
    build: TraceBuilder, pending: int, slow: int
) -> None:
    assert queue_of(build, pending, slow).backpressure.count == 0


@needs_shared_traces
def test_launches_of_ten_milliseconds_into_a_queue_of_a_thousand_are_explained() -> None:
    """The GPU is busy meanwhile: the host is ahead, and nothing is lost."""
    model = load(Trace.open(CASES["18_launch_queue_full"]))
    (note,) = full_queue_note(10, launches(model).backpressure, whole(model).wall_ns)
    assert "launch queue was full (about 1,000 operations pending)" in note.text


def test_kernels_shorter_than_their_calls_and_than_10_us_are_small(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5 * US, corr=1).kernel(6 * US, 8 * US, corr=1)
    build.api("cudaLaunchKernel", 8 * US, 9 * US, corr=2).kernel(10 * US, 20 * US, corr=2).kernel(20 * US, 24 * US)
    small = launches(build.model()).small
    assert small.kernel_med_ns == 4.0 * US
    assert (small.shorter_than_call_ratio, small.under_10us_ratio) == (0.5, 2 / 3)


def test_launches_per_step_lie_between_the_starts_of_steps_on_the_host(build: TraceBuilder) -> None:
    for number, start in enumerate([0, 10, 20, 30, 32, 34, 50]):
        build.api("cudaLaunchKernel", start, start + 1, corr=number).kernel(start + 5, start + 6, corr=number)
    model = build.model()
    assert launches(model, steps=[0, 20, 32, 50]).per_step_med == 2.0
    assert launches(model, steps=[0]).per_step_med is None


def test_only_gaps_below_100_us_between_operations_could_be_closed_by_graphs(build: TraceBuilder) -> None:
    """A gap of 100 us less one counts, one of 100 us does not, nor does what comes before the first operation."""
    build.api("cudaLaunchKernel", 0, 10 * US, corr=1).kernel(20 * US, 30 * US, corr=1)
    build.api("cudaStreamSynchronize", 31 * US, 40 * US)
    build.api("cudaLaunchKernel", 50 * US, 60 * US, corr=2).kernel(130 * US - 1, 140 * US, corr=2)
    build.kernel(240 * US, 250 * US)
    found = launches(build.model())
    assert found.short_gaps_ns == {
        "cuda.launch": 10 * US,
        "cuda.latency": 70 * US - 1,
        "cuda.sync": 9 * US,
        "host": 11 * US,
    }
    assert found.graph_saving_upper_ns == 91 * US - 1  # all but the wait's tail


def test_a_window_counts_the_launches_that_begin_in_it(build: TraceBuilder) -> None:
    for number in range(4):
        build.api("cudaLaunchKernel", 10 * number, 10 * number + 1, corr=number)
        build.kernel(10 * number + 5, 10 * number + 8, corr=number)
    model = build.model()
    counts = [launches(model, Window("part", a, b)).count for a, b in [(0, 11), (11, 38), (0, 38)]]
    assert counts == [2, 2, 4]
    assert launches(model, Window("part", 5, 15)).depth.one_ns == 3 + 5


def test_the_table_has_a_row_per_ledger_with_launches(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(30, 50, corr=1)
    (row,) = table([(1, 0, launches(build.model())), (2, None, None)]).iter_rows(named=True)
    assert (row["count"], row["latency_max_ns"], row["depth_one_ns"], row["backpressure_count"]) == (1, 30, 50, 0)


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=40))
def test_percentiles_are_the_smallest_value_with_that_share_at_or_below_it(values: list[int]) -> None:
    found = spread(np.array(values, np.int64))
    assert found is not None
    for share, value in ((0.95, found.p95_ns), (0.99, found.p99_ns)):
        enough = [v for v in values if sum(w <= v for w in values) >= share * len(values)]
        assert value == min(enough)
    assert found.med_ns == float(np.median(values)) == median(np.array(values, np.int64))
    assert (found.max_ns, found.total_ns) == (max(values), sum(values))


work = st.tuples(st.integers(0, 30), st.integers(0, 5), st.integers(0, 30), st.integers(0, 10))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(work, min_size=1, max_size=8), st.integers(0, 30), st.integers(1, 30))
def test_the_depth_at_each_nanosecond_is_what_was_handed_over_and_has_not_ended(
    tmp_path: Path, rows: list[tuple[int, int, int, int]], start: int, length: int
) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").api("cudaLaunchKernel", start, start, corr=99).kernel(90, 91, corr=99)
    for number, (call, lasts, begins, runs) in enumerate(rows):
        build.api("cudaMemsetAsync", call, call + lasts, corr=number).memset(begins, begins + runs, corr=number)
    spans = [(start, 91), *((call, begins + runs) for call, _, begins, runs in rows)]
    ticks = [sum(a <= t < b for a, b in spans) for t in range(start, start + length)]
    depth = launches(build.model(), Window("part", start, start + length)).depth
    assert depth.max == max(ticks)
    assert depth.mean == pytest.approx(sum(ticks) / length)
    assert (depth.empty_ns, depth.one_ns) == (ticks.count(0), ticks.count(1))
    assert (depth.shallow_ns, depth.deep_ns) == (sum(t >= 2 for t in ticks), 0)
