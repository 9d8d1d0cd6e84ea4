"""Processes of which each analyses one trace after another.

A worker that dies (no memory left, a crash in native code) takes the one trace it was at with it, and no more:
concurrent.futures would give up all of them. Workers are started afresh and not forked, because a fork of a process
with Polars' threads in it may hang (https://docs.pola.rs/user-guide/misc/multiprocessing/).
"""

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from wallsplit.cores import cores
from wallsplit.errors import WallsplitError
from wallsplit_scripts import supervise
from wallsplit_scripts.many import guarded
from wallsplit_scripts.memory import return_large_blocks

if TYPE_CHECKING:
    from wallsplit.analysis import Failure

T = TypeVar("T")
"""What is made of a trace: an analysis, a measurement."""
GRACE_S = supervise.GRACE_S + supervise.LINGER_S  # a worker that exports a report ends nsys first; others end at once
THREADS = "POLARS_MAX_THREADS"


def analyze_in_workers(
    traces: Sequence[Path], one: "Callable[[Path], T | Failure]", jobs: int, advance: Callable[[str], None]
) -> "list[T | Failure]":
    """Return what `many.analyze_all` does, by this number of processes.

    Raises:
        WallsplitError: no process can be started.
    """
    outcomes: dict[int, T | Failure] = {}
    left = deque(enumerate(traces))
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, int]] = {}
    try:
        while left or busy:
            while left and len(busy) < jobs:
                worker = idle.pop() if idle else _Worker(one, max(1, cores() // jobs))
                position, trace = left.popleft()
                busy[worker.answers] = worker, position
                advance(trace.name)
                worker.begin(trace)
            ready = wait(list(busy))
            for answers in [pipe for pipe in busy if pipe in ready]:
                worker, position = busy.pop(answers)
                answer = worker.answer()
                if answer is None:
                    outcomes[position] = worker.died_at(traces[position])
                else:
                    outcomes[position] = answer
                    idle.append(worker)
    finally:
        _end([*idle, *(worker for worker, _ in busy.values())])
    return [outcomes[position] for position in range(len(traces))]


class _Worker:
    """A process that analyses one trace after another."""

    def __init__(self, one: Callable[[Path], Any], polars_threads: int) -> None:
        context = get_context("spawn")
        tasks, self._tasks = context.Pipe(duplex=False)
        self.answers, answers = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(one, tasks, answers), daemon=True)
        try:
            with _environment(polars_threads), _interrupts_later():
                self._process.start()
        except OSError as error:
            raise WallsplitError(f"no worker process can be started ({error.strerror}); try --jobs 1") from error
        finally:
            tasks.close()  # the worker's ends: while they are open here too, the death of either side goes unnoticed
            answers.close()

    def begin(self, trace: Path) -> None:
        """Have the trace analysed; `answers` is ready when that is done, or the process dead."""
        with suppress(BrokenPipeError):  # dead: `answer` tells
            self._tasks.send(trace)

    def answer(self) -> Any:
        """Return the outcome of the trace begun last; None if the process died over it."""
        try:
            return self.answers.recv()
        except (EOFError, OSError):
            return None

    def died_at(self, trace: Path) -> "Failure":
        """Return the failure of the trace over which the process died."""
        from wallsplit.analysis import Failure

        self.end()
        how, advice = _how_it_ended(self._process.exitcode or 0)
        return Failure(str(trace), f"{trace}: the process that analysed it died ({how}); {advice}")

    def terminate(self) -> None:
        """Ask the process to end; it obeys at once, or as soon as it has ended the nsys it runs."""
        self._process.terminate()

    def end(self) -> None:
        """Return when the process is gone."""
        self._process.join(GRACE_S)
        self._process.kill()
        self._process.join()
        self._tasks.close()
        self.answers.close()


def _work(one: Callable[[Path], Any], tasks: Connection, answers: Connection) -> None:
    """Answer every trace that comes, until no more can come."""
    return_large_blocks()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the parent ends its workers
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):  # the parent is gone; nsys was ended
        while True:
            answers.send(guarded(one, tasks.recv()))


def _end_with_parent() -> None:
    """End this process when its parent is gone, which may have been killed and told nobody."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _how_it_ended(code: int) -> tuple[str, str]:
    if code >= 0:
        return f"exit code {code}", "what it said stands above"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return name, "out of memory? try --jobs 1" if name == "SIGKILL" else "analyse it alone to see whether it does again"


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.end()


@contextmanager
def _environment(polars_threads: int) -> Iterator[None]:
    """Let processes started meanwhile use so many threads in Polars, unless the user has chosen a number.

    Nor do they import from the current folder, which is the first place where `python -c`, what multiprocessing starts,
    looks for `multiprocessing` itself.
    """
    added = {THREADS: str(polars_threads), "PYTHONSAFEPATH": "1"}
    added = {name: value for name, value in added.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C back; processes started meanwhile never get it, not even before their first line of Python."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # starting it with the first process would let Ctrl-C through again
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
