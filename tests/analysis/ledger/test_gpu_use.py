"""What each physical GPU did in the window, for whichever process."""

import polars as pl
import pytest

from builders import TraceBuilder
from shared_traces import CASES, needs_shared_traces
from wallsplit.ledger.activity import activities
from wallsplit.ledger.gpu_use import gpu_use
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.pipeline import analyze

FIGURES = ("gpu", "busy_ns", "busy_ratio", "kernel_active_ns", "processes")


def use(model: Model, *windows: Window) -> list[tuple[object, ...]]:
    return gpu_use(model.gpus, activities(model), windows).select(FIGURES).rows()


def test_work_of_several_processes_at_one_time_counts_once_and_copies_are_no_kernels(build: TraceBuilder) -> None:
    build.kernel(0, 60, pid=1).kernel(40, 80, pid=2).copy(70, 90, pid=2)
    assert use(build.model(), Window("w", 0, 100)) == [(0, 90, 0.9, 80, [1, 2])]


def test_of_several_windows_the_time_in_any_of_them_counts_once(build: TraceBuilder) -> None:
    build.kernel(0, 60)
    windows = (Window("w", 10, 30), Window("w", 20, 40), Window("w", 50, 70))
    assert use(build.model(), *windows) == [(0, 40, 0.8, 40, [1])]


def test_without_a_window_nothing_is_measured(build: TraceBuilder) -> None:
    assert use(build.kernel(5, 5).model()) == [(0, None, None, None, [1])]


def test_a_gpu_that_processes_number_differently_has_no_device(build: TraceBuilder) -> None:
    build.kernel(0, 5, pid=1, device=0).kernel(0, 5, pid=2, device=1)
    for pid, device in ((1, 0), (2, 1)):
        build.add("TARGET_INFO_CUDA_DEVICE", gpuId=6, cudaId=device, pid=pid)
    assert build.model().gpus.select("gpu", "device").rows() == [(6, None)]


@needs_shared_traces
@pytest.mark.parametrize(
    ("case", "busy"), [("04_two_processes_one_gpu", [0.995]), ("17_visible_devices", [0.9996] * 4)]
)
def test_the_gpus_of_the_shared_cases_are_as_busy_as_their_answers_say(case: str, busy: list[float]) -> None:
    gpus: pl.DataFrame = analyze(CASES[case]).gpus
    assert gpus["busy_ratio"].to_list() == pytest.approx(busy)
