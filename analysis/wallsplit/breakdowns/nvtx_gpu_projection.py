"""What did the work enqueued inside each annotated range take on the GPU? As nsys' nvtx_gpu_proj_sum."""

import numpy as np
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.nesting import nesting
from wallsplit.breakdowns.projection import Calls, Ranges, project
from wallsplit.breakdowns.range_names import NAME_AND_STYLE, named
from wallsplit.breakdowns.slices import Ints
from wallsplit.breakdowns.statistics import DURATION, overlapping, statistics_of
from wallsplit.ledger.ledger import Window
from wallsplit.model.correlation import Numbers
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_GPU_PROJECTION


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_GPU_PROJECTION` in ns: by range name and style, ranges with GPU operations only.

    A range's operations are those of the calls wholly inside it on its thread; its projected time runs from the first
    start to the last end among them, idle time included. Level and children look at all such ranges of the thread,
    push/pop and start/end alike (as nsys does), inside the window or not.
    """
    instances = overlapping(projected_ranges(model), window)
    operations, level, children = pl.col("operations"), pl.col("level"), pl.col("children")
    summary = (
        instances.lazy()
        .group_by("name_and_style")
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            operations.sum().alias("gpu_op_count"),
            *statistics_of(pl.col("projected"), "projected", "ns"),
            DURATION.sum().alias("range_total_ns"),
            operations.mean().alias("gpu_op_avg"),
            level.mean().alias("level_avg"),
            children.mean().alias("child_avg"),
        )
        .collect()
    )
    return named(summary, "projected_total_ns", model.names)


def projected_ranges(model: Model) -> pl.DataFrame:
    """Return the ranges that have GPU operations: their own columns, projected (ns), operations, level, children."""
    ranges = Ranges(*(model.nvtx[name].to_numpy() for name in ("thread", "start", "end")))
    found = project(calls_with_operations(model), ranges)
    rows = model.nvtx.lazy().select("thread", "start", "end", name_and_style=NAME_AND_STYLE).collect()[found.rows]
    rows = rows.with_columns(projected=found.last - found.first, operations=found.operations)
    del found  # as large as what comes next
    level, children = nesting(*(column.to_numpy() for column in rows.get_columns()[:4]))
    return rows.drop("thread").with_columns(level=level, children=children)


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
