"""What a process costs. Nothing heavy is imported here: Linux counts a parent's memory in its child's peak."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
_SOURCES = os.pathsep.join(str(ROOT / folder) for folder in ("analysis", "workloads", "scripts"))


@dataclass(frozen=True)
class Cost:
    """Wall and processor time in seconds, peak memory in MB (10⁶ bytes)."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def command(argv: Sequence[str | Path]) -> Cost:
    """Return what a command costs from start to end; its output goes nowhere.

    Raises:
        RuntimeError: it failed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=ROOT, env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _ended(process, argv, start)


def _ended(process: "subprocess.Popen[bytes]", argv: Sequence[str | Path], start: float) -> Cost:
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit code {process.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * _PEAK_UNIT_BYTES / 1e6)


def printed_bytes(argv: Sequence[str | Path]) -> int:
    """Return how many bytes a command prints."""
    with tempfile.TemporaryFile() as file:
        subprocess.run(argv, cwd=ROOT, env=_environment(), stdout=file, stderr=subprocess.DEVNULL, check=True)
        return os.fstat(file.fileno()).st_size


def first_byte(argv: Sequence[str | Path]) -> Cost:
    """Return what `command` does of a command that writes to a terminal, but the wall time until its first byte.

    Raises:
        RuntimeError: it failed.
    """
    ours, its = os.openpty()
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=ROOT, env=_environment(), stdin=its, stdout=its, stderr=subprocess.DEVNULL)
    os.close(its)
    os.read(ours, 1)
    wall = time.perf_counter() - start
    with suppress(OSError):  # EIO: the other end is closed
        while os.read(ours, 1 << 16):
            pass
    os.close(ours)
    return replace(_ended(process, argv, start), wall_s=wall)


def run_python(*arguments: str | Path) -> str:
    """Return what this interpreter prints with these arguments, wallsplit and this folder on its path."""
    argv = [sys.executable, *arguments]
    return subprocess.run(argv, cwd=ROOT, env=_environment(), check=True, capture_output=True, text=True).stdout


def wallsplit(*arguments: str | Path) -> list[str | Path]:
    """Return the command line of `wallsplit` with this interpreter."""
    return [sys.executable, "-m", "wallsplit_scripts", *arguments]


def part(work: Callable[[], object]) -> Cost:
    """Return what a part of this process costs; of memory, by how much the peak rose."""
    peak, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, peak_mb() - peak)


def in_child(module: str, *arguments: str | Path) -> Cost:
    """Return the cost that `python -m module` prints: a part of a process of its own, so that the peak is its own."""
    return Cost(**json.loads(run_python("-m", module, *arguments)))


def answer(cost: Cost) -> None:
    """Print a cost for `in_child`."""
    print(json.dumps(asdict(cost)))


def peak_mb() -> float:
    """Return the peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT_BYTES / 1e6


def _environment() -> dict[str, str]:
    as_usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**as_usual, "PYTHONPATH": os.pathsep.join(filter(None, (_SOURCES, os.environ.get("PYTHONPATH"))))}
