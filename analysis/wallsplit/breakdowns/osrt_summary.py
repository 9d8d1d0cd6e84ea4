"""Which operating-system calls did threads wait in? As nsys' osrt_sum."""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import OSRT_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.OSRT_SUMMARY`: by name over all threads, plain sums in ns (threads wait at the same time)."""
    summary = with_share(summarise(overlapping(model.osrt, window), ["name"], DURATION, "ns"))
    return largest_first(summary.with_columns(model.names.text(summary["name"])), "total_ns", "name")


TABLE = Breakdown("osrt_summary", "OS runtime calls", OSRT_SUMMARY, compute)
