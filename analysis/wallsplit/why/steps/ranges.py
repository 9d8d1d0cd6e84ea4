"""The NVTX ranges that the program itself opened: those of library domains are not its steps."""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.model import Model
from wallsplit.model.annotations import Annotations
from wallsplit.model.names import Names
from wallsplit.ranks import distinct, ranked
from wallsplit.why.steps.cycle.layers import LayerMarks
from wallsplit.why.steps.units import Ints

LAYER = r"(?i)(?:^|[^a-z])(?:blocks?|layers?|stages?|encoder|decoder|h)[^a-z0-9]*([0-9]+)"
"""Names like `blocks.7` and `layer_3`: a layer and its number."""


def own_ranges(model: Model, pid: int, threads: Ints) -> Annotations:
    """Return the ranges that a process opened itself on some of its threads."""
    return model.annotations.where(*_own(pid), _is_on(threads))


def _own(pid: int) -> tuple[pl.Expr, pl.Expr]:
    return pl.col("pid") == pid, ~pl.col("is_library")


def _is_on(threads: Ints) -> pl.Expr:
    return pl.col("thread").is_in(pl.Series(threads, dtype=pl.Int64).implode())


def on_threads(ranges: Annotations, threads: Ints) -> Annotations:
    """Return the ranges on some threads."""
    return ranges.where(_is_on(threads))


def shapes(ranges: Annotations, names: Names) -> tuple[Ints, list[str]]:
    """Return (shape of each row of names, shapes): the texts of ranges with 0 for each number in them; -1: no range's.

    Ranges are numbered by step as often as not: a million texts may be a handful of names.
    """
    rows = texts_in_use(ranges)
    of_names, shapes_of_names = names.shapes
    used, place_of_rows = ranked(of_names[rows])
    place = np.full(len(names.texts), -1)
    place[rows] = place_of_rows
    return place, shapes_of_names.gather(used).to_list()


def layer_marks(ranges: Annotations, names: Names, pid: int) -> LayerMarks:
    """Return where ranges that a process opened itself begin, if they are named like a layer of a network."""
    is_own = ranges.kinds.select(pl.all_horizontal(*_own(pid))).to_series().to_numpy()
    texts = ranges.kinds["text"].to_numpy()
    of_names, shapes_of_names = names.shapes
    used = distinct(texts[is_own])
    used = used[shapes_of_names.str.contains(LAYER).to_numpy()[of_names[used]]]
    number = names.text(pl.Series(used)).str.extract(LAYER, 1).str.strip_chars_start("0")
    layer = np.zeros(len(names.texts), np.int64)
    layer[used] = number.rank("dense").fill_null(0).to_numpy()
    of_kinds = np.where(is_own, layer[texts], 0)
    marks = ranges.of_kinds(of_kinds > 0)
    in_turn = np.argsort(marks.start, kind="stable")
    return LayerMarks(marks.start[in_turn], marks.each(of_kinds)[in_turn])


def texts_in_use(ranges: Annotations) -> npt.NDArray[np.int32]:
    """Return the rows of the names of ranges, ascending."""
    return distinct(ranges.kinds["text"].to_numpy()[ranges.in_use])
