"""How long did the annotated ranges last on the host? As nsys' nvtx_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.range_names import NAME_AND_STYLE, named
from wallsplit.breakdowns.statistics import DURATION, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_SUMMARY`: by name and style over all threads, plain sums in ns (nested ones overlap)."""
    ranges = overlapping(model.nvtx, window)
    summary = with_share(summarise(ranges, [NAME_AND_STYLE.alias("name_and_style")], DURATION, "ns"))
    return named(summary, "total_ns", model.names)


TABLE = Breakdown("nvtx_summary", "NVTX ranges by name", NVTX_SUMMARY, compute, listed=10_000)
