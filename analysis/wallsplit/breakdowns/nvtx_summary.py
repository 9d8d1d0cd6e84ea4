"""How long did the annotated ranges last on the host? As nsys' nvtx_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.range_names import name_and_style_of_kinds, named, names_and_styles, overlapping_ranges
from wallsplit.breakdowns.statistics import summarise_groups, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_SUMMARY`: by name and style over all threads, plain sums in ns (nested ones overlap)."""
    ranges = overlapping_ranges(model.annotations, window)
    group, length = ranges.each(name_and_style_of_kinds(ranges)), ranges.end - ranges.start
    summary = with_share(summarise_groups(group, length, names_and_styles(model.names), "", "ns"))
    return named(summary.rename({"group": "name_and_style"}), "total_ns", model.names)


TABLE = Breakdown("nvtx_summary", "NVTX ranges by name", NVTX_SUMMARY, compute, listed=10_000)
