"""What workers are given instead of an analysis; it is importable, so that other processes can be sent its name."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from processes import wait_until
from wallsplit.analysis import Failure, Outcome
from wallsplit.pipeline import analyze
from wallsplit_scripts.supervise import supervise


def by_name(trace: Path) -> Outcome:
    """Return a failure that tells the process, unless the file's name says that something happens before."""
    if trace.name == "slow":  # done after another
        wait_until(lambda: any(trace.parent.glob("*.done")))
    if trace.name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if trace.name == "crashed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if trace.name == "defect":
        raise ZeroDivisionError("division\nby zero")
    trace.with_suffix(".done").touch()
    return Failure(str(trace), f"{trace}: by process {os.getpid()}")


def killed_once(trace: Path) -> Outcome:
    """Return the same, after a first attempt over which the process dies."""
    attempt = trace.with_suffix(".attempt")
    if not attempt.exists():
        attempt.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return by_name(trace)


def no_outcome(trace: Path) -> Any:
    """Return something else, or an analysis with a table that no version makes, as the file's name says."""
    if trace.name == "text":
        return "text"
    analysis = analyze(trace.with_name("run.sqlite"))
    if trace.name == "table-gone":
        return replace(analysis, tables={})
    wrong = pl.DataFrame({"name": ["k"]})
    return replace(analysis, tables=analysis.tables | {"kernel_summary": wrong})


def threads_of_polars(trace: Path) -> Outcome:
    """Return a failure that tells how many threads Polars uses."""
    return Failure(str(trace), str(pl.thread_pool_size()))


def hang(trace: Path) -> Outcome:
    """Wait for ever; the file gets the id of the process."""
    trace.write_text(f"{os.getpid()}\n")
    signal.pause()
    raise AssertionError


def hang_in_a_program(trace: Path) -> Outcome:
    """Wait for ever, as during an export; the file gets the id of the program, which is in a session of its own."""
    supervise(("sh", "-c", 'echo $$ > "$0"; exec sleep 600', str(trace)))
    raise KeyboardInterrupt  # as `nsys.export` tells that it was interrupted
