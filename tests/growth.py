"""Whether twice the input is twice the work: counted in lines executed and in bytes, never in seconds."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


def lines_executed(work: Callable[[], object]) -> int:
    """Return how many lines of Python a piece of work executes, each turn of a loop and each thread counted."""
    count = 0

    def on_line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    before = sys.gettrace()
    threading.settrace(on_line)
    sys.settrace(on_line)
    try:
        work()
    finally:
        sys.settrace(before)
        threading.settrace(None)
    return count


def is_linear(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether twice the size takes at most a little more than twice the lines."""
    work(1)()  # what is imported or made once is not counted
    once, twice = (lines_executed(work(n)) for n in (size, 2 * size))
    return twice <= 2.3 * once


_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def tells_peaks() -> bool:
    """Return whether this system tells how much memory a piece of work took at most."""
    try:
        return peak_bytes(lambda: None) >= 0
    except (OSError, TypeError):
        return False


def peak_bytes(work: Callable[[], object]) -> int:
    """Return by how much the memory of this process grew at most during a piece of work, Polars' and NumPy's too."""
    _RESET.write_text("5", encoding="ascii")  # the peak becomes what is held now: proc(5)
    before = _held("VmRSS")
    work()
    return max(0, _held("VmHWM") - before)


def _held(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    return int(found[1]) * 1_024 if found else -1
