"""What the loops of the core return, and what reading takes, as values."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Leaves(NamedTuple):
    """What was read of some leaves beside the columns that were filled."""

    texts: list[list[bytes]]
    """Of each column the texts that its codes mean; none of a column of another kind."""
    kinds: list[tuple[Ints, npt.NDArray[np.bool_]]]
    """Of each key column, in order, what it is in each kind, and whether it is null: bits of reals, codes of texts."""


class Reading(NamedTuple):
    """Where the pages of an SQLite file are read from."""

    file: int
    """Its descriptor."""
    page_size: int
    usable_size: int
    page_count: int
    used: npt.NDArray[np.bool_]
    """Per page, whether it belongs to a tree or a chain; those of chains are added."""


class CutTimeline(NamedTuple):
    """A timeline cut where labels change, an entry per piece, as ledger.pieces.Pieces has them."""

    starts: Ints
    account: npt.NDArray[np.uint8]
    phase: npt.NDArray[np.int8]
    elsewhere: npt.NDArray[np.bool_]
    call: npt.NDArray[np.int32]


class CutBodies(NamedTuple):
    """The distinct bodies between the places of some cuts, an entry each; then of each pair of places the body."""

    cut: Ints
    counts: Ints
    length: Ints
    sample: Ints
    hash_: npt.NDArray[np.uint64]
    between: Ints


class Projected(NamedTuple):
    """Ranges with calls in them, one entry each, in no order."""

    rows: Ints
    first: Ints
    last: Ints
    operations: Ints
    level: npt.NDArray[np.int32]
    children: npt.NDArray[np.int32]
    crossing: npt.NDArray[np.bool_]
    """Per thread: its ranges cross, and what there is of them means nothing."""


class Statistics(NamedTuple):
    """Figures of each group; all 0 of one without values."""

    counts: Ints
    total: Ints
    mean: npt.NDArray[np.float64]
    median: npt.NDArray[np.float64]
    least: Ints
    most: Ints
    deviation: npt.NDArray[np.float64]
