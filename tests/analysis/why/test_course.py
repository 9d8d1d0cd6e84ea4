"""The course of a run: the ledger stretch by stretch, and the ranges beside it."""

import numpy as np
import pytest

from builders import TraceBuilder
from sampled import PYTHON, SGEMM
from shared_traces import CASES, TRACES, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.why.course import LANES, MOST_AROUND, STRETCHES, Course


def course_of(analysis: Analysis) -> Course:
    assert analysis.explained
    found = analysis.explained.ledgers[0].course
    assert found
    return found


def names(found: Course) -> list[list[str]]:
    return [[beside.name for beside in lane] for lane in found.lanes]


@needs_shared_traces
@pytest.mark.parametrize("name", [*TRACES, *CASES])
def test_the_stretches_sum_to_the_ledger(name: str) -> None:
    analysis = analyze({**TRACES, **CASES}[name])
    assert analysis.explained
    for ledger, why in zip(analysis.ledgers, analysis.explained.ledgers, strict=True):
        assert why.course
        assert (why.course.ns.sum(axis=1) == np.diff(why.course.bounds)).all()
        totals = dict(zip(why.course.labels, why.course.ns.sum(axis=0).tolist(), strict=True))
        whole = ledger.accounts if why.course.labels == ACCOUNTS else ledger.host_parts
        assert whole
        assert {key: value for key, value in totals.items() if value} == {k: v for k, v in whole.items() if v}


def test_a_stretch_is_a_three_hundredth_and_the_first_begins_with_the_window(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 1_000, 1_010, corr=1).kernel(1_500, 4_000, corr=1)
    found = course_of(analyze(build.write()))
    assert (found.bounds[0], found.bounds[-1], len(found.ns)) == (1_000, 4_000, STRETCHES)
    assert found.ns[0].tolist() == [10 * (account == "cuda.launch") for account in ACCOUNTS]
    assert found.ns[-1].tolist() == [10 * (account == "gpu.kernel") for account in ACCOUNTS]


def test_a_window_of_few_nanoseconds_has_as_many_stretches(build: TraceBuilder) -> None:
    found = course_of(analyze(build.api("cudaLaunchKernel", 0, 3, corr=1).kernel(3, 7, corr=1).write()))
    assert len(found.ns) == 7


def test_ranges_lie_in_lanes_by_their_nesting(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(10, 1_000, corr=1)
    for text, start, end in (("train", 0, 1_000), ("step 1", 0, 500), ("forward", 0, 200), ("op", 0, 100)):
        build.range(text, start, end)
    build.range("step 2", 500, 1_000)
    found = course_of(analyze(build.write()))
    assert names(found) == [["step 1", "step 2"], ["forward"], ["op"]]
    assert len(found.lanes) == LANES


def test_a_range_around_everything_is_shown_where_it_is_the_only_one(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(10, 1_000, corr=1).range("train", 0, 1_000)
    assert names(course_of(analyze(build.write()))) == [["train"]]


def test_levels_below_a_range_around_everything_are_told_apart(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 100_000, corr=1).kernel(0, 10, corr=1)
    for depth, name in enumerate(("everything", "epoch", "step", "layer", "kernel")):
        build.range(name, 10_000 * depth, 100_000 - 10_000 * depth)
    build.range("everything", 0, 100_000)
    assert names(course_of(analyze(build.write()))) == [["epoch"], ["step"], ["layer"]]


def test_no_more_than_a_few_ranges_around_everything_are_passed_over(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(10, 100_000, corr=1)
    for depth in range(MOST_AROUND + 50):
        build.range(f"around {depth}", 0, 100_000 - depth)
    first = MOST_AROUND
    assert names(course_of(analyze(build.write()))) == [[f"around {first + i}"] for i in range(LANES)]


def test_short_ranges_side_by_side_are_shown_as_one(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(10, 100_000, corr=1)
    for i in range(1_000):
        build.range(f"step {i}", 100 * i, 100 * i + 90)
    (lane,) = course_of(analyze(build.write())).lanes
    assert [(beside.name, beside.count) for beside in lane] == [("step 0", 1_000)]


def test_steps_stand_in_for_ranges(build: TraceBuilder) -> None:
    for i in range(20):
        for j in range(3):
            at = 1_000 * i + 100 * j
            build.api("cudaLaunchKernel", at, at + 10, corr=3 * i + j + 1)
            build.kernel(at + 20, at + 90, corr=3 * i + j + 1, name=f"k{j}")
        build.api("cudaDeviceSynchronize", 1_000 * i + 400, 1_000 * i + 500)
    found = course_of(analyze(build.write()))
    assert names(found)[0][:2] == ["step 1", "step 2"]


def test_without_cuda_the_stretches_are_parts_of_host(build: TraceBuilder) -> None:
    build.range("forward", 0, 600).range("backward", 600, 1_000)
    found = course_of(analyze(build.write()))
    totals = {label: ns for label, ns in zip(found.labels, found.ns.sum(axis=0).tolist(), strict=True) if ns}
    assert totals == {"host.forward": 600, "host.backward": 400}


def sampled(build: TraceBuilder, count: int) -> TraceBuilder:
    """Add a run on one CPU whose samples, one a µs, say Python in its first half and arithmetic in its second."""
    end = 1_000 * count
    for i in range(1, count + 1):
        build.sample(1_000 * i - 1, PYTHON if 2 * i <= count else SGEMM)
    build.on_cpu(0, end).sampled_every(1_000, "Software")
    return build.range("step", 0, end // 4).range("step", end // 4, end).osrt("poll", 0, 10).duration(end)


def test_without_cuda_what_the_cpu_was_sampled_in_stands_for_what_has_no_name(build: TraceBuilder) -> None:
    found = course_of(analyze(sampled(build, 1_000).write()))
    totals = dict(zip(found.labels, found.ns.sum(axis=0).tolist(), strict=True))
    assert (found.ns.sum(axis=1) == np.diff(found.bounds)).all()
    assert {name: ns for name, ns in totals.items() if ns} == {
        "host.step": 1,  # behind the last sample
        "sampled.python": 500_000 - 1,
        "sampled.arithmetic": 500_000,
    }
    first = found.ns[: len(found.ns) // 2 - 1, found.labels.index("sampled.arithmetic")]
    assert not first.any()


def test_time_off_the_cpu_is_nothing_that_was_executed(build: TraceBuilder) -> None:
    sampled(build, 1_000).range("epoch", 0, 2_000_000)
    found = course_of(analyze(build.write()))
    assert found.ns[:, found.labels.index("sampled.python")].sum() < 500_000
    assert found.ns[len(found.ns) * 2 // 3 :, len(ACCOUNTS) :].sum() == 0


def test_few_samples_tell_nothing_in_pictures(build: TraceBuilder) -> None:
    assert "sampled.python" not in course_of(analyze(sampled(build, 50).write())).labels


def test_ranges_that_name_a_phase_go_before_samples(build: TraceBuilder) -> None:
    sampled(build, 1_000).range("forward", 10, 200_000)
    found = course_of(analyze(build.write()))
    assert found.ns[:, found.labels.index("host.forward")].sum() == 199_990
