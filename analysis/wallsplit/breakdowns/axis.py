"""Many threads' times on one axis, so that one sort and one binary search serve them all."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from wallsplit.breakdowns.slices import Ints
from wallsplit.frozen import dataclass
from wallsplit.ranks import distinct, places_among

Threads = npt.NDArray[np.integer[Any]]
"""Numbers from 0, -1 for no thread."""


@dataclass(frozen=True)
class Axis:
    """Maps (thread, time) to one integer that sorts like the pair; exact for the times it was made from.

    A time outside all of these lands just before or just after them.
    """

    threads: Threads
    earliest: int
    span: int
    ticks: Ints | None
    """The distinct times; None where offsets from `earliest` fit into 64 bits, which is cheaper."""

    @classmethod
    def over(cls, thread: Threads, start: Ints, end: Ints) -> Self:
        """Return the axis of these intervals."""
        threads = distinct(thread)
        earliest = int(start.min(initial=0)) - 1
        span = int(end.max(initial=0)) - earliest + 2
        if span * max(len(threads), 1) < 1 << 63:
            return cls(threads, earliest, span, None)
        ticks = distinct(np.concatenate([start, end]))
        return cls(threads, 0, 2 * len(ticks) + 1, ticks)

    def number(self, thread: Threads) -> npt.NDArray[np.intp]:
        """Return each thread's number on this axis, -1 for a thread that is not on it."""
        return places_among(self.threads, thread)

    def place(self, number: npt.NDArray[np.intp], time: Ints) -> Ints:
        """Return the integers for pairs of a thread's number and any time."""
        if self.ticks is None:
            offset = np.clip(time, self.earliest, self.earliest + self.span - 1) - self.earliest
        else:  # odd on a tick, even between two
            offset = np.searchsorted(self.ticks, time, "left") + np.searchsorted(self.ticks, time, "right")
        return number * self.span + offset

    def places(self, thread: Threads, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the integers for the starts and the ends of intervals on threads of this axis."""
        number = self.number(thread)
        return self.place(number, start), self.place(number, end)
