"""What lies between a launch call and its kernel's end? As nsys' cuda_kern_exec_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.kernel_labels import label_of
from wallsplit.breakdowns.statistics import largest_first, overlapping, statistics_of
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import LAUNCHES

KEYS = ["pid", "tid", "device", "api_name", "kernel_name"]


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.LAUNCHES` in ns: one row per thread, device, API name and kernel name.

    A launch lasts from its call's start to the later end of call and kernel; that span decides whether it overlaps the
    window. Kernels without a call in the trace are left out. Where two calls carry one correlation id, the kernel
    counts under each, as `nsys stats` counts it.
    """
    launches = overlapping(launched_kernels(model), window)
    queue = pl.col("kernel_start") - pl.col("call_end")
    summary = (
        launches.lazy()
        .group_by(KEYS)
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            (queue >= 0).sum().cast(pl.Int64).alias("queue_count"),
            (pl.col("call").n_unique() < pl.len()).alias("shared_call"),
            *statistics_of(pl.col("call_end") - pl.col("start"), "api", "ns", total=False),
            *statistics_of(queue.filter(queue >= 0), "queue", "ns", total=False),
            *statistics_of(pl.col("kernel_end") - pl.col("kernel_start"), "kernel", "ns", total=False),
            *statistics_of(pl.col("end") - pl.col("start"), "total", "ns", total=False),
        )
        .collect()
    )
    named = summary.with_columns(
        model.names.text(summary["api_name"]),
        model.names.text(summary["kernel_name"]),
        label_of(model, summary["kernel_name"]).alias("kernel_label"),
        pl.col("pid", "tid", "device").cast(pl.Int64),
    )
    return largest_first(named, "total_avg_ns", *KEYS)


def launched_kernels(model: Model) -> pl.DataFrame:
    """Return one row per pair of kernel and API call with the same process and correlation id (Correlation.pairs)."""
    kernel, call = model.correlation.pairs(model.correlation.operations[0])
    calls = model.api_calls.select("pid", "start", tid="thread", call_end="end", api_name="name")[call]
    kernels = model.kernels.select("device", kernel_start="start", kernel_end="end", kernel_name="name")[kernel]
    return calls.hstack(kernels).with_columns(
        pl.Series("call", call, pl.UInt32),
        pl.col("tid") & 0xFFFFFF,
        end=pl.max_horizontal("call_end", "kernel_end"),
    )


TABLE = Breakdown(
    "launches",
    "Launches",
    LAUNCHES,
    compute,
    needs=("kernels.correlation_id", "api_calls.correlation_id"),
)
