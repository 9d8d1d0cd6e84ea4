"""Which kernels took the GPU's time? As nsys' cuda_gpu_kern_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.kernel_labels import label_of
from wallsplit.breakdowns.statistics import largest_first, overlapping, summarise_names
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import KERNEL_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.KERNEL_SUMMARY`: by demangled name over all processes and devices, plain sums in ns."""
    summary = summarise_names(overlapping(model.kernels, window), model.names)
    named = summary.with_columns(label_of(model, summary["name"]), model.names.text(summary["name"]))
    return largest_first(named, "total_ns", "name")


TABLE = Breakdown("kernel_summary", "Kernels", KERNEL_SUMMARY, compute, lower_bounds=("total_ns", "count"))
