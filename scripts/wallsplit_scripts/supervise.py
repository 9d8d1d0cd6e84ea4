"""Running another program so that nothing of it is left behind: a time limit, interrupts passed on, orphans ended.

A profiler spreads over several sessions: nsys in one, its agent reparented to init in a second, the profiled program
in a third. Ending a process group therefore reaches only a part. On Linux this process adopts whatever its children
lose (PR_SET_CHILD_SUBREAPER, prctl(2)), so that every process of the run stays among its descendants. If this process
is killed itself, its guard ends the run (guard.py).
"""

import ctypes
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import IO

from wallsplit_scripts import guard

GRACE_S = 30.0  # between SIGTERM and SIGKILL; nsys finishes its report in it
LINGER_S = 1.0  # what outlives its parent may still end by itself: nsys' agent does
_POLL_S = 0.02
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    exit_code: int  # as a shell counts: 128 + signal number for a program ended by a signal
    timed_out: bool = False
    interrupted_by: int | None = None  # the signal this process was sent meanwhile
    left_behind: tuple[str, ...] = ()  # names of processes that went on when the program had ended, and were ended

    @property
    def stopped(self) -> bool:
        """Whether the program was stopped from here and did not end by itself."""
        return self.timed_out or self.interrupted_by is not None


def supervise(
    argv: Sequence[str],
    *,
    limit_s: float | None = None,
    grace_s: float | None = None,
    output: IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Return how the program ended; when this returns, no process of its run is alive.

    Past the limit, and on SIGINT, SIGTERM or SIGHUP to this process, the program gets SIGTERM, and after the grace
    time (or at a second signal) SIGKILL. `output` takes its stdout and stderr; without it they pass through, as this
    process's environment does without `environment`.

    Raises:
        OSError: the program cannot be started.
    """
    token = secrets.token_hex(8)
    with _guarded(token) as tell, _adopting_orphans(), _noting_signals() as noted:
        before = set(descendants(os.getpid()))
        process = subprocess.Popen(
            argv,
            stdin=None if output is None else subprocess.DEVNULL,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            env={**(os.environ if environment is None else environment), guard.TOKEN: token},
            start_new_session=True,  # a terminal's Ctrl-C reaches this process alone, which passes it on in order
        )
        tell(process.pid)
        left_behind: tuple[str, ...] = ()
        try:
            timed_out = not _await(process, noted, limit_s)
            interrupted_by = noted.first
            if process.poll() is None:
                _signal_group(process)
                noted.again.clear()
                _await(process, noted, GRACE_S if grace_s is None else grace_s)
        finally:
            left_behind = _end_leftovers(process, before)
    code = process.wait()
    stopped = timed_out or interrupted_by is not None
    return Ended(
        128 - code if code < 0 else code,
        timed_out and interrupted_by is None,
        interrupted_by,
        () if stopped else left_behind,
    )


@dataclass(slots=True)
class _Noted:
    """Signals that arrived: the first, and whether one arrived since `again` was cleared."""

    first: int | None = None
    again: threading.Event = field(default_factory=threading.Event)

    def note(self, number: int, _frame: FrameType | None) -> None:
        self.first = self.first or number
        self.again.set()


@contextmanager
def _noting_signals() -> Iterator[_Noted]:
    noted = _Noted()
    if threading.current_thread() is not threading.main_thread():
        yield noted  # Python lets the main thread alone set handlers
        return
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    kept = {number: signal.signal(number, noted.note) for number in numbers}
    try:
        yield noted
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _await(process: subprocess.Popen[bytes], noted: _Noted, limit_s: float | None) -> bool:
    """Return whether the process ended, or a signal arrived, within the limit."""
    deadline = None if limit_s is None else time.monotonic() + limit_s
    while process.poll() is None and not noted.again.is_set():
        if deadline is not None and time.monotonic() >= deadline:
            return False
        noted.again.wait(_POLL_S)
    return True


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _signal_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGTERM)


@contextmanager
def _guarded(token: str) -> Iterator[Callable[[int], None]]:
    """Have all processes that bear the token end if this one is killed; yields what takes the program's process id."""
    if sys.platform != "linux":
        yield lambda _pid: None
        return
    # -I and -S: it needs nothing but the standard library, and nobody's settings.
    argv = (sys.executable, "-I", "-S", guard.__file__, token)
    watching = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert watching.stdin is not None
    pipe = watching.stdin

    def tell(word: object) -> None:
        with suppress(BrokenPipeError):  # somebody killed the guard; the run goes on without
            pipe.write(f"{word}\n".encode())
            pipe.flush()

    try:
        yield tell
    finally:
        tell(guard.DONE.decode())
        with suppress(BrokenPipeError):
            pipe.close()
        watching.wait()


def _end_leftovers(process: subprocess.Popen[bytes], before: set[int]) -> tuple[str, ...]:
    """End every process of the run, those a program left behind after a moment, and return the names of these."""
    if sys.platform != "linux":
        if process.poll() is None:
            process.kill()
        return ()
    import psutil  # takes longer to import than a small trace to read, and few commands get here

    names: dict[int, str] = {}
    patience = time.monotonic() + (LINGER_S if process.poll() is not None else 0.0)
    while alive := [pid for pid in descendants(os.getpid()) if pid not in before and not _reaped(pid, process)]:
        if time.monotonic() >= patience:
            for pid in alive:
                with suppress(psutil.NoSuchProcess):
                    names.setdefault(pid, psutil.Process(pid).name())
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        if time.monotonic() >= patience + GRACE_S:
            break  # a process in uninterruptible sleep dies when the kernel lets it
        time.sleep(_POLL_S)
    return tuple(names.values())


def _reaped(pid: int, process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process is gone; collects the exit status of an adopted one."""
    if pid == process.pid:
        return process.poll() is not None
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False  # not a direct child (yet): its parent collects it, or dies and leaves it to this process


def descendants(root: int) -> list[int]:
    """Return the process ids of all living descendants of the process."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        return [process.pid for process in psutil.Process(root).children(recursive=True)]
    return []
