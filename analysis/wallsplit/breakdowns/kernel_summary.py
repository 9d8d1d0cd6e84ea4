"""Which kernels took the GPU's time? As nsys' cuda_gpu_kern_sum."""

import polars as pl

from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.KERNEL_SUMMARY`: by demangled name over all processes and devices, plain sums in ns."""
    summary = with_share(summarise(overlapping(model.kernels, window), ["name"], DURATION, "ns"))
    return largest_first(summary.with_columns(model.names.text(summary["name"])), "total_ns", "name")
