"""How long did CUDA graphs run that were recorded whole?"""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import GRAPH_REPLAY_SUMMARY


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.GRAPH_REPLAY_SUMMARY`: by process, device and graph (null = id not recorded), sums in ns."""
    keys = ["pid", "device", "graph"]
    summary = with_share(summarise(overlapping(model.graph_replays, window), keys, DURATION, "ns"))
    return largest_first(summary.with_columns(pl.col(keys).cast(pl.Int64)), "total_ns", *keys)


TABLE = Breakdown(
    "graph_replays",
    "Graph replays",
    GRAPH_REPLAY_SUMMARY,
    compute,
    lower_bounds=("total_ns", "count"),
)
