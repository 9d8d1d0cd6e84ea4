"""What did the work enqueued inside each annotated range take on the GPU? As nsys' nvtx_gpu_proj_sum."""

import polars as pl

from wallsplit.analysis import Window
from wallsplit.breakdowns.nesting import nesting
from wallsplit.breakdowns.projection import Calls, Ranges, project
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, statistics_of
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_STYLES, NvtxRanges


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_GPU_PROJECTION` in ns: by range name and style, ranges with GPU operations only.

    A range's operations are those of the calls wholly inside it on its thread; its projected time runs from the first
    start to the last end among them, idle time included. Level and children look at all such ranges of the thread,
    push/pop and start/end alike (as nsys does), inside the window or not.
    """
    instances = overlapping(projected_ranges(model.nvtx, calls_with_operations(model)), window)
    operations, level, children = pl.col("operations"), pl.col("level"), pl.col("children")
    summary = (
        instances.lazy()
        .group_by("range", "style")
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
    named = summary.with_columns(model.names.text(summary["range"]), pl.col("style").cast(pl.String))
    return largest_first(named, "projected_total_ns", "range", "style")


def projected_ranges(nvtx: NvtxRanges, calls: Calls) -> pl.DataFrame:
    """Return the ranges that have GPU operations: their own columns, projected (ns), operations, level, children."""
    ranges = Ranges(*(nvtx[name].to_numpy() for name in ("thread", "start", "end")))
    found = project(calls, ranges)
    instances = nvtx.select("thread", "start", "end", "range", "style")[found.rows]
    thread, start, end = (instances[name].to_numpy() for name in ("thread", "start", "end"))
    outer_first = instances.select(pl.col("range").cast(pl.Int64) * len(NVTX_STYLES) + pl.col("style").to_physical())
    level, children = nesting(thread, start, end, outer_first.to_series().to_numpy())
    return instances.with_columns(
        projected=found.last - found.first, operations=found.operations, level=level, children=children
    )


def calls_with_operations(model: Model) -> Calls:
    """Return the API calls that share (process, correlation id) with kernels, graph replays or memory operations."""
    key = ["pid", "correlation_id"]
    frames = (model.kernels, model.graph_replays, model.memory_ops)
    enqueued = (
        pl.concat([frame.lazy().select(*key, "start", "end") for frame in frames])
        .group_by(key)
        .agg(first=pl.col("start").min(), last=pl.col("end").max(), operations=pl.len().cast(pl.Int64))
        .with_row_index("work")
    )
    calls = (
        model.api_calls.lazy()
        .select(*key, "thread", "start", "end")
        .join(enqueued, on=key, how="inner")
        .select("work", "thread", "start", "end", "first", "last", "operations")
        .collect()
    )
    if calls["work"].n_unique() < calls.height:
        calls = counted_once(calls)
    return Calls(*(calls[name].to_numpy() for name in Calls.__dataclass_fields__))


def counted_once(calls: pl.DataFrame) -> pl.DataFrame:
    """Return `calls` so that work which several calls of a thread share counts once in a range that holds several.

    A call that contains another with the same work adds nothing and goes. Of the rest, a range holds a run of
    neighbours; taking the work off again for each pair of neighbours it holds leaves it once.
    """
    same = ["work", "thread"]
    calls = calls.sort(*same, "start", "end", descending=[False, False, False, True])
    end = pl.col("end")
    earliest_later_end = end.shift(-1).reverse().cum_min().reverse().over(same)
    kept = calls.filter((end < earliest_later_end).fill_null(True))
    pairs = kept.with_columns(end.shift(-1).over(same), operations=-pl.col("operations")).drop_nulls("end")
    return pl.concat([kept, pairs])
