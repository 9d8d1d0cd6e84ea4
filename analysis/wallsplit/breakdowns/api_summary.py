"""Which CUDA API calls took the host's time? As nsys' cuda_api_sum, with normalised names."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import API_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.API_SUMMARY`: plain sums over calls in ns, the class by name (not as the ledger books it)."""
    calls = overlapping(model.api_calls, window)
    summary = with_share(summarise(calls, ["name", "api_class"], DURATION, "ns"))
    named = summary.with_columns(model.names.text(summary["name"]), pl.col("api_class").cast(pl.String).alias("class"))
    return largest_first(named, "total_ns", "name")


TABLE = Breakdown("api_summary", "CUDA API calls", API_SUMMARY, compute)
