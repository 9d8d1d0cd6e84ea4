"""What a timeline viewer shows: tracks of named slices."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times

Codes = npt.NDArray[np.int64]
ArrowIds = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Process:
    """One process of the trace."""

    pid: int
    name: str


@dataclass(frozen=True, eq=False)
class Slices:
    """Named stretches of time: slice i lasts from `start[i]` to `end[i]`, in ns, and is called `names[name[i]]`."""

    start: Times
    end: Times
    name: Codes
    names: Sequence[str]
    arrow_out: ArrowIds | None = None
    """The arrow that begins at each slice, 0 where none does; None where none begins at any."""
    arrow_in: ArrowIds | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, eq=False)
class Track:
    """One line of the timeline; several where its slices overlap."""

    process: Process
    group: str
    name: str
    slices: Slices
    nests: bool = True
    """Whether what lies inside a slice is a part of it; no operation of a GPU is a part of another."""


def named_slices(rows: pl.DataFrame, *, arrows: str | None = None) -> Slices:
    """Return rows with `start`, `end` and `text` (String) as slices, in their order.

    `arrows`: where those of the column `arrow` belong, `out` or `in`.
    """
    distinct = rows["text"].unique(maintain_order=True)
    code = rows.select("text").join(distinct.to_frame().with_row_index("code"), on="text", maintain_order="left")[
        "code"
    ]
    ids = rows["arrow"].to_numpy() if arrows else None
    return Slices(
        rows["start"].to_numpy(),
        rows["end"].to_numpy(),
        code.cast(pl.Int64).to_numpy(),
        distinct.to_list(),
        arrow_out=ids if arrows == "out" else None,
        arrow_in=ids if arrows == "in" else None,
    )
