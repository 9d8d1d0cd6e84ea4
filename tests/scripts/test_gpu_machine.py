"""The documented commands on a machine with a GPU, up to the call of its driver: make, builds, environments, nsys."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from environments import fake_python, installed, ran
from fake_nsys import fake_nsys
from workload_runs import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")

SHIM = """#!/bin/sh
export PYTHONPATH="{path}"
exec "{python}" -m gpu_machine "{clone}" "$@"
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout as make sees it, whose .venv is made already and whose Pythons only pretend."""
    monkeypatch.setenv("WALLSPLIT_NSYS", str(fake_nsys(tmp_path)))
    folder = tmp_path / "clone"
    needed = ("Makefile", "pyproject.toml", "constraints.txt", "hatch_build.py", "scripts/install_builds.sh")
    for name in (*needed, "analysis/wallsplit/native/wallsplit.c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
        os.utime(folder / name, (0, 0))
    subprocess.run([str(fake_python(tmp_path)), "-m", "venv", str(folder / ".venv")], check=True, timeout=60)
    (folder / ".venv" / ".core").touch()
    shim = folder / ".venv" / "bin" / "wallsplit"
    roots = [str(ROOT / root) for root in ("analysis", "workloads", "scripts", "tests")]
    shim.write_text(SHIM.format(path=os.pathsep.join(roots), python=sys.executable, clone=folder))
    shim.chmod(0o755)
    return folder


def make(clone: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", f"PYTHON={clone.parent / 'python3'}", *arguments],
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_a_gpu_workload_is_recorded_by_its_own_environments_python_up_to_the_driver(clone: Path) -> None:
    done = make(clone, "profile", "WORKLOAD=keras-gpu", "BATCH=64")
    assert "keras-gpu cannot run as asked" in done.stderr, done.stderr
    assert "the driver: no CUDA-capable device is detected" in done.stdout + done.stderr
    assert installed(clone / ".venv-tensorflow") == ["tensorflow-gpu"]
    assert "-P -m wallsplit_workloads keras-gpu --set=batch=64 --result" in ran(clone / ".venv-tensorflow")
    make(clone, "profile", "WORKLOAD=keras-cpu")
    assert installed(clone / ".venv-tensorflow") == ["tensorflow-gpu"]
    assert "-m wallsplit_workloads keras-cpu" in ran(clone / ".venv-tensorflow")
    assert installed(clone / ".venv") == ["profile"]
    assert ran(clone / ".venv") == ""


def test_the_whole_study_asks_every_framework_in_its_own_environment(clone: Path) -> None:
    done = make(clone, "study", "ARGS=--quick")
    assert "no GPU here" not in done.stderr
    lacking = [line for line in done.stderr.splitlines() if "not installed" in line]
    assert all("wallsplit[word2vec]" in line for line in lacking)  # looked for in the environment of these tests
    asked = {name: ran(clone / f".venv{name}") for name in ("", "-tensorflow", "-jax", "-torch", "-cupy")}
    assert all(name in asked["-tensorflow"] for name in ("keras-gpu", "keras-cpu", "backend=tensorflow"))
    assert "op-timing --set=epochs=2" in asked["-tensorflow"]
    assert all(name in asked["-jax"] for name in ("jax-gpu", "jax-cpu", "jax-vmap", "device=cuda"))
    assert all(name in asked["-torch"] for name in ("iris-gpu", "cuda_graph=true", "pin_memory=true", "precision=tf32"))
    assert "cupy-sample" in asked["-cupy"]
    assert "numpy-sample" in asked[""]
    assert not any(name in asked[""] for name in ("keras", "jax-", "iris", "cupy", "loader-bound"))
    report = (clone / "reports" / "quick-study" / "study.md").read_text()
    assert "failed: exit code 2: error: the driver: no CUDA-capable device is detected" in report
