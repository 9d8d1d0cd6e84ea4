"""Other programs that answer some of the same questions; each run reads a copy of its own, as some write into it."""

import os
import shutil
import subprocess
from collections.abc import Callable, Container, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Cost, command

SUMMARIES = ("cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "nvtx_sum")
PROJECTION = "nvtx_gpu_proj_sum"
STATS, AI = "nsys stats", "nsys-ai"

Run = Callable[[], Cost]


def nsys() -> Path | None:
    """Return the nsys that `wallsplit` would run; None where there is none."""
    from wallsplit.errors import WallsplitError
    from wallsplit_scripts.nsys import locate

    try:
        return locate()
    except (WallsplitError, subprocess.SubprocessError):
        return None


def stats(trace: Path, folder: Path, *reports: str) -> dict[str, Run]:
    """Return, by its name, how to run one `nsys stats` of these reports; nothing where there is no nsys."""
    binary = nsys()
    if binary is None:
        return {}
    asked = reports[0] if len(reports) == 1 else f"{len(reports)} summaries"
    argv = (binary, "stats", "--quiet", "--format", "csv", "--report", ",".join(reports))
    return {f"{STATS}: {asked}": partial(on_a_copy, trace, folder, lambda copy: command([*argv, copy]))}


def findings(trace: Path, folder: Path) -> dict[str, Run]:
    """Return, by its name, how to run nsys-ai's whole analysis of the trace; nothing where it is not on the path."""
    binary = shutil.which("nsys-ai")
    if binary is None:
        return {}

    def analyse(copy: Path) -> Cost:
        return command([binary, "analyze", "--format", "json", "--output", copy.with_suffix(".json"), copy])

    return {f"{AI}: findings": partial(on_a_copy, trace, folder, analyse)}


def left_out(asked: Iterable[str], found: Iterable[str], ran: Container[str]) -> tuple[str, ...]:
    """Return a line for each program asked for that is not among those found, and for each found that did not run."""
    found = tuple(found)
    missing = (
        f"{program}: not here, left out" for program in asked if not any(name.startswith(program) for name in found)
    )
    return (*missing, *(f"{name}: failed on this trace, left out" for name in found if name not in ran))


def on_a_copy(trace: Path, folder: Path, run: Callable[[Path], Cost]) -> Cost:
    """Return what `run` costs with a copy of the trace alone in its folder, written to disk before and removed after.

    So every round finds the file as the first one did: without the indexes and caches that a round left.
    """
    with TemporaryDirectory(dir=folder) as own:
        copy = Path(own) / trace.name
        shutil.copyfile(trace, copy)
        with copy.open("rb") as file:
            os.fsync(file.fileno())
        return run(copy)
