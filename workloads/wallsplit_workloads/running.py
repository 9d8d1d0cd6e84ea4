"""Running a workload: is what it needs here, run it, and make the manifest of what it measured."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import Final

import wallsplit
from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Generator, RunManifest, Scalar
from wallsplit_workloads import energy, machine, settings, usage
from wallsplit_workloads.environment import HERE, Environment
from wallsplit_workloads.marks import marks_for
from wallsplit_workloads.workload import Device, RunContext, Workload, device_of

# Of each framework: the modules a workload imports, and the distributions whose versions the manifest records.
_FAMILIES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "profile": ((), ()),
    "tensorflow": (("tensorflow",), ("tensorflow", "tensorflow-cpu", "keras")),
    "jax": (("jax",), ("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin")),
    "torch": (("torch", "sklearn"), ("torch", "scikit-learn")),
    "cupy": (("cupy",), ("cupy-cuda12x", "cupy-cuda13x", "cupy")),
    "word2vec": (("gensim",), ("gensim",)),
}


def run(workload: Workload, values: Mapping[str, Scalar], progress: Callable[[str], None]) -> RunManifest:
    """Return the manifest of one run, without capture, git commit or baseline; `progress` gets a line per epoch.

    Raises:
        WallsplitError: a GPU or a framework is missing, or a value is impossible for this data.
    """
    require(workload, values)
    device = device_of(workload, values)
    context = RunContext(values, device, marks_for(os.environ), progress)
    age_ns, meters = usage.process_age_ns(), energy.reading(device)
    before, start = usage.reading(), perf_counter_ns()
    result = workload.run(context)
    wall_ns, after = perf_counter_ns() - start, usage.reading()
    return RunManifest(
        generator=Generator("wallsplit", wallsplit.__version__),
        workload=workload.name,
        parameters=recorded_values(workload, values),
        seed=context.integer("seed"),
        device=device,
        data=result.data,
        model=result.model,
        steps=result.steps,
        arithmetic=result.arithmetic,
        versions=versions(workload, values),
        threads=result.threads,
        settings={**settings.settings(), **result.settings},
        cpu=machine.cpu(),
        gpu=machine.gpu() if device == "gpu" else None,
        wall_ns=wall_ns,
        preparation_ns={**({} if age_ns is None else {"start": age_ns}), **context.preparation_ns},
        load=usage.between(before, after),
        peak_memory_bytes=_peak_memory_bytes(device),
        energy_mj=energy.between(meters, energy.reading(device)),
        epochs=result.epochs,
        step_wall_ns=result.step_wall_ns,
        marks=context.marks.counts,
        results=result.results,
    )


def _peak_memory_bytes(device: Device) -> dict[str, int]:
    """Return the most memory in use: of the host by the largest process, of a GPU as the frameworks counted it."""
    process = usage.peak_process_bytes()
    host = {} if process is None else {"process": process}
    return host | (settings.peak_memory_bytes() if device == "gpu" else {})


def require(workload: Workload, values: Mapping[str, Scalar], environment: Environment = HERE) -> None:
    """Raise WallsplitError unless a run with these values can start there; takes microseconds, imports no framework.

    Raises:
        WallsplitError: what is missing, and what to install or to run instead.
    """
    require_device(workload, values)
    extra = extra_of(workload, values)
    for module in _FAMILIES[family_of(extra)][0]:
        if not environment.has(module):
            raise WallsplitError(f"{workload.name}: {module} is not installed; pip install 'wallsplit[{extra}]'")


def require_device(workload: Workload, values: Mapping[str, Scalar]) -> None:
    """Raise WallsplitError unless the device that a run with these values computes on is here.

    Raises:
        WallsplitError: there is no GPU; says what to run instead.
    """
    lack = machine.gpu_lack() if device_of(workload, values) == "gpu" else None
    if lack is not None:
        instead = f"run {workload.cpu_sibling}" if workload.cpu_sibling else "run it with --set device=cpu"
        raise WallsplitError(f"{workload.name}: {lack}; {instead} instead")


def versions(workload: Workload, values: Mapping[str, Scalar], environment: Environment = HERE) -> dict[str, str]:
    """Return the versions of Python and of what a run with these values computes with, as its manifest records them."""
    family = family_of(extra_of(workload, values))
    return environment.versions(("numpy", "nvtx", *_FAMILIES[family][1]))


def extra_of(workload: Workload, values: Mapping[str, Scalar]) -> str:
    """Return the extra that a run with these values needs on this machine: the workload's, or that of its `backend`.

    Beside a GPU it is the build for GPUs, also of a run on the CPU, for the two builds exclude each other.
    """
    backends = {"tensorflow": "tensorflow", "keras": "tensorflow", "jax": "jax"}
    family = workload.extra or backends.get(str(values.get("backend")), "profile")  # NumPy is there anyway
    return build_for(family_of(family), on_gpu=device_of(workload, values) == "gpu" or machine.gpu_lack() is None)


def build_for(family: str, *, on_gpu: bool) -> str:
    """Return the extra that brings the framework for the CPU, or for the GPU and its driver."""
    if not on_gpu:
        return family
    newest = "-cuda13" if family in ("jax", "cupy") and machine.cuda_major() == 13 else ""
    return {"tensorflow": "tensorflow-gpu", "jax": f"jax-gpu{newest}", "cupy": f"cupy{newest}"}.get(family, family)


def family_of(extra: str) -> str:
    """Return the framework that an extra brings: of jax-gpu-cuda13, jax."""
    return extra.partition("-")[0]


def recorded_values(workload: Workload, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the values as the manifest may hold them: of a path on the user's disk, the last part only."""
    paths = {parameter.name for parameter in workload.parameters if parameter.kind is Path}
    return {name: Path(str(v)).name if name in paths and v is not None else v for name, v in values.items()}
