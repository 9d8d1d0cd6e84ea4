"""Many traces at once on this machine, each by one of a few processes (workers.py)."""

import stat
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from wallsplit.cores import cores

if TYPE_CHECKING:
    from wallsplit.analysis import Failure

T = TypeVar("T")
"""What is made of a trace: an analysis, a measurement."""
BYTES_PER_WORKER = 32 * 2**20
"""Reading less than this takes less time than starting a worker, which imports Polars anew."""


def default_jobs(traces: Sequence[Path]) -> int:
    """Return how many traces to analyse at once: one a core, fewer where starting workers costs more."""
    return min(cores(), len(traces), 1 + sum(map(_work_bytes, traces)) // BYTES_PER_WORKER)


def _work_bytes(trace: Path) -> int:
    from wallsplit.trace.identify import REPORT_SUFFIXES

    try:
        status = trace.stat()
    except (OSError, ValueError):
        return 0  # what cannot be read is soon told
    is_export = stat.S_ISREG(status.st_mode) and trace.suffix.lower() not in REPORT_SUFFIXES
    return status.st_size if is_export else BYTES_PER_WORKER  # exporting a report takes long enough


def analyze_all(
    traces: Sequence[Path], one: "Callable[[Path], T | Failure]", jobs: int, advance: Callable[[str], None]
) -> "list[T | Failure]":
    """Return the outcome of each trace, in order; at most `jobs` processes call `one`, this one alone if that is 1.

    `one` can be pickled; `advance` is called here with the name of each trace as its analysis begins.

    Raises:
        WallsplitError: no process can be started.
    """
    jobs = min(jobs, len(traces))
    if jobs > 1:
        from wallsplit_scripts.workers import analyze_in_workers  # one trace needs no other process

        return analyze_in_workers(traces, one, jobs, advance)
    outcomes: list[T | Failure] = []
    for trace in traces:
        advance(trace.name)
        outcomes.append(one(trace) if len(traces) == 1 else guarded(one, trace))
    return outcomes


def guarded(one: "Callable[[Path], T | Failure]", trace: Path) -> "T | Failure":
    """Return what `one` makes of the trace; a defect is told in one line, so that the other traces go on."""
    from polars.exceptions import PanicException  # not an Exception

    from wallsplit.analysis import Failure
    from wallsplit.text import for_people

    try:
        return one(trace)
    except (Exception, PanicException) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {for_people(str(error))}"
        return Failure(str(trace), f"{trace}: {what}; analyse it alone to see where that comes from")
