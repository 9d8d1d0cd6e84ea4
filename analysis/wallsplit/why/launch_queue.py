"""How deep is the queue of work between the host and the GPU?"""

import numpy as np
import numpy.typing as npt

from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times, places
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import summed

SHALLOW, DEEP = 2, 32
"""Operations pending from which on the queue counts as shallow, and as deep."""


@dataclass(frozen=True)
class Depth:
    """How many operations are pending: those whose call has begun and which have not ended. The ns sum to the window.

    Operations without a call in the trace are not counted.
    """

    max: int
    mean: float
    empty_ns: int
    one_ns: int
    shallow_ns: int
    deep_ns: int


@dataclass(frozen=True)
class Queue:
    """When operations are handed over and when they end, each ascending."""

    handed_over: Times
    ended: Times

    @classmethod
    def of(cls, begun: Times, ends: Times) -> "Queue":
        """Return the queue of the operations that end after their first call has begun."""
        waits = begun < ends
        return cls(np.sort(begun[waits], kind="stable"), np.sort(ends[waits], kind="stable"))

    def pending(self, times: Times) -> npt.NDArray[np.int64]:
        """Return how many operations are pending right after each time."""
        return places(self.handed_over, times, "right") - places(self.ended, times, "right")

    def depth(self, window: Window) -> Depth:
        """Return the depth in the window.

        Raises:
            LedgerError: its parts do not add up to the window.
        """
        begun, ended = (np.clip(times, window.start_ns, window.end_ns) for times in (self.handed_over, self.ended))
        begins = np.zeros(len(begun) + len(ended), np.bool_)  # of the edges in turn: of those at once beginnings first
        begins[np.arange(len(begun)) + places(ended, begun)] = True
        edges = np.empty(len(begins), np.int64)
        edges[begins], edges[~begins] = begun, ended
        lengths = np.diff(edges, prepend=window.start_ns, append=window.end_ns)
        depths = np.zeros(len(lengths), np.int64)
        np.cumsum(np.where(begins, 1, -1), out=depths[1:])
        ns = summed(depths, lengths, max(DEEP, int(depths.max()) + 1))
        empty, one, shallow, deep = (int(part.sum()) for part in np.split(ns, (1, SHALLOW, DEEP)))
        if empty + one + shallow + deep != window.wall_ns:
            raise LedgerError(
                f"the depths of the launch queue miss the window by {window.wall_ns - empty - one - shallow - deep} "
                "ns; this is a defect of wallsplit, please report it"
            )
        mean = float((np.arange(len(ns)) * ns.astype(np.float64)).sum()) / window.wall_ns
        return Depth(int(np.flatnonzero(ns)[-1]), mean, empty, one, shallow, deep)
