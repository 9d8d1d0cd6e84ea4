"""Running workloads in tests: each framework in a process of its own, and only where it is installed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wallsplit.run.manifest import RunManifest, read
from wallsplit_workloads import data
from wallsplit_workloads.marks import ASKED

ROOT = Path(__file__).resolve().parents[1]


def need(*modules: str) -> None:
    """Skip the test, saying why, where a module is missing; fail where the machine promised to have all tools."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing and os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{', '.join(missing)} missing, and WALLSPLIT_REQUIRE_TOOLS=1")
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")


def small_set(folder: Path, samples: int = 1_000) -> Path:
    """Return an mnist.npz of so many generated samples; 80 % of them are for training."""
    images, labels = data.synthetic(samples)
    path = folder / "mnist.npz"
    np.savez(path, x_train=images.reshape(-1, 28, 28), y_train=labels)
    return path


def run(folder: Path, name: str, *arguments: str) -> RunManifest:
    """Return the manifest of a workload run by its own command line, its marks counted as under `wallsplit profile`."""
    result = folder / f"{name}.run.json"
    roots = [str(ROOT / root) for root in ("analysis", "workloads")]
    done = subprocess.run(
        [sys.executable, "-m", "wallsplit_workloads", name, *arguments, "--result", str(result)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots), ASKED: "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return read(result)
