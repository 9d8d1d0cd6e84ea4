"""Every nanosecond of a window to one of twenty causes: a table of questions, asked in order (docs/idle-time.md)."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, clip
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.labels import NONE
from wallsplit.ledger.os_calls import WAIT, os_class
from wallsplit.ledger.phases import MPI, PHASE_NAMES
from wallsplit.ledger.pieces import POSITIONS, Pieces, packed
from wallsplit.ledger.timeline import booked
from wallsplit.model import Names
from wallsplit.ranks import distinct

PAUSE_NS = 100_000
"""Shorter gaps lie within a train of launches."""
UNSEEN_NS = 1_000_000
"""No tail of a wait for anything recorded is as long as this."""
INPUT_BYTES = 4_096
"""A copy from the host of fewer bytes brings no batch."""
INPUT = "[CUDA memcpy Host-to-Device]"


@dataclass(frozen=True)
class Instant:
    """All that decides which cause an instant goes to."""

    account: str
    position: str | None = "between"
    phase: str | None = None
    elsewhere: bool = False
    """Another device of the process works."""
    first_launch: bool = False
    """Inside a call that launches something for the first time."""
    waits: bool = False
    """Every live driving thread is in an OS call, and the one that returns first waits."""
    gap_ns: int = 0
    """The length of the idle gap around it: at least this."""
    gap_ends_in_input: bool = False
    """A copy of at least INPUT_BYTES from the host ends the gap."""

    @property
    def in_pause(self) -> bool:
        """Whether the gap is too long to lie within a train of launches."""
        return self.gap_ns >= PAUSE_NS


QUESTIONS: tuple[tuple[str, Callable[[Instant], bool]], ...] = (
    ("work", lambda i: i.account in ("gpu.kernel", "gpu.graph")),
    ("comm", lambda i: i.account == "gpu.comm"),
    ("transfer", lambda i: i.account in ("gpu.memcpy", "gpu.memset")),
    ("shared_gpu", lambda i: i.account == "gpu.other"),
    (
        "other_device",
        lambda i: i.elsewhere and i.account in ("cuda.sync", "cuda.memcpy", "cuda.latency", "cuda.other", "host"),
    ),
    ("unseen_wait", lambda i: i.account == "cuda.sync" and i.gap_ns >= UNSEEN_NS),
    ("startup", lambda i: i.position == "before"),
    ("teardown", lambda i: i.position == "after"),
    ("profiler", lambda i: i.account == "cuda.profiler"),
    ("loading", lambda i: i.account == "cuda.setup" or (i.account == "cuda.launch" and i.first_launch)),
    ("graph_build", lambda i: i.account == "cuda.graph_build"),
    ("alloc", lambda i: i.account == "cuda.alloc"),
    ("transfer", lambda i: i.account in ("cuda.memcpy", "cuda.memset")),
    ("sync", lambda i: i.account == "cuda.sync"),
    ("startup", lambda i: i.account == "host" and i.phase == "setup"),
    ("data", lambda i: i.account == "host" and i.phase == "data"),
    ("comm", lambda i: i.account == "host" and i.phase in ("comm", MPI)),
    ("compile", lambda i: i.account == "host" and i.phase == "compile"),
    ("device_wait", lambda i: i.account == "cuda.latency" and i.in_pause),
    ("input", lambda i: i.account == "host" and i.in_pause and i.gap_ends_in_input),
    ("blocked", lambda i: i.account == "host" and i.in_pause and i.waits),
    ("host", lambda i: i.account == "host" and i.in_pause),
    ("launch", lambda _: True),  # cuda.launch, cuda.other, latency and host between the launches of a train
)
"""An instant's cause is the first whose question is answered yes."""

CAUSES = (
    *("work", "comm", "transfer", "startup", "profiler", "loading", "compile", "data", "input", "launch"),
    *("blocked", "host", "sync", "unseen_wait", "alloc", "graph_build", "device_wait", "other_device"),
    *("shared_gpu", "teardown"),
)


def cause_of(instant: Instant) -> str:
    """Return the one cause an instant goes to."""
    return next(cause for cause, question in QUESTIONS if question(instant))


@dataclass(frozen=True, eq=False)
class CauseTimeline:
    """The cause of every instant of a window: `codes[i]`, a position in CAUSES, on `[times[i], times[i + 1])`."""

    times: Times
    """One more than codes; from the window's start to its end."""
    codes: npt.NDArray[np.uint8]

    def between(self, start: int, end: int) -> dict[str, int]:
        """Return the ns of each cause, all of them in order, in `[start, end)`, which lies inside the window.

        Raises:
            LedgerError: they do not sum to `end - start`.
        """
        bounds = np.array([start, end], np.int64)
        ns = booked(self.times, self.codes, len(CAUSES) + 1, bounds, outside=len(CAUSES))[0, :-1]
        if int(ns.sum()) != end - start:
            raise LedgerError(
                f"the causes of {start} ns to {end} ns sum to {int(ns.sum())} ns; this is a defect of wallsplit, "
                "please report it"
            )
        return dict(zip(CAUSES, map(int, ns), strict=True))

    def when(self, cause: str, start: int, end: int) -> Intervals:
        """Return the instants of a cause in `[start, end)`."""
        holds = (self.codes == CAUSES.index(cause)).astype(np.int8)
        edge = np.diff(np.concatenate([[0], holds, [0]]))
        return clip(
            Intervals(self.times[np.flatnonzero(edge == 1)], self.times[np.flatnonzero(edge == -1)]), start, end
        )

    def window(self) -> dict[str, int]:
        """Return the ns of each cause in the whole window.

        Raises:
            LedgerError: they do not sum to it.
        """
        return self.between(int(self.times[0]), int(self.times[-1]))


_GAPS = ((0, False), (PAUSE_NS, False), (PAUSE_NS, True), (UNSEEN_NS, False), (UNSEEN_NS, True))
"""The kinds of idle gap that differ: (at least so long, ends in input)."""


def cause_timeline(pieces: Pieces, activity: Activity, names: Names) -> CauseTimeline:
    """Return the cause of every instant of the pieces' window; of a ledger with a device.

    The questions are asked once for each combination that occurs, not for each piece.
    """
    first = (pieces.account == ACCOUNTS.index("cuda.launch")) & (pieces.call % 2 == 1) & (pieces.call != NONE)
    sizes = (len(ACCOUNTS), len(POSITIONS), len(PHASE_NAMES) + 1, 2, 2, 2, len(_GAPS))
    told = (pieces.account, pieces.position, pieces.phase - NONE, pieces.elsewhere)
    key = packed([*told, first, _waits(pieces, names), _gap_kinds(pieces, activity)], sizes)
    occurs = np.flatnonzero(np.bincount(key))
    cause = np.zeros(int(occurs[-1]) + 1, np.uint8)
    for combination, *place in zip(occurs, *np.unravel_index(occurs, sizes), strict=True):
        cause[combination] = CAUSES.index(cause_of(_instant(*map(int, place))))
    codes = cause[key]
    changes = np.append(True, codes[1:] != codes[:-1])
    return CauseTimeline(np.append(pieces.times[:-1][changes], pieces.times[-1]), codes[changes])


def _instant(account: int, position: int, phase: int, elsewhere: int, first: int, waits: int, gap: int) -> Instant:
    return Instant(
        ACCOUNTS[account],
        POSITIONS[position],
        PHASE_NAMES[phase - 1] if phase else None,
        bool(elsewhere),
        bool(first),
        bool(waits),
        *_GAPS[gap],
    )


def _waits(pieces: Pieces, names: Names) -> npt.NDArray[np.bool_]:
    at_host = np.flatnonzero((pieces.account == ACCOUNTS.index(HOST)) & (pieces.call != NONE))
    waiting = [row for row in distinct(pieces.call[at_host]).tolist() if os_class(names[row]) == WAIT]
    result = np.zeros(len(pieces.account), np.bool_)
    result[at_host] = np.isin(pieces.call[at_host], waiting)
    return result


def _gap_kinds(pieces: Pieces, activity: Activity) -> npt.NDArray[np.uint8]:
    """Return the place in _GAPS of the idle gap around each piece, 0 while the GPU works for the ledger."""
    length = pieces.gaps.ends - pieces.gaps.starts
    kind = np.where(length >= UNSEEN_NS, 3, np.where(length >= PAUSE_NS, 1, 0)).astype(np.uint8)
    pauses = np.flatnonzero(kind)
    kind[pauses] += np.isin(pieces.gaps.ends[pauses], _inputs(activity))
    return np.append(kind, np.uint8(0))[pieces.gap]  # the last where there is no gap


def _inputs(activity: Activity) -> Times:
    """Return when copies from the host begin that are large enough to be input."""
    if activity.rows is None:
        return np.empty(0, np.int64)
    is_input = (pl.col("operation") == INPUT) & (pl.col("bytes") >= INPUT_BYTES)
    return activity.rows.memory_ops.filter(is_input)["start"].to_numpy()
