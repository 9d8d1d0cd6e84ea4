"""Which build of a framework this machine needs, and the virtual environment it lies in.

Without a GPU all frameworks share .venv. Beside a GPU each has an environment of its own, with the build for GPUs,
which computes on the CPU as well: TensorFlow's two distributions overwrite each other's files, and two frameworks want
different releases of one CUDA library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wallsplit_scripts import nsys
from wallsplit_workloads import machine
from wallsplit_workloads.environment import HERE, Environment, of_venv
from wallsplit_workloads.running import build_for, family_of

SHARED = ".venv"
ALL_ON_CPU = "workloads"
"""The extra that brings all that runs without a GPU."""
_OWN = ("tensorflow", "jax", "torch", "cupy")
"""The frameworks that have an environment of their own beside a GPU."""


@dataclass(frozen=True)
class Build:
    """An extra of this package, and the folder of the checkout whose environment it belongs into."""

    folder: str
    extra: str


def needed(extra: str) -> list[Build]:
    """Return what has to be installed for a workload that needs this extra, on this machine."""
    family = family_of(extra)
    if machine.gpu_lack() is not None or family not in _OWN:
        return [Build(SHARED, extra)]
    return [Build(SHARED, "profile"), Build(f"{SHARED}-{family}", extra)]  # the first samples the GPU meanwhile


def of_study() -> list[Build]:
    """Return what has to be installed to measure the whole study on this machine."""
    if machine.gpu_lack() is not None:
        return [Build(SHARED, ALL_ON_CPU)]
    own = [Build(f"{SHARED}-{family}", build_for(family, on_gpu=True)) for family in _OWN]
    return [Build(SHARED, "profile"), Build(SHARED, "word2vec"), *own]


def environment_of(extra: str, checkout: Path | None = None) -> Environment:
    """Return the environment that a run with this extra uses: the framework's own in the checkout, else this one."""
    root = checkout or nsys.checkout()
    family = family_of(extra)
    own = of_venv(root / f"{SHARED}-{family}") if root and family in _OWN else None
    return own or HERE


def is_cpu_build(family: str, environment: Environment) -> bool:
    """Return whether the framework is installed there and cannot use an NVIDIA GPU."""
    if family == "tensorflow":
        return environment.version_of("tensorflow-cpu") is not None
    if family == "jax":
        plugins = ("jax-cuda12-plugin", "jax-cuda13-plugin")
        return environment.version_of("jax") is not None and not any(map(environment.version_of, plugins))
    if family == "torch":
        return environment.version_of("torch") is not None and torch_cuda(environment) is None
    return False


def cuda_major(environment: Environment) -> int | None:
    """Return the CUDA release, 12 or 13, that the frameworks there were built for; None where nothing tells."""
    told = torch_cuda(environment)
    if told is not None:
        return told
    for distributions, major in ((_CUDA_13, 13), (_CUDA_12, 12)):
        if any(map(environment.version_of, distributions)):
            return major
    return None


_CUDA_13 = ("jax-cuda13-plugin", "cupy-cuda13x")
_CUDA_12 = ("jax-cuda12-plugin", "cupy-cuda12x", "nvidia-cuda-runtime-cu12")


def torch_cuda(environment: Environment) -> int | None:
    """Return the CUDA release that PyTorch was built for, from its version.py; None without PyTorch or CUDA."""
    file = environment.file("torch/version.py")
    lines: Sequence[str] = file.read_text(encoding="utf-8").splitlines() if file else ()
    value = next((line.partition("=")[2] for line in lines if line.startswith("cuda")), "")
    release = value.strip().strip("'\"").split(".")[0]
    return int(release) if release.isdecimal() else None
