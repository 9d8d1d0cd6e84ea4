"""How long did the annotated ranges last on the host? As nsys' nvtx_sum."""

import polars as pl

from wallsplit.analysis import Window
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.model.model import Model


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_SUMMARY`: by name and style over all threads, plain sums in ns (nested ones overlap)."""
    summary = with_share(summarise(overlapping(model.nvtx, window), ["range", "style"], DURATION, "ns"))
    named = summary.with_columns(model.names.text(summary["range"]), pl.col("style").cast(pl.String))
    return largest_first(named, "total_ns", "range", "style")
