"""The NVTX ranges of a trace: two times a row, and all else once per kind of range.

A program opens millions of ranges of a few thousand kinds. What is asked of them is decided kind by kind, and whatever
selects the ranges of a process or of a thread is a view of the rows, not a copy.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.schema import NVTX_RANGES, NvtxRanges, conform
from wallsplit.trace.kinds import Kinds

Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Annotations:
    """Ranges, one entry each: those of a process together, each process's in file order."""

    start: Times
    end: Times
    kind: npt.NDArray[np.uint32]
    """Rows of `kinds`."""
    kinds: pl.DataFrame
    """What schema.NVTX_RANGES has beside the times; kinds may be equal, or of no range here."""

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, rows: Kinds) -> "Annotations":
        """Return rows in file order, of whose kinds all is known."""
        rows = rows.by(rows.kinds.select("pid"))
        return cls(rows.rows["start"].to_numpy(), rows.rows["end"].to_numpy(), rows.kind.to_numpy(), rows.kinds)

    @classmethod
    def of_frame(cls, ranges: pl.DataFrame) -> "Annotations":
        """Return ranges that are given as schema.NVTX_RANGES."""
        return cls.of(Kinds.of(ranges.select("start", "end"), ranges.drop("start", "end")))

    @cached_property
    def frame(self) -> NvtxRanges:
        """The ranges as schema.NVTX_RANGES: some 40 bytes each."""
        columns = [pl.Series("start", self.start), pl.Series("end", self.end)]
        columns += [self.column(name) for name in self.kinds.columns]
        return NvtxRanges(conform(pl.DataFrame(columns), NVTX_RANGES, "nvtx"))

    def column(self, name: str) -> pl.Series:
        """Return a column of schema.NVTX_RANGES, row by row."""
        return self.kinds[name].gather(pl.Series(self.kind))

    @property
    def thread(self) -> Times:
        """Return the thread of each range."""
        return self.each(self.kinds["thread"].to_numpy())

    @property
    def text(self) -> npt.NDArray[np.int32]:
        """Return of each range the row of Names of its text, without the domain."""
        return self.each(self.kinds["text"].to_numpy())

    def each(self, of_kinds: npt.NDArray[Value]) -> npt.NDArray[Value]:
        """Return for each range what its kind is given as."""
        values: npt.NDArray[Value] = of_kinds[self.kind]
        return values

    @cached_property
    def in_use(self) -> npt.NDArray[np.bool_]:
        """Of which kinds there are ranges."""
        used = np.zeros(self.kinds.height, np.bool_)
        used[self.kind] = True
        return used

    def processes(self) -> Iterator[tuple[int, slice]]:
        """Yield each process and the rows of its ranges."""
        pids, count = self.kinds["pid"].to_numpy(), len(self)
        first = 0
        while first < count:
            pid = int(pids[self.kind[first]])
            after = bisect_right(range(count), pid, lo=first, key=lambda row: int(pids[self.kind[row]]))
            yield pid, slice(first, after)
            first = after

    def where(self, *conditions: pl.Expr) -> "Annotations":
        """Return the ranges of the kinds that fulfil all conditions."""
        return self.of_kinds(self.kinds.select(pl.all_horizontal(*conditions)).to_series().to_numpy())

    def of_kinds(self, wanted: npt.NDArray[np.bool_]) -> "Annotations":
        """Return the ranges of some kinds: a view, where they lie together."""
        if wanted.all():
            return self
        there = wanted[self.kind]
        count = int(np.count_nonzero(there))
        first = int(np.argmax(there)) if count else 0
        together = slice(first, first + count)
        return self.at(together if there[together].all() else np.flatnonzero(there))

    def at(self, rows: npt.NDArray[np.integer[Any]] | slice) -> "Annotations":
        """Return some of the ranges, in the order given."""
        return Annotations(self.start[rows], self.end[rows], self.kind[rows], self.kinds)
