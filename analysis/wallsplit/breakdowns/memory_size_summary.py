"""How much did copies and sets move? As nsys' cuda_gpu_mem_size_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import largest_first, overlapping, summarise
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import MEMORY_SIZE_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.MEMORY_SIZE_SUMMARY` in bytes: `count` is all operations, sizes are of those that record one."""
    summary = summarise(overlapping(model.memory_ops, window), ["operation"], pl.col("bytes"), "bytes")
    return largest_first(summary.with_columns(pl.col("operation").cast(pl.String)), "total_bytes", "operation")


TABLE = Breakdown(
    "memory_size_summary",
    "Memory operations by size",
    MEMORY_SIZE_SUMMARY,
    compute,
    needs=("memory_ops.bytes",),
    lower_bounds=("total_bytes", "count"),
)
