"""Promises every workload keeps, run over the tuple that lists them."""

import subprocess
import sys
from pathlib import Path

import pytest

from wallsplit.errors import WallsplitError
from wallsplit_workloads import WORKLOADS, machine, running
from wallsplit_workloads.workload import Workload, find, resolve
from workload_runs import ROOT, small_set

NAMES = [
    *("numpy", "numpy-sample", "keras-cpu", "keras-gpu", "jax-cpu", "jax-gpu", "cupy", "cupy-sample", "jax-vmap"),
    "jax-vmap-gpu",
    *("pool", "op-timing", "matmul", "train-step", "iris-cpu", "iris-gpu", "word2vec"),
    *("loader-bound", "transfer-bound", "too-small", "mixed-precision", "break-even"),
]
FRAMEWORKS = ("tensorflow", "keras", "jax", "torch", "sklearn", "cupy", "gensim")
every = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)


def test_the_workloads_are_the_published_study() -> None:
    assert [workload.name for workload in WORKLOADS] == NAMES


@every
def test_everyone_takes_batch_epochs_steps_and_seed(workload: Workload) -> None:
    assert {"batch", "epochs", "steps", "seed"} <= resolve(workload, {}).keys()


@every
def test_defaults_are_values_a_user_could_give(workload: Workload) -> None:
    for parameter in workload.parameters:
        if parameter.default is not None:
            assert parameter.parse(str(parameter.default)) == parameter.default
        assert parameter.help


@every
def test_its_extra_is_one_the_distribution_has(workload: Workload) -> None:
    declared = (ROOT / "pyproject.toml").read_text()
    assert f"\n{running.extra_of(workload, resolve(workload, {}))} = [" in declared


def test_no_framework_is_imported_before_a_workload_runs() -> None:
    code = f"import sys, wallsplit_workloads.__main__; print([m for m in {FRAMEWORKS} if m in sys.modules])"
    roots = [str(ROOT / root) for root in ("analysis", "workloads")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {roots}; {code}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.device == "gpu"], ids=lambda workload: workload.name)
def test_without_a_gpu_a_gpu_workload_names_the_one_to_run_instead(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_GPU_NODES", ())
    sibling = find(WORKLOADS, str(workload.cpu_sibling))
    assert {p.name for p in workload.parameters} <= {p.name for p in sibling.parameters}
    with pytest.raises(WallsplitError, match=f"{workload.name}: no NVIDIA GPU .* run {sibling.name} instead"):
        running.require(workload, resolve(workload, {}))


@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.device is None], ids=lambda workload: workload.name)
def test_without_a_gpu_the_device_parameter_is_named(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_GPU_NODES", ())
    with pytest.raises(WallsplitError, match="run it with --set device=cpu instead"):
        running.require(workload, resolve(workload, {"device": "cuda"}))


def test_a_missing_framework_is_answered_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    keras, matmul = find(WORKLOADS, "keras-cpu"), find(WORKLOADS, "matmul")
    with pytest.raises(
        WallsplitError, match=r"keras-cpu: tensorflow is not installed; pip install .wallsplit\[tensorflow\]"
    ):
        running.require(keras, resolve(keras, {}))
    with pytest.raises(WallsplitError, match=r"matmul: jax is not installed; pip install .wallsplit\[jax\]"):
        running.require(matmul, resolve(matmul, {"backend": "jax"}))
    running.require(matmul, resolve(matmul, {}))


def test_a_gpu_backend_needs_the_extra_that_brings_cuda() -> None:
    matmul = find(WORKLOADS, "matmul")
    assert running.extra_of(matmul, resolve(matmul, {"backend": "jax", "device": "cuda"})) == "jax-gpu"
    assert running.extra_of(matmul, resolve(matmul, {})) == "profile"


def test_of_the_users_data_path_the_manifest_keeps_the_last_part(tmp_path: Path) -> None:
    numpy = find(WORKLOADS, "numpy")
    values = resolve(numpy, {"data": str(small_set(tmp_path)), "epochs": "1", "steps": "1"})
    manifest = running.run(numpy, values, lambda line: None)
    assert manifest.parameters["data"] == "mnist.npz"
    assert str(tmp_path) not in repr(manifest)
