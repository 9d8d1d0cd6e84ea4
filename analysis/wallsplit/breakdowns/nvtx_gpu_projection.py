"""What did the work enqueued inside each annotated range take on the GPU? As nsys' nvtx_gpu_proj_sum."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.nested import Codes, nested
from wallsplit.breakdowns.projection import Calls, Ranges, Work
from wallsplit.breakdowns.range_names import name_and_style_of_kinds, named, names_and_styles
from wallsplit.breakdowns.slices import Ints
from wallsplit.breakdowns.statistics import check_sum, overlapping, summarise_groups
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.rows import rows_of
from wallsplit.ledger.timeline import summed
from wallsplit.model.correlation import Numbers
from wallsplit.model.model import Model
from wallsplit.ranks import places_among, ranked
from wallsplit.schema import NVTX_GPU_PROJECTION


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_GPU_PROJECTION` in ns: by range name and style, ranges with GPU operations only.

    A range's operations are those of the calls wholly inside it on its thread; its projected time runs from the first
    start to the last end among them, idle time included. Level and children look at all such ranges of the thread,
    push/pop and start/end alike (as nsys does), inside the window or not.
    """
    work = _work_of_numbers(model)
    every = [_ranges_of_process(model, work, pid, rows, window) for pid, rows in model.annotations.processes()]
    found = _Found(*(np.concatenate(columns) for columns in zip(_NONE, *every, strict=True)))
    del every
    size = names_and_styles(model.names)
    summary = summarise_groups(found.group, found.projected, size, "projected", "ns")
    check_sum(pl.Series(found.length), "ns")
    some, count = summary["group"].to_numpy(), summary["count"].to_numpy()
    total, operations, level, children = (
        summed(found.group, column, size)[some]
        for column in (found.length, found.operations, found.level, found.children)
    )
    summary = summary.rename({"group": "name_and_style"}).with_columns(
        gpu_op_count=operations,
        range_total_ns=total,
        gpu_op_avg=operations / count,
        level_avg=level / count,
        child_avg=children / count,
    )
    return named(summary, "projected_total_ns", model.names)


class _Found(NamedTuple):
    """Ranges with GPU operations, one entry each; times in ns."""

    group: npt.NDArray[np.uint32]
    """Name and style."""
    projected: Ints
    length: Ints
    operations: Ints
    level: Codes
    children: Codes


_NONE = _Found(np.empty(0, np.uint32), *(np.empty(0, np.int64),) * 3, *(np.empty(0, np.int32),) * 2)


def _ranges_of_process(model: Model, work: Work, pid: int, rows: slice, window: Window | None) -> _Found:
    """Return the ranges with GPU operations of a process, given the rows of its ranges."""
    calls = calls_with_operations(model, work, pid)
    if not len(calls.thread):
        return _NONE
    nvtx = model.annotations.at(rows)
    threads, of_call = ranked(calls.thread)
    of_kinds = places_among(threads, nvtx.kinds["thread"].to_numpy()).astype(np.int32)
    group = nvtx.each(name_and_style_of_kinds(nvtx))
    ranges = Ranges(nvtx.each(of_kinds), nvtx.start, nvtx.end)
    found = nested(replace(calls, thread=of_call.astype(np.int32)), ranges, group)
    start, end = nvtx.start[found.rows], nvtx.end[found.rows]
    if window is not None:
        inside = overlapping(pl.DataFrame({"start": start, "end": end}).with_row_index("place"), window)
        some = inside["place"].to_numpy()
        found, start, end = found.of(some), start[some], end[some]
    return _Found(
        group[found.rows], found.last - found.first, end - start, found.operations, found.level, found.children
    )


def _work_of_numbers(model: Model) -> Work:
    """Return what the kernels, graph replays and memory operations of each correlation number are together."""
    correlation = model.correlation
    numbers = np.concatenate(correlation.operations)
    starts, ends = (np.concatenate([frame[name] for frame in model.gpu_operations]) for name in ("start", "end"))
    first, last = correlation.earliest(numbers, starts), correlation.latest(numbers, ends)
    return Work(first, last, correlation.operations_per_number)


def calls_with_operations(model: Model, work: Work, pid: int) -> Calls:
    """Return the API calls of a process that share a correlation id with GPU operations, by the work of each number."""
    correlation, of_process = model.correlation, rows_of(model.api_calls, "pid", pid)

    def calls(rows: Ints) -> Calls:
        thread, start, end = (model.api_calls[name].to_numpy()[rows] for name in ("thread", "start", "end"))
        number = correlation.calls[rows]
        return Calls(thread, start, end, work.first[number], work.last[number], work.operations[number])

    rows = of_process.start + np.flatnonzero(work.operations[correlation.calls[of_process]])
    is_shared = correlation.calls_per_number[correlation.calls[rows]] > 1
    if not is_shared.any():
        return calls(rows)
    alone, shared = calls(rows[~is_shared]), rows[is_shared]
    counted = counted_once(correlation.calls[shared], calls(shared))
    return Calls(*(np.concatenate(both) for both in zip(vars(alone).values(), vars(counted).values(), strict=True)))


def counted_once(work: Numbers, calls: Calls) -> Calls:
    """Return `calls` so that work which several calls of a thread share counts once in a range that holds several.

    A call that contains another with the same work adds nothing and goes. Of the rest, a range holds a run of
    neighbours; taking the work off again for each pair of neighbours it holds leaves it once.
    """
    same = ["work", "thread"]
    rows = pl.DataFrame({"work": work, **vars(calls)})
    rows = rows.sort(*same, "start", "end", descending=[False, False, False, True])
    end = pl.col("end")
    earliest_later_end = end.shift(-1).reverse().cum_min().reverse().over(same)
    kept = rows.filter((end < earliest_later_end).fill_null(True))
    pairs = kept.with_columns(end.shift(-1).over(same), operations=-pl.col("operations")).drop_nulls("end")
    return Calls(*(column.to_numpy() for column in pl.concat([kept, pairs]).drop("work")))


TABLE = Breakdown(
    "nvtx_gpu_projection",
    "NVTX ranges on the GPU",
    NVTX_GPU_PROJECTION,
    compute,
    needs=("api_calls.correlation_id",),
    lower_bounds=("count", "gpu_op_count", "projected_total_ns"),
    listed=10_000,
)
