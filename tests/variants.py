"""The variants of the first screen, each a small trace: what a person may have recorded."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from analyses import HOSTILE
from builders import TraceBuilder
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze

MS = 1_000_000
STEPS = 12


def _started(build: TraceBuilder, pid: int = 1, device: int = 0) -> int:
    """Add a start-up of 100 ms, and return when it ends."""
    build.add("TARGET_INFO_GPU", id=device, name="NVIDIA A100-SXM4-80GB", smCount=108, totalMemory=80 * 10**9)
    build.api("cudaFree", 0, 80 * MS, pid=pid).api("cudaMalloc", 85 * MS, 86 * MS, pid=pid)
    return 100 * MS


def _step(build: TraceBuilder, at: int, busy: int, of: int, pid: int = 1, device: int = 0, name: str = "step") -> int:
    """Add a step of four kernels that work `busy` ms of `of` ms, and return when it ends."""
    for i in range(4):
        start = at + i * of * MS // 4
        number = len(build.rows.get("CUPTI_ACTIVITY_KIND_RUNTIME", [])) + 1
        build.api("cudaLaunchKernel", start, start + 20_000, corr=number, pid=pid)
        kernel = "ncclDevKernel_AllReduce" if device and i == 3 else f"ampere_sgemm_{i}"
        build.kernel(start + 30_000, start + busy * MS // 4, corr=number, name=kernel, pid=pid, device=device)
    end = at + of * MS
    build.api("cudaDeviceSynchronize", end - 200_000, end - 100_000, pid=pid)
    build.range(name, at, end, pid=pid)
    return end


def _steps(build: TraceBuilder, busy: int, of: int, pid: int = 1, device: int = 0, name: str = "step") -> TraceBuilder:
    at = _started(build, pid, device)
    for i in range(STEPS):
        at = _step(build, at, busy, of, pid, device, f"{name} {i + 1}")
    return build


def steady(build: TraceBuilder) -> TraceBuilder:
    """Add start-up, then steps that keep the GPU busy."""
    return _steps(build, 19, 20)


def blocked(build: TraceBuilder) -> TraceBuilder:
    """Add steps in which the host waits asleep for a loader."""
    _steps(build, 5, 20)
    for i in range(STEPS):
        for j in range(4):
            at = (100 + 20 * i + 5 * j) * MS
            build.osrt("pthread_cond_timedwait", at + 2 * MS, at + 4_900_000)
    return build


def graphs(build: TraceBuilder) -> TraceBuilder:
    """Add graphs that were recorded as a whole."""
    for i in range(10):
        at = i * 50 * MS
        build.api("cudaGraphLaunch", at, at + 50_000, corr=i + 1).graph(at + 60_000, at + 50 * MS, corr=i + 1)
    return build


def no_gpu_rows(build: TraceBuilder) -> TraceBuilder:
    """Add launches without a row of GPU work."""
    for i in range(50):
        build.api("cudaLaunchKernel", i * MS, i * MS + 100_000, corr=i + 1)
    return build.range("train", 0, 50 * MS)


def cpu(build: TraceBuilder) -> TraceBuilder:
    """Add a run without CUDA."""
    for i in range(STEPS):
        at = i * 10 * MS
        build.range(f"step {i + 1}", at, at + 10 * MS).range("forward", at, at + 4 * MS)
        build.range("backward", at + 4 * MS, at + 8 * MS).osrt("read", at + 8 * MS, at + 9 * MS)
    return build


def sampled(build: TraceBuilder) -> TraceBuilder:
    """Add a run without CUDA, its steps without ranges inside, its CPU sampled every half millisecond."""
    for i in range(STEPS):
        at = i * 10 * MS
        build.range(f"step {i + 1}", at, at + 10 * MS).on_cpu(at, at + 8 * MS)
        build.osrt("read", at + 8 * MS, at + 10 * MS)
        for j in range(16):
            place = ("/lib/libopenblas.so.0", "sgemm_kernel") if j < 6 else ("/usr/bin/python3.11", "_PyEval_Vector")
            build.sample(at + (j + 1) * MS // 2 - 1, place)
    return build.sampled_every(MS // 2).duration(STEPS * 10 * MS)


def several_gpus(build: TraceBuilder) -> TraceBuilder:
    """Add two ranks on two GPUs, one of which communicates."""
    return _steps(_steps(build, 19, 20), 18, 20, pid=2, device=1)


def cut_short(build: TraceBuilder) -> TraceBuilder:
    """Make a recording of which GPU rows are missing."""
    steady(build)
    kernels = build.rows["CUPTI_ACTIVITY_KIND_KERNEL"]
    del kernels[8:12]
    return build


def hostile(build: TraceBuilder) -> TraceBuilder:
    """Add ranges and kernels with names that mean something to some output."""
    at = _started(build)
    for i, name in enumerate(HOSTILE):
        at = _step(build, at, 19, 20, name=name)
        build.kernel(at - 50_000, at - 40_000, corr=10_000 + i, name=name)
        build.api("cudaLaunchKernel", at - 60_000, at - 55_000, corr=10_000 + i)
    return build


VARIANTS: dict[str, Callable[[TraceBuilder], TraceBuilder]] = {
    "steady": steady,
    "blocked": blocked,
    "graphs": graphs,
    "no_gpu_rows": no_gpu_rows,
    "cpu": cpu,
    "sampled": sampled,
    "several_gpus": several_gpus,
    "cut_short": cut_short,
}
"""By name; `hostile` stands apart, as it is for no eye."""


def analysed(make: Callable[[TraceBuilder], TraceBuilder]) -> Analysis:
    """Return the analysis of a variant, its trace called by the variant's name."""
    with tempfile.TemporaryDirectory() as folder:
        return analyze(make(TraceBuilder(Path(folder) / f"{make.__name__}.sqlite")).write())
