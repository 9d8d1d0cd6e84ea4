"""Running a workload: is what it needs here, run it, and make the manifest of what it measured."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import Final

import wallsplit
from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Generator, RunManifest, Scalar
from wallsplit_workloads import energy, machine, settings, usage
from wallsplit_workloads.marks import Marks
from wallsplit_workloads.workload import Device, RunContext, Workload, device_of

# Of each extra: the modules a workload imports, and the distributions whose versions the manifest records.
_TENSORFLOW = (("tensorflow",), ("tensorflow", "tensorflow-cpu", "keras"))
_JAX = (("jax",), ("jax", "jaxlib"))
_EXTRAS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "profile": ((), ()),
    "tensorflow": _TENSORFLOW,
    "tensorflow-gpu": _TENSORFLOW,
    "jax": _JAX,
    "jax-gpu": _JAX,
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
    context = RunContext(values, device, Marks(), progress)
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


def require(workload: Workload, values: Mapping[str, Scalar]) -> None:
    """Raise WallsplitError unless a run with these values can start here; takes microseconds, imports no framework.

    Raises:
        WallsplitError: what is missing, and what to install or to run instead.
    """
    require_device(workload, values)
    extra = extra_of(workload, values)
    for module in _EXTRAS[extra][0]:
        if importlib.util.find_spec(module) is None:
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


def versions(workload: Workload, values: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the versions of Python and of what a run with these values computes with, as its manifest records them."""
    return machine.versions(("numpy", "nvtx", *_EXTRAS[extra_of(workload, values)][1]))


def extra_of(workload: Workload, values: Mapping[str, Scalar]) -> str:
    """Return the extra that a run with these values needs: the workload's, or that of its `backend`."""
    if workload.extra:
        return workload.extra
    extra = {"tensorflow": "tensorflow", "keras": "tensorflow", "jax": "jax"}.get(str(values.get("backend")))
    if extra is None:
        return "profile"  # NumPy is there anyway
    return f"{extra}-gpu" if device_of(workload, values) == "gpu" else extra


def recorded_values(workload: Workload, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the values as the manifest may hold them: of a path on the user's disk, the last part only."""
    paths = {parameter.name for parameter in workload.parameters if parameter.kind is Path}
    return {name: Path(str(v)).name if name in paths and v is not None else v for name, v in values.items()}
