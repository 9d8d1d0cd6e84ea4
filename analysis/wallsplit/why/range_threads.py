"""Under which NVTX ranges did other threads launch work, so that the range alone does not tell what it costs?

PyTorch runs the backward pass on threads of its own: a range on the main thread around a step covers that time, but
launches none of its kernels.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.statistics import overlapping
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.rows import DRIVING
from wallsplit.model import Model
from wallsplit.schema import RANGE_THREADS

_FIGURES = ("own_operations", "own_ns", "other_operations", "other_ns")
Sums = npt.NDArray[np.int64]


def range_threads(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.RANGE_THREADS`: of each NVTX range, the GPU operations launched while it was open.

    `own`: by the range's thread; `other`: by other threads of its process. Ranges of one name are added up; those that
    overlap the window count whole. Only ranges with both a thread and an operation of another are listed, most first.
    """
    driving = model.api_calls.lazy().filter(pl.col("api_class").is_in(list(DRIVING)))
    threads = driving.group_by("pid").agg(pl.col("thread").n_unique()).collect()
    if threads.filter(pl.col("thread") > 1).is_empty():
        return pl.DataFrame(schema=RANGE_THREADS)
    launched = _launched(model)
    ranges = model.annotations.where(~pl.col("is_library"), pl.col("thread") >= 0)
    found = [
        _of_process(overlapping(ranges.where(pl.col("pid") == pid).frame, window), own)
        for (pid,), own in launched.partition_by("pid", as_dict=True).items()
        if own["thread"].n_unique() > 1
    ]
    if not found:
        return pl.DataFrame(schema=RANGE_THREADS)
    by = pl.concat(found).group_by("pid", "range").agg(pl.len().cast(pl.Int64).alias("count"), pl.col(*_FIGURES).sum())
    listed = by.filter(pl.col("other_operations") > 0).with_columns(
        pl.col("pid").cast(pl.Int64),
        model.names.text(by.filter(pl.col("other_operations") > 0)["range"]).alias("range"),
        own_ratio=pl.col("own_operations") / (pl.col("own_operations") + pl.col("other_operations")),
    )
    return listed.sort("other_ns", "pid", "range", descending=[True, False, False]).select(RANGE_THREADS.names())


def _launched(model: Model) -> pl.DataFrame:
    """Return, of each GPU operation with a call, pid, thread and start of its first call, and its own length."""
    correlation, calls = model.correlation, model.api_calls
    latest_first = np.argsort(calls["start"].to_numpy(), kind="stable")[::-1]
    call = np.full(correlation.size, -1)
    call[correlation.calls[latest_first]] = latest_first
    frames = []
    for frame, numbers in zip(model.gpu_operations, correlation.operations, strict=True):
        of_operation = call[numbers]
        known = np.flatnonzero(of_operation >= 0)
        lengths = (frame["end"] - frame["start"])[known]
        frames.append(calls.select("pid", "thread", "start")[of_operation[known]].with_columns(length=lengths))
    return pl.concat(frames)


@dataclass(frozen=True)
class _Launches:
    """Operations in the order of their calls, and how many and how long they are up to each."""

    starts: Times
    sums: Sums

    @classmethod
    def of(cls, launched: pl.DataFrame) -> "_Launches":
        in_turn = launched.sort("start")
        lengths = np.concatenate([[0], np.cumsum(in_turn["length"].to_numpy())])
        return cls(in_turn["start"].to_numpy(), np.stack([np.arange(len(lengths)), lengths]))

    def within(self, ranges: pl.DataFrame) -> Sums:
        """Return (operations, their ns) whose call begins in each of the ranges."""
        low, high = (np.searchsorted(self.starts, ranges[edge].to_numpy()) for edge in ("start", "end"))
        return np.asarray(self.sums[:, high] - self.sums[:, low])


def _of_process(ranges: pl.DataFrame, launched: pl.DataFrame) -> pl.DataFrame:
    """Return pid, range and the _FIGURES of each of a process's ranges."""
    everything = _Launches.of(launched)
    by_thread = launched.partition_by("thread", as_dict=True)
    found = [ranges.clear().select("pid", "range").with_columns(pl.lit(0, pl.Int64).alias(name) for name in _FIGURES)]
    for (thread,), own_ranges in ranges.partition_by("thread", as_dict=True).items():
        own_launched = by_thread.get((thread,), launched.clear())
        own = _Launches.of(own_launched).within(own_ranges)
        every = everything.within(own_ranges)
        figures = zip(_FIGURES, [*own, *(every - own)], strict=True)
        found.append(own_ranges.select("pid", "range").with_columns(pl.Series(name, x) for name, x in figures))
    return pl.concat(found)
