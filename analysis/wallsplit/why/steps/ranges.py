"""The NVTX ranges that the program itself opened: those of library domains are not its steps."""

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from wallsplit.intervals import Times
from wallsplit.model import Model
from wallsplit.model.names import Names
from wallsplit.why.steps.cycle.layers import NO_MARKS, LayerMarks
from wallsplit.why.steps.units import Ints

LAYER = re.compile(r"(?:^|[^a-z])(?:blocks?|layers?|stages?|encoder|decoder|h)[^a-z0-9]*([0-9]+)", re.IGNORECASE)
"""Names like `blocks.7` and `layer_3`: a layer and its number."""


@dataclass(frozen=True)
class OwnRanges:
    """Ranges of one process, in file order, one entry each; a range's text is a row of the names, without its domain."""

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


def layer_marks(ranges: OwnRanges, names: Names) -> LayerMarks:
    """Return where ranges begin that are named like a layer of a network."""
    if not len(ranges):
        return NO_MARKS
    distinct, row = np.unique(ranges.text, return_inverse=True)
    numbers: dict[str, int] = {}
    layer = np.full(len(distinct), -1)
    for i, text in enumerate(names.text(pl.Series(distinct))):
        match = LAYER.search(text)
        if match:
            layer[i] = numbers.setdefault(match[1].lstrip("0"), len(numbers))
    rows = np.flatnonzero(layer[row] >= 0)
    rows = rows[np.argsort(ranges.start[rows], kind="stable")]
    return LayerMarks(ranges.start[rows], layer[row[rows]])
