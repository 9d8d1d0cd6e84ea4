"""Which of one thread's ranges is the innermost, instant by instant: the open one that began last."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallsplit.intervals import Times


@dataclass(frozen=True)
class Stretches:
    """Stretches of time, ascending and disjoint, and the range that is innermost throughout each."""

    starts: Times
    ends: Times
    row: npt.NDArray[np.int64]  # of the ranges given

    def at(self, times: Times) -> npt.NDArray[np.int64]:
        """Return, for each time, the position of the stretch that holds it; -1 where none does."""
        position = np.searchsorted(self.starts, times, side="right") - 1
        position[times >= np.append(self.ends, 0)[position]] = -1
        return position


def innermost(starts: Times, ends: Times, tie: npt.NDArray[np.int64]) -> Stretches:
    """Return the stretches of the ranges `[starts[i], ends[i])`, which may nest or cross; O(n log n).

    Of ranges that begin together the shorter is the inner one, of equal ones that with the larger `tie`. A range that
    begins ends the stretch before it, also where it has no length and the same range goes on.
    """
    order = np.lexsort((tie, -ends, starts))
    edges = np.sort(np.concatenate([starts, ends]), kind="stable")  # np.unique would hash: several times slower
    edges = edges[np.append(True, np.diff(edges) != 0)[: len(edges)]]
    low, high = np.searchsorted(edges, starts[order]), np.searchsorted(edges, ends[order])
    top = _last_over(low, high, len(edges))[:-1]
    begins = np.append(True, np.diff(top) != 0)[: len(top)]
    begins[low[low == high][low[low == high] < len(top)]] = True
    first = np.flatnonzero(begins)
    inside = top[first] >= 0
    stretch_ends = edges[np.append(first[1:], len(top))] if len(first) else edges[:0]
    return Stretches(edges[first][inside], stretch_ends[inside], order[top[first][inside]])


def _last_over(low: npt.NDArray[np.int64], high: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Return, for each place below `size`, the last i with `low[i] <= place < high[i]`; -1 where there is none.

    A range is covered by two blocks of a power of two; from the longest down, each block hands on to its halves.
    """
    length = high - low
    power = np.frexp(length.astype(np.float64))[1] - 1  # floor(log2(length)); below 0 for no length
    last = np.full(size, -1)
    for exponent in range(int(power.max(initial=-1)), -1, -1):
        half = 1 << exponent
        handed = last.copy()  # of blocks twice as long: both halves
        np.maximum(handed[half:], last[: size - half], out=handed[half:])
        last = handed
        rows = np.flatnonzero(power == exponent)
        np.maximum.at(last, low[rows], rows)
        np.maximum.at(last, high[rows] - half, rows)
    return last
