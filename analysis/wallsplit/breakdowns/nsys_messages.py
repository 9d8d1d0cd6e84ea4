"""What did nsys say about its own recording, and which of it do the tables bear out?"""

import re
from collections.abc import Callable

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import NSYS_MESSAGES

SEVERITIES = {1: "info", 2: "warning", 3: "error"}
"""By the number in the trace; what nsys adds beside them (verbose, unknown) is `other`."""

_NOTHING_CAME = (r"^No (.+) events collected", r"^(.+) profiling might have not been started correctly")
"""Messages that a row of what they name refutes."""
_ABOUT_PROCESS = re.compile(r"\bpid (\d+)")
_ROWS: dict[str, Callable[[Model], tuple[pl.DataFrame, ...]]] = {
    "CUDA": lambda model: (model.api_calls, *model.gpu_operations),
    "NVTX": lambda model: (model.annotations.kinds,),
    "OS runtime libraries": lambda model: (model.osrt,),
    "MPI": lambda model: (model.mpi,),
}
"""What nsys calls its kinds of events, and the rows that they became."""


def compute(model: Model, _window: Window | None) -> pl.DataFrame:
    """Return `schema.NSYS_MESSAGES` in file order, equal ones of one process together, whatever the window.

    `standing` is `refuted` where the trace has the rows that a message misses, `other_process` where it is about a
    process of which the trace has no CUDA row and no NVTX range (without CUDA: no row at all), else `stands`.
    """
    about = model.diagnostics.with_columns(
        pl.coalesce("pid", pl.col("text").str.extract(_ABOUT_PROCESS.pattern).cast(pl.Int32, strict=False))
    )
    counts = about.group_by("severity", "pid", "text", maintain_order=True).len("count")
    own = _own_processes(model) if counts.height else set()
    rows = [
        (SEVERITIES.get(severity, "other"), pid, text, count, _standing(text, pid, own, model))
        for severity, pid, text, count in counts.iter_rows()
    ]
    return pl.DataFrame(rows, schema=NSYS_MESSAGES, orient="row")


def _standing(text: str, pid: int | None, own: set[int], model: Model) -> str:
    for pattern in _NOTHING_CAME:
        match = re.search(pattern, text)
        processes = _processes(*_ROWS[match[1]](model)) if match and match[1] in _ROWS else set()
        if processes and (pid is None or pid in processes):
            return "refuted"
    return "other_process" if own and pid is not None and pid not in own else "stands"


def _own_processes(model: Model) -> set[int]:
    cuda = _processes(model.api_calls, *model.gpu_operations)
    ranges = model.annotations.kinds
    return cuda | _processes(ranges) if cuda else _processes(ranges, model.osrt, model.profiler_overhead)


def _processes(*frames: pl.DataFrame) -> set[int]:
    return {int(pid) for frame in frames for pid in frame["pid"].unique()}


TABLE = Breakdown("nsys_messages", "Messages of nsys", NSYS_MESSAGES, compute)
