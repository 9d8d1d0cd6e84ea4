"""The labels of a trace's kernels: the same in every table and window."""

import polars as pl

from wallsplit.kernel_names.labels import labels
from wallsplit.model.model import Model


def label_of(model: Model, names: pl.Series) -> pl.Series:
    """Return the label of each kernel by the row of its name in `Names`; different kernels have different labels."""
    rows = model.kernels["name"].unique().sort()
    texts = pl.Series("label", labels(model.names.text(rows).to_list()), dtype=pl.String)
    return texts.gather(rows.search_sorted(names))
