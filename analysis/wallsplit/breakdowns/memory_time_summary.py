"""How long did copies and sets take on the GPU? As nsys' cuda_gpu_mem_time_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import MEMORY_TIME_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.MEMORY_TIME_SUMMARY`: by operation over all processes and devices, plain sums in ns."""
    summary = with_share(summarise(overlapping(model.memory_ops, window), ["operation"], DURATION, "ns"))
    return largest_first(summary.with_columns(pl.col("operation").cast(pl.String)), "total_ns", "operation")


TABLE = Breakdown(
    "memory_time_summary",
    "Memory operations by time",
    MEMORY_TIME_SUMMARY,
    compute,
    lower_bounds=("total_ns", "count"),
)
