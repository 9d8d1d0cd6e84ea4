"""How long did the annotated ranges last on the host, numbered ones taken together?"""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.range_groups import grouped
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, summarise, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import NVTX_GROUPS


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_GROUPS`: by group and style over all threads, plain sums in ns (nested ones overlap).

    `names` counts the distinct names of a group's ranges.
    """
    ranges = overlapping(model.nvtx, window)
    used = ranges["range"].unique()
    groups = grouped(model.names.text(used)).cast(pl.Categorical)
    group_of_range = pl.DataFrame({"range": used, "group": groups})
    rows = ranges.select("range", "start", "end", "style").join(group_of_range, on="range", maintain_order="left")
    by = ["group", "style"]
    names = rows.group_by(by).agg(pl.col("range").n_unique().cast(pl.Int64).alias("names"))
    summary = with_share(summarise(rows, by, DURATION, "ns")).join(names, on=by)
    named = summary.with_columns(pl.col("group", "style").cast(pl.String))
    return largest_first(named, "total_ns", "group", "style")


TABLE = Breakdown("nvtx_groups", "NVTX ranges", NVTX_GROUPS, compute)
