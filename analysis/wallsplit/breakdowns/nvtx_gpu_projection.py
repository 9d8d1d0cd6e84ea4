"""What did the work enqueued inside each annotated range take on the GPU? As nsys' nvtx_gpu_proj_sum."""

from dataclasses import replace

import numpy as np
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.nested import nested
from wallsplit.breakdowns.projection import Calls, Ranges
from wallsplit.breakdowns.range_names import name_and_style_of_kinds, named, names_and_styles
from wallsplit.breakdowns.slices import Ints
from wallsplit.breakdowns.statistics import check_sum, overlapping, summarise_groups
from wallsplit.ledger.ledger import Window
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
    nvtx = model.annotations
    name_and_style = nvtx.each(name_and_style_of_kinds(nvtx))
    calls = calls_with_operations(model)
    threads, of_call = ranked(calls.thread)
    of_kinds = places_among(threads, nvtx.kinds["thread"].to_numpy()).astype(np.int32)
    ranges = Ranges(nvtx.each(of_kinds), nvtx.start, nvtx.end)
    found = nested(replace(calls, thread=of_call.astype(np.int32)), ranges, name_and_style)
    del calls, of_call
    if window is not None:
        times = pl.DataFrame({"start": nvtx.start[found.rows], "end": nvtx.end[found.rows]}).with_row_index("place")
        found = found.of(overlapping(times, window)["place"].to_numpy())
    group, size = name_and_style[found.rows], names_and_styles(model.names)
    projected = found.last - found.first
    summary = summarise_groups(group, projected, size, "projected", "ns")
    del projected
    length = ranges.end[found.rows] - ranges.start[found.rows]
    check_sum(pl.Series(length), "ns")
    some, count = summary["group"].to_numpy(), summary["count"].to_numpy()
    total, operations, level, children = (
        summed(group, column, size)[some] for column in (length, found.operations, found.level, found.children)
    )
    summary = summary.rename({"group": "name_and_style"}).with_columns(
        gpu_op_count=operations,
        range_total_ns=total,
        gpu_op_avg=operations / count,
        level_avg=level / count,
        child_avg=children / count,
    )
    return named(summary, "projected_total_ns", model.names)


def calls_with_operations(model: Model) -> Calls:
    """Return the API calls that share (process, correlation id) with kernels, graph replays or memory operations."""
    correlation = model.correlation
    numbers = np.concatenate(correlation.operations)
    starts, ends = (np.concatenate([frame[name] for frame in model.gpu_operations]) for name in ("start", "end"))
    first, last = correlation.earliest(numbers, starts), correlation.latest(numbers, ends)
    operations = correlation.operations_per_number

    def calls(rows: Ints) -> Calls:
        thread, start, end = (model.api_calls[name].to_numpy()[rows] for name in ("thread", "start", "end"))
        work = correlation.calls[rows]
        return Calls(thread, start, end, first[work], last[work], operations[work])

    rows = np.flatnonzero(operations[correlation.calls])
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
