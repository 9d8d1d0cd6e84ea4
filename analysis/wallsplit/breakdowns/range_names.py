"""An NVTX range's name and style as one integer: grouping by it takes no memory, by two columns hundreds of MB."""

import polars as pl

from wallsplit.model.names import Names
from wallsplit.schema import NVTX_STYLES

NAME_AND_STYLE = pl.col("range").cast(pl.UInt32) * len(NVTX_STYLES) + pl.col("style").to_physical()


def named(summary: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Return `summary` with its column `name_and_style` as texts, `range` and `style`."""
    range_name, style = summary["name_and_style"] // len(NVTX_STYLES), summary["name_and_style"] % len(NVTX_STYLES)
    texts = names.text(range_name).alias("range"), pl.Series(NVTX_STYLES).gather(style).alias("style")
    return summary.drop("name_and_style").with_columns(texts)
