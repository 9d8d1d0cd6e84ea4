"""Which CUDA API calls took the host's time? As nsys' cuda_api_sum, with normalised names."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import largest_first, overlapping, summarise_names
from wallsplit.ledger.ledger import Window
from wallsplit.model.api_classes import api_class
from wallsplit.model.model import Model
from wallsplit.schema import API_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.API_SUMMARY`: plain sums over calls in ns, the class by name (not as the ledger books it)."""
    calls = overlapping(model.api_calls, window)
    summary = summarise_names(calls, model.names)
    texts = model.names.text(summary["name"])
    named = summary.with_columns(texts, pl.Series("class", [api_class(text) for text in texts], dtype=pl.String))
    return largest_first(named, "total_ns", "name")


TABLE = Breakdown("api_summary", "CUDA API calls", API_SUMMARY, compute)
