"""Watching other processes from a test."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

PATIENCE_S = 30.0


def alive(pid: int) -> bool:
    """Return whether a process with that id runs (one that ended but was not collected does not)."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as the condition holds; fail if it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def pid_in(path: Path) -> int:
    """Return the process id a program wrote into the file, as soon as it did."""
    wait_until(lambda: path.is_file() and path.read_text().endswith("\n"))
    return int(path.read_text())
