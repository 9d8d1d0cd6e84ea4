"""The NVTX ranges that the program itself opened: those of library domains are not its steps."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.intervals import Times
from wallsplit.model import Model
from wallsplit.model.names import Names
from wallsplit.ranks import distinct
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
    text: npt.NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.start)

    def of(self, rows: Ints) -> "OwnRanges":
        """Return some of the ranges."""
        return OwnRanges(self.start[rows], self.end[rows], self.thread[rows], self.text[rows])

    def on(self, threads: Ints) -> "OwnRanges":
        """Return the ranges on some threads."""
        there = np.isin(self.thread, threads)
        return self if there.all() else self.of(np.flatnonzero(there))


def own_ranges(model: Model, pid: int) -> OwnRanges:
    """Return the ranges that a process opened itself."""
    own = model.nvtx.lazy().filter(pl.col("pid") == pid, ~pl.col("is_library"))
    frame = own.select("start", "end", "thread", "text").collect()
    return OwnRanges(*(column.to_numpy() for column in frame.get_columns()))


def shapes(ranges: OwnRanges, names: Names) -> tuple[Ints, list[str]]:
    """Return (shape of each row of names, shapes): the texts of ranges with 0 for each number in them; -1: no range's.

    Ranges are numbered by step as often as not: a million texts may be a handful of names.
    """
    rows = distinct(ranges.text)
    texts = pl.DataFrame({"shape": names.text(pl.Series(rows)).str.replace_all(r"[0-9]+", "0")})
    shape = texts.unique(maintain_order=True).with_row_index("place")
    place = np.full(len(names.texts), -1)
    place[rows] = texts.join(shape, on="shape", how="left", maintain_order="left")["place"].to_numpy()
    return place, shape["shape"].to_list()


def layer_marks(ranges: OwnRanges, names: Names) -> LayerMarks:
    """Return where ranges begin that are named like a layer of a network."""
    used = distinct(ranges.text)
    number = names.text(pl.Series(used)).str.extract(_LAYER, 1).str.strip_chars_start("0")
    layer = np.zeros(len(names.texts), np.int64)
    layer[used] = number.rank("dense").fill_null(0).to_numpy()
    rows = np.flatnonzero((layer > 0)[ranges.text])
    rows = rows[np.argsort(ranges.start[rows], kind="stable")]
    return LayerMarks(ranges.start[rows], layer[ranges.text[rows]])
