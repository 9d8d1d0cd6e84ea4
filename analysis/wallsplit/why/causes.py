"""Every nanosecond of a window to one of twenty causes: a table of questions, asked in order (docs/idle-time.md)."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, clip, places
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.labels import NONE
from wallsplit.ledger.os_calls import WAIT, os_class
from wallsplit.ledger.phases import MPI, PHASE_NAMES
from wallsplit.ledger.pieces import POSITIONS, Pieces, Situations
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
        first, last = int(self.times[0]), int(self.times[-1])
        if 2 * (end - start) > last - first:  # less is left than asked for
            ns = self._whole - self._booked(first, start) - self._booked(end, last)
        else:
            ns = self._booked(start, end)
        if int(ns.sum()) != end - start:
            raise LedgerError(
                f"the causes of {start} ns to {end} ns sum to {int(ns.sum())} ns; this is a defect of wallsplit, "
                "please report it"
            )
        return dict(zip(CAUSES, map(int, ns), strict=True))

    @cached_property
    def _whole(self) -> npt.NDArray[np.int64]:
        return self._booked(int(self.times[0]), int(self.times[-1]))

    def _booked(self, start: int, end: int) -> npt.NDArray[np.int64]:
        bounds = np.array([start, end], np.int64)
        return booked(self.times, self.codes, len(CAUSES) + 1, bounds, outside=len(CAUSES))[0, :-1]

    def when(self, cause: str, start: int, end: int) -> Intervals:
        """Return the instants of a cause in `[start, end)`."""
        rows = np.flatnonzero(self.codes == CAUSES.index(cause))  # neighbours differ
        return clip(Intervals(self.times[rows], self.times[rows + 1]), start, end)

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
    told = pieces.situations
    columns = (told.account, told.position, told.phase, told.elsewhere, _is_first(told), _waits(told, names))
    place = told.of_pieces.astype(np.int32)
    place *= len(_GAPS)
    place += pieces.of_gaps(_gap_kinds(pieces.gaps, activity), np.uint8(0))
    cause, occurs = np.zeros(len(told) * len(_GAPS), np.uint8), np.zeros(len(told) * len(_GAPS), np.bool_)
    occurs[place] = True
    asked: dict[tuple[int, ...], int] = {}
    for combination in np.flatnonzero(occurs).tolist():
        situation, gap = divmod(combination, len(_GAPS))
        key = (*(int(column[situation]) for column in columns), gap)
        if key not in asked:
            asked[key] = CAUSES.index(cause_of(_instant(*key)))
        cause[combination] = asked[key]
    codes = cause[place]
    changes = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    return CauseTimeline(np.append(pieces.times[changes], pieces.times[-1]), codes[changes])


def _instant(account: int, position: int, phase: int, elsewhere: int, first: int, waits: int, gap: int) -> Instant:
    return Instant(
        ACCOUNTS[account],
        POSITIONS[position],
        None if phase == NONE else PHASE_NAMES[phase],
        bool(elsewhere),
        bool(first),
        bool(waits),
        *_GAPS[gap],
    )


def _is_first(told: Situations) -> npt.NDArray[np.bool_]:
    is_call = (told.account == ACCOUNTS.index("cuda.launch")) & (told.call != NONE)
    return np.asarray(is_call & (told.call % 2 == 1))


def _waits(told: Situations, names: Names) -> npt.NDArray[np.bool_]:
    at_host = (told.account == ACCOUNTS.index(HOST)) & (told.call != NONE)
    waiting = [row for row in distinct(told.call[at_host]).tolist() if os_class(names[row]) == WAIT]
    return np.asarray(at_host & np.isin(told.call, waiting))


def _gap_kinds(gaps: Intervals, activity: Activity) -> npt.NDArray[np.uint8]:
    """Return the place in _GAPS of each idle gap."""
    length = gaps.ends - gaps.starts
    kind = np.zeros(len(length), np.uint8)
    pauses = np.flatnonzero(length >= PAUSE_NS)
    inputs, ends = np.sort(_inputs(activity), kind="stable"), gaps.ends[pauses]
    in_input = places(inputs, ends, "right") > places(inputs, ends)
    kind[pauses] = np.where(length[pauses] >= UNSEEN_NS, 3, 1) + in_input
    return kind


def _inputs(activity: Activity) -> Times:
    """Return when copies from the host begin that are large enough to be input."""
    if activity.rows is None:
        return np.empty(0, np.int64)
    is_input = (pl.col("operation") == INPUT) & (pl.col("bytes") >= INPUT_BYTES)
    return activity.rows.memory_ops.filter(is_input)["start"].to_numpy()
