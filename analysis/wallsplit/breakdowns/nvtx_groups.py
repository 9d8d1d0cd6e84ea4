"""How long did the annotated ranges last on the host, numbered ones taken together?"""

import numpy as np
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.range_groups import groups
from wallsplit.breakdowns.range_names import name_and_style_of_kinds, overlapping_ranges
from wallsplit.breakdowns.statistics import largest_first, summarise_groups, with_share
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.ranks import distinct
from wallsplit.schema import NVTX_GROUPS, NVTX_STYLES


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.NVTX_GROUPS`: by group and style over all threads, plain sums in ns (nested ones overlap).

    `names` counts the distinct names of a group's ranges.
    """
    ranges = overlapping_ranges(model.annotations, window)
    styles = len(NVTX_STYLES)
    name_and_style = name_and_style_of_kinds(ranges)
    used = distinct(name_and_style[ranges.in_use])
    place, texts = groups(used // styles, model.names)
    table = np.zeros(styles * len(model.names.texts), np.uint32)  # group and style, as one number, by name and style
    table[used] = place * styles + used % styles
    length = ranges.end - ranges.start
    summary = with_share(summarise_groups(ranges.each(table[name_and_style]), length, styles * len(texts), "", "ns"))
    key = summary["group"]
    named = summary.with_columns(
        texts.gather(key // styles),
        pl.Series(NVTX_STYLES).gather(key % styles).alias("style"),
        pl.Series("names", np.bincount(table[used])[key.to_numpy()]),
    )
    return largest_first(named, "total_ns", "group", "style")


TABLE = Breakdown("nvtx_groups", "NVTX ranges", NVTX_GROUPS, compute)
