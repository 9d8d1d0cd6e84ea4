"""Twice the input is twice the work, counted in rows and in lines executed (growth.py)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from adversaries import SHAPES, alike, nested, staggered
from builders import TraceBuilder, global_id
from growth import is_linear, peak_bytes, tells_peaks
from wallsplit.breakdowns import anomalies, launches
from wallsplit.ledger.activity import activities
from wallsplit.ledger.host import on_other_devices
from wallsplit.model import Model
from wallsplit.model.correlation import MOST_CALLS
from wallsplit.pipeline import analyse, analyze, examine
from wallsplit.run.nvml import NvmlSample, summary


def one_id(folder: Path, size: int) -> Model:
    """Return a trace in which every call, kernel, copy and wait carries one correlation id."""
    build = TraceBuilder(folder / f"{size}.sqlite")
    for i in range(size):
        build.api("cudaDeviceSynchronize", 100 * i, 100 * i + 10, 7).kernel(100 * i + 20, 100 * i + 30, 7)
        where = {"globalPid": global_id(1), "deviceId": 0, "streamId": 7, "correlationId": 7}
        build.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=100 * i, end=100 * i + 10, **where)
    return build.model()


@pytest.mark.parametrize("size", [40, 80])
def test_launches_are_at_most_a_few_for_each_kernel_and_the_rest_is_counted(tmp_path: Path, size: int) -> None:
    model = one_id(tmp_path, size)
    assert len(launches.launched_kernels(model, None).call) == MOST_CALLS * size
    counts = dict(anomalies.compute(model, None).select("kind", "count").iter_rows())
    assert counts["launch_left_out"] == size * size - MOST_CALLS * size


@pytest.mark.parametrize("size", [40, 80])
def test_waits_are_at_most_a_few_for_each_synchronization(tmp_path: Path, size: int) -> None:
    model = one_id(tmp_path, size)
    assert sum(clock.count for clock in model.clocks_ahead) <= MOST_CALLS * size


@pytest.mark.parametrize("size", [40, 80])
def test_frames_of_a_call_chain_belong_to_one_sample(tmp_path: Path, size: int) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").sample(0, *[("m", f"f{i}") for i in range(size)])
    for i in range(1, size):
        build.sample(i, ("m", "f"))
        build.rows["COMPOSITE_EVENTS"][-1]["id"] = 1
    samples = build.model().samples
    assert samples is not None
    assert samples.samples.height == size
    assert samples.callers.height == size - 1


def test_energy_by_epoch_costs_epochs_and_samples_not_their_product() -> None:
    def work(size: int) -> Callable[[], object]:
        samples = [NvmlSample(10 * i, 0, 50, 5, 1, 100_000) for i in range(size)]
        epochs = [(9 * i, 9 * i + 5) for i in range(size)]
        return lambda: summary(samples, (0, 10 * size - 10), epochs)

    assert is_linear(work, 200)


def test_processes_on_one_gpu_cost_what_they_do_not_what_all_others_do(tmp_path: Path) -> None:
    def work(size: int) -> Callable[[], object]:
        build = TraceBuilder(tmp_path / f"{size}.sqlite")
        for pid in range(1, size + 1):
            build.api("cudaLaunchKernel", 10 * pid, 10 * pid + 2, 1, pid=pid).kernel(
                10 * pid + 5, 10 * pid + 9, 1, pid=pid
            )
        model = build.model()
        return lambda: activities(model)

    assert is_linear(work, 24)


def test_devices_of_one_process_cost_what_they_do_not_what_all_others_do(tmp_path: Path) -> None:
    def work(size: int) -> Callable[[], object]:
        build = TraceBuilder(tmp_path / f"{size}.sqlite")
        for device in range(size):
            build.api("cudaLaunchKernel", 10 * device, 10 * device + 2, device)
            build.kernel(10 * device + 5, 10 * device + 9, device, device=device)
        every = activities(build.model())
        return lambda: on_other_devices(every)

    assert is_linear(work, 24)


Shape = Callable[[Path, int], TraceBuilder]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("stage", ["examine", "analyse"])
def test_a_trace_made_to_be_expensive_costs_twice_as_much_with_twice_the_rows(
    tmp_path: Path, shape: Shape, stage: str
) -> None:
    def work(size: int) -> Callable[[], object]:
        path = shape(tmp_path / f"{size}.sqlite", size).write()
        if stage == "examine":
            return lambda: examine(path)
        examined = examine(path)
        return lambda: analyse(examined)

    assert is_linear(work, 24)


@pytest.mark.skipif(not tells_peaks(), reason="this system does not tell how much memory was held at most")
@pytest.mark.parametrize("shape", [alike, nested, staggered], ids=lambda shape: shape.__name__)
def test_an_analysis_holds_no_number_for_each_pair_of_rows(tmp_path: Path, shape: Shape) -> None:
    analyze(shape(tmp_path / "small.sqlite", 10).write())  # imports are no part of it
    size = 4_000
    path = shape(tmp_path / "t.sqlite", size).write()
    assert peak_bytes(lambda: analyze(path)) < 8 * size * size // 2
