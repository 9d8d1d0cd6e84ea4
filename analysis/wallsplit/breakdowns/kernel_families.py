"""What kind of work took the GPU's time: matrix products, or everything else?"""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import DURATION, largest_first, overlapping, with_share
from wallsplit.kernel_names.families import family
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import KERNEL_FAMILIES


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.KERNEL_FAMILIES`: by family over all processes and devices, plain sums in ns.

    `kernels` counts distinct names. Communication is what the ledger books as such.
    """
    kernels = overlapping(model.kernels, window)
    by_name = kernels.group_by("name", "is_comm").agg(pl.len().alias("count"), DURATION.sum().alias("total_ns"))
    families = [
        "communication" if is_comm else family(name)
        for name, is_comm in zip(model.names.text(by_name["name"]), by_name["is_comm"], strict=True)
    ]
    summary = (
        by_name.with_columns(pl.Series("family", families, pl.String))
        .group_by("family")
        .agg(
            pl.col("count").sum().cast(pl.Int64),
            pl.col("name").n_unique().cast(pl.Int64).alias("kernels"),
            pl.col("total_ns").sum(),
        )
    )
    return largest_first(with_share(summary), "total_ns", "family")


TABLE = Breakdown("kernel_families", "Kernels", KERNEL_FAMILIES, compute, lower_bounds=("total_ns", "count"))
