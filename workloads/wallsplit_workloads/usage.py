"""What a run used of the machine, and how much of it others took meanwhile: CPU time, load, stolen time, memory."""

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wallsplit.run.manifest import Load

_STAT = Path("/proc/stat")
_OWN_STAT = Path("/proc/self/stat")
_STARTTIME = 19  # of the fields after the program's name, which may hold anything (proc(5): field 22 of all)
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_STEAL = 7  # of user, nice, system, idle, iowait, irq, softirq, steal (proc(5))
_COUNTED = 8  # what follows them, guest time, is in user time already


@dataclass(frozen=True)
class Reading:
    """Counters that only grow; what a system does not count is None."""

    cpu_time_ns: int | None
    """Of this process and of those of its children that ended and were waited for."""
    all_cpus: tuple[int, int] | None
    """Ticks stolen and ticks in all, of all CPUs together."""
    load_average: tuple[float, ...]


def reading() -> Reading:
    """Return the counters as they stand."""
    load: tuple[float, ...] = ()
    with suppress(OSError, AttributeError):  # Windows has none
        load = tuple(round(value, 2) for value in os.getloadavg())
    return Reading(_cpu_time_ns(), _all_cpus(), load)


def between(before: Reading, after: Reading) -> Load:
    """Return what the time between two readings took of the machine."""
    spent = (
        None
        if before.cpu_time_ns is None or after.cpu_time_ns is None
        else max(0, after.cpu_time_ns - before.cpu_time_ns)
    )
    return Load(spent, before.load_average, _steal_ratio(before.all_cpus, after.all_cpus), _line(_GOVERNOR))


def process_age_ns() -> int | None:
    """Return how long ago this process started, to 10 ms as Linux counts it; None elsewhere."""
    try:
        started_ticks = int(
            _OWN_STAT.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[_STARTTIME]
        )
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        return max(0, round((now_s - started_ticks / os.sysconf("SC_CLK_TCK")) * 1e9))
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def peak_process_bytes() -> int | None:
    """Return the most host memory that was resident in this process or in one of its ended children."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # getrusage(2) of each
    return unit * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _cpu_time_ns() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(one.ru_utime + one.ru_stime for one in used) * 1e9)


def _all_cpus() -> tuple[int, int] | None:
    words = (_line(_STAT) or "").split()[1 : 1 + _COUNTED]
    if len(words) < _COUNTED or not all(word.isdecimal() for word in words):
        return None
    ticks = [int(word) for word in words]
    return ticks[_STEAL], sum(ticks)


def _steal_ratio(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float | None:
    if before is None or after is None or after[1] <= before[1]:
        return None
    return round(max(0, after[0] - before[0]) / (after[1] - before[1]), 4)


def _line(path: Path) -> str | None:
    """Return the first line of a file of the kernel's; None where there is none."""
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            return file.readline().strip() or None
    except OSError:
        return None
