"""The sweep of the surface: every size once or more, operations as the model has them, in each array library."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wallsplit_workloads import WORKLOADS, break_even, mlp, running
from wallsplit_workloads.arrays import Arrays
from wallsplit_workloads.break_even import BATCHES, LEAST_STEPS, WIDTHS
from wallsplit_workloads.workload import find, resolve
from workload_runs import need, run

TINY = {"width": "20", "batch": "32", "seconds": "0", "steps": "1"}


def points(results: object) -> list[dict[str, int]]:
    assert isinstance(results, list)
    return results


def test_each_model_meets_each_batch_and_is_told_with_its_size_and_operations() -> None:
    workload = find(WORKLOADS, "break-even")
    lines: list[str] = []
    manifest = running.run(workload, resolve(workload, TINY), lines.append)
    found = points(manifest.results["points"])
    sizes = [((784 + 1) * width + (width + 1) * 10, batch) for width in (6, 20) for batch in (8, 32)]
    assert [(point["parameters"], point["batch"]) for point in found] == sizes
    assert [point["flops"] for point in found] == [
        mlp.step_flops(batch, (784, width, 10)) for width in (6, 20) for batch in (8, 32)
    ]
    assert {point["steps"] for point in found} == {LEAST_STEPS}
    assert manifest.marks == {"epoch": 1, "warmup": 4, "step": 4 * LEAST_STEPS}
    assert [line.split(",")[0] for line in lines] == ["4", "15"]  # 4,780 and 15,910 parameters


def test_the_models_span_5_thousand_to_5_million_parameters_and_the_batches_the_published_rule() -> None:
    counts = [mlp.shape((784, width, 10)).parameter_count for width in WIDTHS]
    assert (counts[0], counts[-1]) == (4_780, 4_999_765)
    assert {101_770, 500_065} < set(counts)
    assert BATCHES[0] < 32 < 256 < BATCHES[-1]


def test_a_size_below_the_smallest_is_measured_itself() -> None:
    workload = find(WORKLOADS, "break-even")
    values = resolve(workload, {**TINY, "width": "3", "batch": "2"})
    (point,) = points(running.run(workload, values, lambda line: None).results["points"])
    assert (point["parameters"], point["batch"]) == (785 * 3 + 4 * 10, 2)


def test_on_a_gpu_every_step_puts_its_batch_there_and_waits_for_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy stands in for the library, and this machine for one with a GPU."""
    put: list[tuple[int, ...]] = []
    waited: list[object] = []

    def to_device(array: NDArray[np.float32]) -> NDArray[np.float32]:
        put.append(array.shape)
        return array

    stand_in = Arrays(np, to_device, wait=waited.append, waiting="", compiled=lambda function: function)
    monkeypatch.setattr(break_even, "arrays", lambda context: stand_in)
    monkeypatch.setattr(running, "require", lambda workload, values: None)
    workload = find(WORKLOADS, "break-even")
    values = resolve(workload, {**TINY, "backend": "jax", "device": "cuda", "width": "6"})
    manifest = running.run(workload, values, lambda line: None)
    steps = 1 + LEAST_STEPS  # with the one that compiles
    assert manifest.device == "gpu"
    assert len(waited) == 2 * steps
    assert (put.count((8, 784)), put.count((32, 784)), put.count((784, 6))) == (steps, steps, 2)


@pytest.mark.frameworks
@pytest.mark.parametrize(("backend", "module"), [("jax", "jax"), ("tensorflow", "tensorflow")])
def test_the_sweep_runs_in_each_library(tmp_path: Path, backend: str, module: str) -> None:
    need(module)
    settings = [f"--set={name}={text}" for name, text in {**TINY, "backend": backend}.items()]
    found = run(tmp_path, "break-even", *settings)
    assert len(points(found.results["points"])) == 4
