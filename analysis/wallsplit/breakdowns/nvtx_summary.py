"""How long did the annotated ranges last on the host? As nsys' nvtx_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.range_names import NAME_AND_STYLE, named, names_and_styles
from wallsplit.breakdowns.statistics import DURATION, overlapping, summarise_groups, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_SUMMARY`: by name and style over all threads, plain sums in ns (nested ones overlap)."""
    ranges = overlapping(model.nvtx, window)
    columns = ranges.select(NAME_AND_STYLE.alias("name_and_style"), DURATION.alias("ns"))
    name_and_style, length = (column.to_numpy() for column in columns.get_columns())
    summary = with_share(summarise_groups(name_and_style, length, names_and_styles(model.names), "", "ns"))
    return named(summary.rename({"group": "name_and_style"}), "total_ns", model.names)


TABLE = Breakdown("nvtx_summary", "NVTX ranges by name", NVTX_SUMMARY, compute, listed=10_000)
