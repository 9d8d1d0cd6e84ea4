"""Replays: planted programs give what their construction says, and what is not understood is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from builders import TraceBuilder
from shared_traces import TRACES, needs_shared_traces
from wallsplit.comparison.predict.changes import QUESTIONS, Question
from wallsplit.comparison.predict.prediction import Prediction, predictions
from wallsplit.comparison.predict.replay import Change
from wallsplit.errors import ComparisonError
from wallsplit.pipeline import examine

ROOT = Path(__file__).resolve().parents[4]


def predicted(path: Path) -> tuple[Prediction, ...]:
    examined = examine(path)
    return predictions(examined.model, examined.activities)


def answers(prediction: Prediction) -> dict[str, tuple[int, int]]:
    assert prediction.refusals == ()
    return {a.question.name: (round(a.low_ns), round(a.high_ns)) for a in prediction.answers}


def one_by_one(build: TraceBuilder, steps: int = 40) -> TraceBuilder:
    """Add steps of 100 µs: 10 host, 10 launch, 5 of delay, 60 kernel, 15 until the wait returns."""
    for i in range(steps):
        at = 100_000 * i
        build.api("cudaLaunchKernel", at + 10_000, at + 20_000, corr=i).kernel(
            at + 25_000, at + 85_000, corr=i, streamId=7
        )
        build.api("cudaStreamSynchronize", at + 20_000, at + 100_000)
    return build


def launched_ahead(build: TraceBuilder, kernels: int = 40) -> TraceBuilder:
    """Add launches of 10 µs, one after another, of kernels of 50 µs that queue up behind them; one wait at the end."""
    start = 15_000
    for i in range(kernels):
        build.api("cudaLaunchKernel", 10_000 * i, 10_000 * (i + 1), corr=i)
        build.kernel(start, start + 50_000, corr=i, streamId=7)
        start += 51_000
    return build.api("cudaDeviceSynchronize", 10_000 * kernels, start + 4_000)


def full_queue(build: TraceBuilder, kernels: int = 3_000, room: int = 1_000) -> TraceBuilder:
    """Add launches of 5 µs of kernels of 200 µs: from `room` on, each waits until that one before it has begun."""
    begins: list[int] = []
    now = 0
    for i in range(kernels):
        begin = max(now + 10_000, begins[-1] + 201_000 if begins else 0)
        begins.append(begin)
        end = max(now + 5_000, begins[i - room] if i >= room else 0)
        build.api("cudaLaunchKernel", now, end, corr=i).kernel(begin, begin + 200_000, corr=i, streamId=7)
        now = end
    return build


@pytest.mark.parametrize("program", [one_by_one, launched_ahead])
def test_the_unchanged_replay_takes_as_long_as_was_recorded(
    program: Callable[[TraceBuilder], TraceBuilder], tmp_path: Path
) -> None:
    (found,) = predicted(program(TraceBuilder(tmp_path / "x.sqlite")).write())
    assert abs(found.replay_error_ratio) < 0.001
    assert found.unexplained_ratio == 0


def test_a_program_that_waits_for_each_kernel_gains_all_of_their_time(tmp_path: Path) -> None:
    (found,) = predicted(one_by_one(TraceBuilder(tmp_path / "x.sqlite")).write())
    wall = found.wall_ns
    told = answers(found)
    assert wall == 40 * 100_000 - 10_000
    assert told["gpu-x2"] == (wall - 40 * 30_000,) * 2
    assert told["gpu-infinite"] == (wall - 40 * 60_000,) * 2


def test_a_host_that_runs_ahead_costs_nothing_and_faster_kernels_gain_until_it_is_the_limit(tmp_path: Path) -> None:
    (found,) = predicted(launched_ahead(TraceBuilder(tmp_path / "x.sqlite")).write())
    told = answers(found)
    assert told["host-x2"][1] > 0.98 * found.wall_ns
    assert told["gpu-x2"][0] == pytest.approx(found.wall_ns - 40 * 25_000, rel=0.01)
    assert told["gpu-infinite"][0] == pytest.approx(40 * 10_000, rel=0.05)


def test_launches_that_wait_for_room_in_the_queue_are_no_host_time(tmp_path: Path) -> None:
    (found,) = predicted(full_queue(TraceBuilder(tmp_path / "x.sqlite")).write())
    assert found.queue == pytest.approx(1_000, abs=2)
    low, high = answers(found)["gpu-x2"]
    assert low / found.wall_ns == pytest.approx(0.5, abs=0.01)
    assert high / found.wall_ns == pytest.approx(0.5, abs=0.01)


def test_waits_that_return_at_once_let_the_host_run_ahead(tmp_path: Path) -> None:
    (found,) = predicted(one_by_one(TraceBuilder(tmp_path / "x.sqlite")).write())
    assert answers(found)["no-waits"][1] < 0.7 * found.wall_ns


def test_copies_and_communication_are_only_asked_about_where_there_are_some(tmp_path: Path) -> None:
    build = one_by_one(TraceBuilder(tmp_path / "x.sqlite"))
    (found,) = predicted(build.write())
    assert not {"copies-hidden", "comm-hidden"} & set(answers(found))
    build.api("cudaMemcpyAsync", 4_000_000, 4_010_000, corr=900).copy(4_011_000, 4_500_000, corr=900, streamId=7)
    build.api("cudaLaunchKernel", 4_010_000, 4_020_000, corr=901)
    build.kernel(4_501_000, 4_600_000, corr=901, streamId=7, name="ncclDevKernel_AllReduce")
    build.api("cudaStreamSynchronize", 4_020_000, 4_615_000)
    (found,) = predicted(build.write())
    assert {"copies-hidden", "comm-hidden"} <= set(answers(found))
    assert answers(found)["copies-hidden"][0] < found.wall_ns - 80_000


def test_without_a_range_the_hosts_gaps_inside_it_go_and_nothing_else(tmp_path: Path) -> None:
    build = one_by_one(TraceBuilder(tmp_path / "x.sqlite"))
    for i in range(40):  # 4 of the 10 µs before each launch, and all of the launch, which is a call
        build.range(f"load {i}", 100_000 * i + 6_000, 100_000 * i + 20_000)
    examined = examine(build.write())
    (found,) = predictions(examined.model, examined.activities, (), ["load *"])
    assert answers(found) == {"without:load *": (found.wall_ns - 39 * 4_000,) * 2}  # the first lies before any call
    with pytest.raises(ComparisonError, match="without:store: no thread that makes CUDA calls has an NVTX range"):
        predictions(examined.model, examined.activities, (), ["store"])


def test_of_twice_the_batch_each_sample_takes_between_half_and_as_long(tmp_path: Path) -> None:
    (found,) = predicted(one_by_one(TraceBuilder(tmp_path / "x.sqlite")).write())
    low, high = answers(found)["batch-x2"]
    assert (low, high) == (found.wall_ns // 2, (found.wall_ns + 40 * 60_000) // 2)


def test_every_figure_is_an_interval_between_two_replays(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite")
    for i in range(40):
        at, late = 100_000 * i, 3_000 * (i % 5 == 0)
        build.api("cudaLaunchKernel", at, at + 10_000, corr=i).kernel(
            at + 12_000 + late, at + 60_000, corr=i, streamId=7
        )
        build.api("cudaStreamSynchronize", at + 10_000, at + 70_000 + late)
    (found,) = predicted(build.write())
    intervals = answers(found)
    assert all(low <= high for low, high in intervals.values())
    assert intervals["gpu-x2"][0] < intervals["gpu-x2"][1]


def test_long_calls_over_a_working_gpu_that_nothing_explains_are_refused(tmp_path: Path) -> None:
    build = launched_ahead(TraceBuilder(tmp_path / "x.sqlite"), 60)
    for i in range(12):
        build.api("cudaEventRecord", 5_000_000 + 10_000 * i, 5_001_000 + 10_000 * i)
    build.api("cudaLaunchKernel", 6_000_000, 6_010_000, corr=900).kernel(6_015_000, 7_000_000, corr=900, streamId=7)
    build.api("cudaEventRecord", 6_010_000, 6_700_000)
    (found,) = predicted(build.write())
    assert any("nothing recorded explains" in refusal for refusal in found.refusals)
    assert found.answers == ()


def test_work_that_was_not_recorded_is_refused(tmp_path: Path) -> None:
    build = one_by_one(TraceBuilder(tmp_path / "x.sqlite"))
    for i in range(5):
        build.api("cudaLaunchKernel", 5_000_000 + 20_000 * i, 5_010_000 + 20_000 * i, corr=700 + i)
    (found,) = predicted(build.write())
    assert found.refusals == ("of the launches, 88.9 % have GPU rows; 99 % are needed",)


def test_a_process_without_gpu_work_is_none_that_can_be_replayed(tmp_path: Path) -> None:
    assert predicted(TraceBuilder(tmp_path / "x.sqlite").api("cudaFree", 0, 9).write()) == ()


def test_each_question_changes_one_thing() -> None:
    for question in QUESTIONS:
        assert isinstance(question, Question)
        changed = [k for k, v in vars(question.change).items() if v != getattr(Change(), k)]
        assert len(changed) == 1
    assert replace(QUESTIONS[0].change, gpu=1.0) == Change()


@needs_shared_traces
def test_a_window_cut_out_of_a_longer_capture_is_refused() -> None:
    found = predicted(TRACES["torch_2xh100_1s_orphans"])
    assert len(found) == 2
    for one in found:
        assert any("has an API call" in refusal for refusal in one.refusals)
        assert any("nothing recorded explains" in refusal for refusal in one.refusals)


@needs_shared_traces
@pytest.mark.parametrize("name", ["multistream_t4", "julia_flux_gtx1650", "torch_ddp_2xh100_before"])
def test_the_errors_on_the_page_are_those_of_the_replays(name: str) -> None:
    from wallsplit.comparison.predict.words import errors_page

    examined = examine(TRACES[name])
    page = (ROOT / "docs" / "predict.md").read_text(encoding="utf-8").splitlines()
    rows = [
        line for line in errors_page([(name, predictions(examined.model, examined.activities, ()))]) if name in line
    ]
    assert rows
    assert [row for row in rows if row not in page] == []
