"""Each workload's whole run on a GPU, the GPU being played by the CPU: what cannot be seen here is speed alone."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from wallsplit.run.manifest import RunManifest, read
from wallsplit_workloads import WORKLOADS
from workload_runs import ROOT, need, small_set

TINY = ("--epochs", "2", "--steps", "3", "--batch", "16")
CUDA = ("--set", "device=cuda")
TORCH_RUNS = {
    "iris-gpu": (("iris-gpu", "--epochs", "4", "--set", "item_every=2"),),
    "loader-bound": (
        ("loader-bound", *TINY, *CUDA),
        ("loader-bound", *TINY, *CUDA, "--set", "pin_memory=true", "--set", "non_blocking=true"),
    ),
    "transfer-bound": (("transfer-bound", *TINY, *CUDA), ("transfer-bound", *TINY, *CUDA, "--set", "batched=true")),
    "too-small": (("too-small", *TINY, *CUDA), ("too-small", *TINY, *CUDA, "--set", "cuda_graph=true")),
    "mixed-precision": tuple(
        ("mixed-precision", *TINY, *CUDA, "--set", "width=16", "--set", f"precision={precision}", *optimizer)
        for precision in ("fp32", "tf32", "bf16", "fp16")
        for optimizer in ((), ("--set", "optimizer=adam", "--set", "rate=0.001"))
    ),
}
MICROBENCHMARKS = ("op-timing", "matmul", "train-step")


def play(folder: Path, framework: str, runs: Sequence[tuple[str, ...]]) -> list[RunManifest]:
    """Return the manifests of runs on a GPU that the framework only believes to be one."""
    data = str(small_set(folder))
    takes_data = {workload.name for workload in WORKLOADS if any(p.name == "data" for p in workload.parameters)}
    results = [folder / f"{number}.json" for number in range(len(runs))]
    commands = [
        [*run, *(("--data", data) if run[0] in takes_data else ()), "--result", str(result)]
        for run, result in zip(runs, results, strict=True)
    ]
    roots = [str(ROOT / root) for root in ("analysis", "workloads", "tests")]
    done = subprocess.run(
        [sys.executable, "-m", "gpu_stand_ins", framework, json.dumps(commands)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [read(result) for result in results]


def assert_ran_on_the_gpu(found: RunManifest) -> None:
    assert (found.device, found.gpu and found.gpu.name) == ("gpu", "A GPU")
    assert found.marks["epoch"] == found.parameters["epochs"]
    assert found.wall_ns


def test_every_workload_that_can_use_a_gpu_is_played_here() -> None:
    able = {w.name for w in WORKLOADS if w.device == "gpu" or (w.device is None and w.extra == "torch")}
    others = {"keras-gpu", "jax-gpu", "jax-vmap-gpu", "cupy", "cupy-sample"}
    assert able - others == set(TORCH_RUNS)
    assert {w.name for w in WORKLOADS if w.device is None and w.extra is None} == {*MICROBENCHMARKS, "break-even"}


def test_cupy_computes_what_numpy_does(tmp_path: Path) -> None:
    batched, sample = play(tmp_path, "cupy", [("cupy", *TINY), ("cupy-sample", *TINY)])
    for found in (batched, sample):
        assert_ran_on_the_gpu(found)
    reference = read_reference(tmp_path)
    assert [epoch.loss for epoch in batched.epochs] == pytest.approx([epoch.loss for epoch in reference.epochs])


def read_reference(folder: Path) -> RunManifest:
    """Return the same run in NumPy."""
    from wallsplit_workloads.__main__ import main

    result = folder / "numpy.json"
    assert main(["numpy", *TINY, "--data", str(folder / "mnist.npz"), "--result", str(result)]) == 0
    return read(result)


@pytest.mark.frameworks
def test_pytorch_runs_every_cause_and_remedy_to_its_end(tmp_path: Path) -> None:
    need("torch", "sklearn")
    runs = [run for variants in TORCH_RUNS.values() for run in variants]
    found = play(tmp_path, "torch", runs)
    for run, manifest in zip(runs, found, strict=True):
        assert_ran_on_the_gpu(manifest)
        assert manifest.peak_memory_bytes["torch_allocated"] == 1_000, run
        assert manifest.peak_memory_bytes["torch_reserved"] == 2_000, run
    graphed = next(m for m in found if m.parameters.get("cuda_graph"))
    assert graphed.marks["replay"] == 2 * 3
    mixed = [m for m in found if m.workload == "mixed-precision"]
    for manifest in mixed:
        assert manifest.epochs[-1].validation_accuracy is not None
        assert manifest.epochs[-1].loss == pytest.approx(2.3, abs=0.6)
        is_tf32 = manifest.parameters["precision"] == "tf32"
        assert manifest.settings["torch_matmul_precision"] == ("high" if is_tf32 else "highest")


@pytest.mark.frameworks
def test_jax_runs_the_epoch_and_the_microbenchmarks_to_their_end(tmp_path: Path) -> None:
    need("jax")
    on_gpu = [(name, *TINY, *CUDA, "--set", "backend=jax") for name in MICROBENCHMARKS]
    corner = (
        "break-even",
        "--epochs",
        "1",
        "--batch",
        "32",
        *CUDA,
        "--set=backend=jax",
        "--set=width=20",
        "--set=seconds=0",
    )
    for found in play(tmp_path, "jax", [("jax-gpu", *TINY), ("jax-vmap-gpu", *TINY), *on_gpu, corner]):
        assert_ran_on_the_gpu(found)
        assert found.settings["jax_preallocates"] is False
        assert found.settings["xla"] is True


@pytest.mark.frameworks
def test_keras_and_tensorflow_run_to_their_end_and_their_memory_grows(tmp_path: Path) -> None:
    need("tensorflow")
    on_gpu = [(name, *TINY, *CUDA, "--set", "backend=tensorflow") for name in MICROBENCHMARKS]
    keras, *others = play(tmp_path, "tensorflow", [("keras-gpu", *TINY), *on_gpu])
    for found in (keras, *others):
        assert_ran_on_the_gpu(found)
        assert found.settings["tensorflow_memory_growth"] is True
        assert found.peak_memory_bytes["tensorflow"] == 4_000
    assert keras.settings["keras_backend"] == "tensorflow"
    assert keras.settings["jit_compile"] is False


@pytest.mark.frameworks
def test_a_precision_that_the_gpu_would_emulate_is_refused_by_its_capability() -> None:
    need("torch")
    code = (
        "import gpu_stand_ins as g; g.with_a_gpu(); g.torch((7, 5)); "
        "from wallsplit_workloads.__main__ import main; "
        "codes = [main(['mixed-precision', '--set', 'device=cuda', '--set', f'precision={p}', '--epochs', '1', "
        "'--steps', '1', '--set', 'width=8']) for p in ('fp16', 'tf32', 'bf16')]; print(codes)"
    )
    roots = [str(ROOT / root) for root in ("analysis", "workloads", "tests")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.splitlines()[-1] == "[0, 3, 3]", done.stderr
    assert "precision=bf16: this GPU, of compute capability 7.5, would emulate it; it takes 8.0" in done.stderr
