"""Idle time, its gaps and the causes of every instant: by hand, and against looking at each tick."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from host_by_ticks import TICK, Tick, cause, in_order, summed, ticks
from host_rows import Rows, model_of, traces
from shared_traces import TRACES, needs_shared_traces
from wallsplit.errors import LedgerError
from wallsplit.ledger.activity import Activity, activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.host import host_timelines, on_driving_threads
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.pieces import Pieces, pieces
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace
from wallsplit.why.causes import CAUSES, Instant, cause_of, cause_timeline
from wallsplit.why.gaps import LENGTH_CLASSES, LONGEST, IdleGaps, idle_gaps
from wallsplit.why.idle import idle_causes
from wallsplit.why.idle_time import IdleTime, causes_of, idle_time

US, MS = 1_000, 1_000_000
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def parts(model: Model, window: Window) -> list[tuple[Activity, Pieces, Ledger]]:
    every = activities(model)
    return [
        (activity, pieces(activity, host, window), book(activity, [window])[0])
        for activity, host in zip(every, host_timelines(model, every), strict=True)
    ]


def only(model: Model, window: Window | None = None) -> tuple[Activity, Pieces, Ledger]:
    chosen = window or default_window(model)
    assert chosen is not None
    (one,) = parts(model, chosen)
    return one


def causes(model: Model, window: Window | None = None) -> dict[str, int]:
    """Return the causes, of the only ledger, that are not zero."""
    activity, cut, _ = only(model, window)
    return {name: ns for name, ns in cause_timeline(cut, activity, model.names).window().items() if ns}


def gaps(model: Model) -> IdleGaps:
    activity, cut, ledger = only(model)
    return gaps_of(model, activity, cut, ledger)


def gaps_of(model: Model, activity: Activity, cut: Pieces, ledger: Ledger) -> IdleGaps:
    return idle_gaps(model, activity, model.annotations.where(*on_driving_threads(activity)), cut, ledger)


def idle_times(model: Model, window: Window) -> list[IdleTime]:
    every = activities(model)
    return [
        idle_time(model, activity, host, cut, causes_of(model, activity, cut), ledger)
        for host, (activity, cut, ledger) in zip(host_timelines(model, every), parts(model, window), strict=True)
    ]


# ------------------------------------------------------------------------------------------- causes, by hand


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        (Instant("gpu.graph"), "work"),
        (Instant("gpu.memset"), "transfer"),
        (Instant("gpu.other", elsewhere=True), "shared_gpu"),
        (Instant("cuda.sync", elsewhere=True, gap_ns=5 * MS), "other_device"),
        (Instant("cuda.launch", elsewhere=True), "launch"),
        (Instant("cuda.sync", "before", gap_ns=MS), "unseen_wait"),
        (Instant("cuda.sync", gap_ns=MS - 1), "sync"),
        (Instant("cuda.profiler", "before"), "startup"),
        (Instant("cuda.alloc", "after"), "teardown"),
        (Instant("cuda.launch", first_launch=True), "loading"),
        (Instant("cuda.memset"), "transfer"),
        (Instant("cuda.latency", gap_ns=100 * US - 1), "launch"),
        (Instant("cuda.latency", gap_ns=100 * US), "device_wait"),
        (Instant("host", phase="data"), "data"),
        (Instant("host", phase="mpi", waits=True, gap_ns=MS), "comm"),
        (Instant("host", phase="setup", gap_ns=MS), "startup"),
        (Instant("host", phase="forward", gap_ns=MS), "host"),
        (Instant("host", gap_ns=100 * US, gap_ends_in_input=True, waits=True), "input"),
        (Instant("host", gap_ns=100 * US, waits=True), "blocked"),
        (Instant("host", gap_ns=100 * US - 1, gap_ends_in_input=True, waits=True), "launch"),
        (Instant("cuda.other", gap_ns=MS), "launch"),
    ],
)
def test_the_first_question_answered_yes_names_the_cause(instant: Instant, expected: str) -> None:
    assert cause_of(instant) == expected


def test_a_main_thread_asleep_for_its_loader_is_blocked(build: TraceBuilder) -> None:
    """90 of every 100 ms in pthread_cond_timedwait, then 8 ms of kernel; the rest of each pause is host code."""
    for turn in range(20):
        t = 100 * MS * turn
        build.osrt("pthread_cond_timedwait", t, t + 90 * MS)
        build.api("cudaLaunchKernel", t + 91 * MS, t + 91 * MS + 5 * US, corr=turn + 1)
        build.kernel(t + 91 * MS + 10 * US, t + 99 * MS, corr=turn + 1)
        build.api("cudaStreamSynchronize", t + 91 * MS + 20 * US, t + 99 * MS + 5 * US)
    found = causes(build.model())
    assert found["blocked"] == 19 * 90 * MS
    assert found["work"] == 20 * (8 * MS - 10 * US)
    assert found["host"] == 19 * (2 * MS - 5 * US)


def test_waiting_for_another_rank_is_communication(build: TraceBuilder) -> None:
    for turn in range(20):
        t = 10 * MS * turn
        build.api("cudaLaunchKernel", t, t + 5 * US, corr=turn + 1).kernel(t + 10 * US, t + 2 * MS, corr=turn + 1)
        wait = {"start": t + 2 * MS + 10 * US, "end": t + 9_900 * US}
        build.add("MPI_OTHER_EVENTS", **wait, globalTid=1 << 48 | 1 << 24 | 1, textId=build.string("MPI_Waitall"))
    assert causes(build.model())["comm"] == 19 * 7_890 * US


def test_a_pause_that_a_batch_from_the_host_ends_is_probably_input(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(1, 10, corr=1)
    build.api("cudaMemcpyAsync", 200 * US, 200 * US + 5, corr=2).copy(200 * US + 5, 200 * US + 20, corr=2, size=4_096)
    build.api("cudaMemcpyAsync", 400 * US, 400 * US + 5, corr=3).copy(400 * US + 5, 400 * US + 20, corr=3, size=4_095)
    found = causes(build.model())
    assert (found["input"], found["host"]) == (200 * US - 10, 200 * US - 20)


def test_a_long_wait_while_nothing_runs_is_for_something_unseen(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 10, corr=1).api("cudaDeviceSynchronize", 10, 10 + MS)
    assert causes(build.model()) == {"work": 5, "startup": 5, "unseen_wait": MS}


def test_the_first_launch_of_a_kernel_is_loading_and_the_next_is_not(build: TraceBuilder) -> None:
    build.kernel(0, 10, name="other")
    for number, start in enumerate((20, 40)):
        build.api("cudaLaunchKernel", start, start + 5, corr=number + 1).kernel(start + 5, start + 10, corr=number + 1)
    assert causes(build.model()) == {"work": 20, "loading": 5, "launch": 15 + 10}


def test_while_another_device_of_the_process_works_this_one_waits_for_it(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(1, 10, corr=1, device=0).kernel(10, 30, device=1)
    build.kernel(30, 40, device=0).api("cudaEventRecord", 39, 40)
    model = build.model()
    first, second = parts(model, Window("w", 0, 40))
    assert cause_timeline(first[1], first[0], model.names).window()["other_device"] == 20
    assert cause_timeline(second[1], second[0], model.names).window()["other_device"] == 9 + 10


def test_a_cause_timeline_is_asked_about_times_inside_it_only(build: TraceBuilder) -> None:
    activity, cut, _ = only(build.kernel(0, 10).kernel(20, 30).model())
    timeline = cause_timeline(cut, activity, build.model().names)
    assert timeline.between(5, 25)["work"] == 10
    with pytest.raises(LedgerError, match="the causes of 5 ns to 31 ns sum to 25 ns"):
        timeline.between(5, 31)


# ------------------------------------------------------------------------------------------- gaps, by hand


def test_a_gap_names_what_lies_on_either_side_and_the_call_behind_the_next(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 10, corr=1, name="first<int>").memset(8, 10)
    build.range("epoch", 0, 200).range("load", 20, 90).range("peek", 30, 40)
    build.api("cudaMemcpyAsync", 95, 99, corr=2, tid=7).copy(100, 120, corr=2, kind=2).kernel(100, 130, corr=3)
    found = gaps(build.model())
    (gap, start) = found.longest
    assert (gap.start_ns, gap.end_ns, gap.position, gap.range) == (10, 100, "between", "load")
    beside = gap.neighbours
    assert (beside.previous, beside.next) == ("[memset]", "[memcpy DtoH]")
    assert beside.next_call is not None
    assert vars(beside.next_call) == {"name": "cudaMemcpyAsync", "tid": 7, "start_ns": 95, "end_ns": 99}
    assert (gap.cause, gap.by_account) == ("host", {"cuda.memcpy": 4, "cuda.latency": 1, "host": 85})
    assert (start.position, start.neighbours.previous, start.neighbours.next) == ("before", None, "first")


def test_gaps_are_counted_by_length_on_the_limits_of_their_classes(build: TraceBuilder) -> None:
    build.kernel(0, 1).kernel(1 + 999, 1_001).kernel(1_001 + 1_000, 2_002).kernel(2_002 + 10_000, 12_003)
    found = gaps(build.model())
    counted = {each.name: (each.count, each.total_ns) for each in found.histogram if each.count}
    assert counted == {"<1us": (1, 999), "1-10us": (1, 1_000), "10-100us": (1, 10_000)}
    assert (found.count, found.total_ns) == (3, 11_999)


def test_only_the_longest_gaps_are_looked_into_the_earliest_of_equal_ones_first(build: TraceBuilder) -> None:
    for number in range(30):
        build.kernel(20 * number, 20 * number + 10)
    build.kernel(620, 630)  # after a gap of 30
    longest = gaps(build.model()).longest
    assert len(longest) == LONGEST
    assert [gap.start_ns for gap in longest] == [590, *(20 * number + 10 for number in range(LONGEST - 1))]


def test_a_gap_in_which_only_another_process_works_says_so(build: TraceBuilder) -> None:
    build.kernel(0, 10).kernel(10, 50, pid=2).kernel(50, 60)
    model = build.model()
    (activity, cut, ledger), _ = parts(model, Window("cuda", 0, 60))
    (gap,) = gaps_of(model, activity, cut, ledger).longest
    assert (gap.cause, gap.by_account, gap.parts.height) == ("gpu.other", {"gpu.other": 40}, 0)


# ------------------------------------------------------------------------------------------- sums that must hold


def test_sums_that_miss_the_ledger_are_refused(build: TraceBuilder) -> None:
    model = build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 10, corr=1).kernel(20, 30).model()
    activity, cut, ledger = only(model)
    wrong = replace(ledger, gpu_busy_ns=14)
    with pytest.raises(LedgerError, match="the causes of idle time sum to 15 ns, it is 16 ns"):
        idle_causes(cut, model.names, wrong)
    with pytest.raises(LedgerError, match="its idle gaps sum to 15 ns, their accounts to 15 ns, idle are 16 ns"):
        gaps_of(model, activity, cut, wrong)


# ------------------------------------------------------------------------------------------- tick by tick


@quick
@given(traces)
def test_idle_time_its_gaps_and_every_instant_are_what_each_tick_says(tmp_path: Path, rows: Rows) -> None:
    model = model_of(tmp_path, rows)
    window, every = default_window(model), activities(model)
    if window is None:
        return
    for activity, cut, ledger in parts(model, window):
        expected = ticks(model, activity, every, window)
        idle = [tick for tick in expected if tick.account not in {"gpu.other"} and tick.gap]
        found = {row[:-1]: row[-1] for row in idle_causes(cut, model.names, ledger).iter_rows()}
        assert found == summed(tick.combination for tick in idle)
        _same_gaps(gaps_of(model, activity, cut, ledger), expected)
        if activity.device is not None:
            timeline = cause_timeline(cut, activity, model.names)
            assert {name: ns for name, ns in timeline.window().items() if ns} == summed(map(cause, expected))


def _same_gaps(found: IdleGaps, expected: list[Tick]) -> None:
    spans = sorted({tick.gap for tick in expected if tick.gap}, key=lambda gap: (gap[0] - gap[1], gap[0]))
    assert (found.count, found.total_ns) == (len(spans), sum(end - start for start, end in spans))
    assert [(gap.start_ns, gap.end_ns) for gap in found.longest] == spans[:LONGEST]
    limits = dict(LENGTH_CLASSES)
    for each in found.histogram:
        shorter = [limit for limit in limits.values() if limit > limits[each.name]]
        inside = [g for g in spans if limits[each.name] <= g[1] - g[0] < min([1 << 62, *shorter])]
        assert each.count == len(inside)
        assert each.by_account == in_order(summed(tick.account for tick in expected if tick.gap in inside))
    for gap in found.longest:
        inside_gap = [tick for tick in expected if tick.gap == (gap.start_ns, gap.end_ns)]
        combinations = summed(tick.combination for tick in inside_gap if tick.account != "gpu.other")
        first = sorted(combinations.items(), key=lambda item: (-item[1], str(item[0])))[:8]
        assert [(row[:-1], row[-1]) for row in gap.parts.iter_rows()] == first
        ranges = Counter(tick.range for tick in inside_gap if tick.range)
        assert gap.range == min(ranges, key=lambda name: (-ranges[name], name), default=None)


@quick
@given(traces, st.integers(0, 70), st.integers(0, 70))
def test_causes_between_any_two_times_add_up_to_those_of_the_window(
    tmp_path: Path, rows: Rows, one: int, other: int
) -> None:
    model = model_of(tmp_path, rows)
    window, every = default_window(model), activities(model)
    if window is None:
        return
    low, high = sorted(min(max(at * TICK, window.start_ns), window.end_ns) for at in (one, other))
    for activity, cut, _ in parts(model, window):
        if activity.device is None:
            continue
        timeline = cause_timeline(cut, activity, model.names)
        bounds = (window.start_ns, low, high, window.end_ns)
        sums = [timeline.between(start, end) for start, end in pairwise(bounds)]
        assert {name: sum(each[name] for each in sums) for name in CAUSES} == timeline.window()
        inside = [tick for tick in ticks(model, activity, every, window) if low <= tick.start < high]
        assert {name: ns for name, ns in sums[1].items() if ns} == summed(map(cause, inside))


@quick
@given(traces, st.integers(-(10**15), 10**15))
def test_shifting_time_and_permuting_rows_change_nothing(tmp_path: Path, rows: Rows, shift: int) -> None:
    def told(model: Model, moved: int = 0) -> list[object]:
        window = default_window(model)
        if window is None:
            return []
        return [_told(idle, moved) for idle in idle_times(model, window)]

    expected = told(model_of(tmp_path, rows))
    assert told(model_of(tmp_path, rows, shift=shift), shift) == expected
    assert told(model_of(tmp_path, rows, backwards=True)) == expected


def _told(idle: IdleTime, moved: int) -> object:
    """Return all of an idle time, on a clock that is later by `moved` ns, as something to compare."""
    assert idle.gaps is not None
    longest = [
        (gap.start_ns - moved, gap.end_ns - moved, gap.by_account, gap.parts.rows(), gap.range, gap.neighbours.next)
        for gap in idle.gaps.longest
    ]
    rows = idle.idle_causes.rows()
    return idle.idle_ns, idle.host_parts, idle.host_measured, rows, idle.causes, idle.gaps.histogram, longest


# ------------------------------------------------------------------------------------------- real traces


@needs_shared_traces
@pytest.mark.parametrize("name", ["mpi4_v100_openacc", "torch_2xh100_1s_orphans", "wsl_no_kernels_4060"])
def test_the_two_sides_of_a_cut_through_a_real_trace_add_up(name: str) -> None:
    model = load(Trace.open(TRACES[name]))
    window = default_window(model)
    assert window is not None
    middle = (window.start_ns + window.end_ns) // 2
    halves = [Window("left", window.start_ns, middle), Window("right", middle, window.end_ns)]
    whole, left, right = (idle_times(model, each) for each in (window, *halves))
    for all_of_it, *sides in zip(whole, left, right, strict=True):
        both: Counter[str] = Counter()
        for side in sides:
            both.update(side.host_parts)
        assert both == all_of_it.host_parts
        assert sum(side.idle_ns for side in sides) == all_of_it.idle_ns
