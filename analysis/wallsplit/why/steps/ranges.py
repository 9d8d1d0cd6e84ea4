"""The NVTX ranges that the program itself opened: those of library domains are not its steps."""

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from wallsplit.intervals import Times
from wallsplit.model import Model
from wallsplit.model.names import Names
from wallsplit.why.steps.cycle.layers import LayerMarks
from wallsplit.why.steps.units import Ints

_LAYER = r"(?i)(?:^|[^a-z])(?:blocks?|layers?|stages?|encoder|decoder|h)[^a-z0-9]*([0-9]+)"
LAYER = re.compile(_LAYER)
"""Names like `blocks.7` and `layer_3`: a layer and its number."""


@dataclass(frozen=True)
class OwnRanges:
    """Ranges of one process, in file order, one entry each; `text` is a row of the names, without the domain."""

    start: Times
    end: Times
    thread: Ints
    text: Ints

    def __len__(self) -> int:
        return len(self.start)

    def of(self, rows: Ints) -> "OwnRanges":
        """Return some of the ranges."""
        return OwnRanges(self.start[rows], self.end[rows], self.thread[rows], self.text[rows])

    def on(self, threads: Ints) -> "OwnRanges":
        """Return the ranges on some threads."""
        return self.of(np.flatnonzero(np.isin(self.thread, threads)))


def own_ranges(model: Model, pid: int) -> OwnRanges:
    """Return the ranges that a process opened itself."""
    frame = model.nvtx.filter(pl.col("pid") == pid, ~pl.col("is_library"))
    columns = (frame[column].cast(pl.Int64).to_numpy() for column in ("start", "end", "thread", "text"))
    return OwnRanges(*columns)


def shapes(ranges: OwnRanges, names: Names) -> tuple[Ints, list[str]]:
    """Return the distinct texts of ranges with 0 for each number in them, and which of these each range has.

    Ranges are numbered by step as often as not: a million texts may be a handful of names.
    """
    distinct, row = np.unique(ranges.text, return_inverse=True)
    texts = names.text(pl.Series(distinct, dtype=pl.Int64)).str.replace_all(r"[0-9]+", "0")
    shape = texts.unique(maintain_order=True)
    place = (
        texts.replace_strict(shape, np.arange(len(shape)), return_dtype=pl.Int64)
        if len(shape)
        else texts.cast(pl.Int64)
    )
    return place.to_numpy()[row], shape.to_list()


def layer_marks(ranges: OwnRanges, names: Names) -> LayerMarks:
    """Return where ranges begin that are named like a layer of a network."""
    distinct, row = np.unique(ranges.text, return_inverse=True)
    number = names.text(pl.Series(distinct, dtype=pl.Int64)).str.extract(_LAYER, 1).str.strip_chars_start("0")
    layer = number.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()[row]
    rows = np.flatnonzero(layer)
    rows = rows[np.argsort(ranges.start[rows], kind="stable")]
    return LayerMarks(ranges.start[rows], layer[rows])
