"""An NVTX range's name and style as one integer: grouping by it takes no memory, by two columns hundreds of MB."""

import polars as pl

from wallsplit.breakdowns.statistics import largest_first
from wallsplit.model.names import Names
from wallsplit.schema import NVTX_STYLES

NAME_AND_STYLE = pl.col("range").cast(pl.UInt32) * len(NVTX_STYLES) + pl.col("style").to_physical()


def names_and_styles(names: Names) -> int:
    """Return what all NAME_AND_STYLE are below."""
    return len(names.texts) * len(NVTX_STYLES)


def named(summary: pl.DataFrame, total: str, names: Names) -> pl.DataFrame:
    """Return `summary` by falling `total`, equal ones by name; its column `name_and_style` as texts, `range`, `style`.

    Sorting numbers that are ordered like the names takes a quarter of the time that sorting the names takes.
    """
    styles = len(NVTX_STYLES)
    place = names.places.gather(summary["name_and_style"] // styles) * styles + summary["name_and_style"] % styles
    ordered = largest_first(summary.with_columns(place.alias("place")), total, "place")
    texts = names.text(ordered["name_and_style"] // styles).alias("range")
    style = pl.Series(NVTX_STYLES).gather(ordered["name_and_style"] % styles).alias("style")
    return ordered.drop("name_and_style", "place").with_columns(texts, style)
