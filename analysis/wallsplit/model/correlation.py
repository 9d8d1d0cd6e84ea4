"""Which API calls and GPU operations belong together: those of one process with one correlation id.

Each (process, correlation id) gets a small number, once per trace. Every join is then an array lookup: no hash table,
and no second sort in the ledger, in the launches, in the projection or among the anomalies.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ranks import ranked

Numbers = npt.NDArray[np.int32]

MOST_CALLS = 16
"""An operation is paired with so many of its calls at most. It has one, or a runtime and a driver call; where every row
carries one id, n² pairs would be no table of launches but the end of all memory."""


@dataclass(frozen=True)
class Correlation:
    """The number of every row; equal numbers belong together."""

    calls: Numbers
    operations: tuple[Numbers, ...]
    """One array per frame of GPU operations."""
    size: int
    """Numbers are below it. The last two mean no id, of calls and of operations: they never meet."""

    @classmethod
    def of(cls, calls: pl.DataFrame, operations: Sequence[pl.DataFrame]) -> "Correlation":
        """Return the numbers of frames with columns `pid` and `correlation_id`."""
        frames = (calls, *operations)
        ids = np.concatenate([frame["correlation_id"].fill_null(0) for frame in frames])
        process = np.concatenate([frame["pid"] for frame in frames])
        numbers = _numbers(process, ids)
        size = int(numbers.max(initial=-1)) + 3
        parts = np.split(numbers, np.cumsum([frame.height for frame in frames])[:-1])
        for part, frame, nothing in zip(parts, frames, (size - 2, *(size - 1 for _ in operations)), strict=True):
            part[frame["correlation_id"].is_null()] = nothing
        return cls(parts[0], tuple(parts[1:]), size)

    @cached_property
    def calls_per_number(self) -> npt.NDArray[np.int64]:
        """Return how many calls have each number."""
        return np.bincount(self.calls, minlength=self.size)

    @cached_property
    def operations_per_number(self) -> npt.NDArray[np.int64]:
        """Return how many GPU operations, of all frames, have each number."""
        return sum((np.bincount(n, minlength=self.size) for n in self.operations), np.zeros(self.size, np.int64))

    def earliest(self, numbers: Numbers, times: Times) -> Times:
        """Return the smallest of the times with each number; the largest integer where there is none."""
        result = np.full(self.size, np.iinfo(np.int64).max)
        np.minimum.at(result, numbers, times)
        return result

    def latest(self, numbers: Numbers, times: Times) -> Times:
        """Return the largest of the times with each number; the smallest integer where there is none."""
        result = np.full(self.size, np.iinfo(np.int64).min)
        np.maximum.at(result, numbers, times)
        return result

    def pairs(self, operations: Numbers) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return (operation, call), the row numbers of each pair of a GPU operation and a call that belong together.

        Of calls with one number the first MOST_CALLS count; how many pairs are left out for it, `pairs_left_out` tells.
        """
        calls = self.calls_per_number
        by_number = np.argsort(self.calls, kind="stable")
        first = np.cumsum(calls) - calls
        times = np.minimum(calls[operations], MOST_CALLS)
        operation = np.repeat(np.arange(len(operations)), times)
        nth = np.arange(len(operation)) - np.repeat(np.cumsum(times) - times, times)
        return operation, by_number[first[operations[operation]] + nth]

    def pairs_left_out(self, operations: Numbers) -> int:
        """Return how many pairs of a GPU operation and a call `pairs` leaves out."""
        return int(np.maximum(self.calls_per_number[operations] - MOST_CALLS, 0).sum())


def _numbers(process: npt.NDArray[np.int32], ids: npt.NDArray[np.int64]) -> Numbers:
    """Return the place of each pair among the distinct ones, in order of process and then id."""
    if not len(ids):
        return np.empty(0, np.int32)
    of_process = ranked(process)[1]
    least = int(ids.min())
    span = int(ids.max()) - least + 1
    if span * (int(of_process.max()) + 1) < 1 << 63:
        of_process *= span
        of_process += ids
        of_process -= least
        return ranked(of_process, in_runs=True)[1].astype(np.int32)
    order = np.lexsort((ids, process))
    ids, process = ids[order], process[order]
    is_new = np.append(True, (ids[1:] != ids[:-1]) | (process[1:] != process[:-1]))
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(is_new, dtype=np.int32) - 1
    return numbers
