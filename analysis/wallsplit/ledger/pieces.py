"""A ledger's window cut wherever anything changes that is known of the host while the GPU does nothing for it."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from wallsplit import native
from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS, HOST, OTHER_PROCESS
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host import HostTimelines, api_calls
from wallsplit.ledger.labels import NONE, UNLABELLED, Codes, Labels, constant
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.phases import PHASE_NAMES
from wallsplit.ledger.timeline import Timeline, account_codes, clipped
from wallsplit.native.values import CutTimeline
from wallsplit.ranks import ranked

Value = TypeVar("Value", bound=np.generic)

POSITIONS = ("before", "between", "after", None)
"""Where an instant lies: before the ledger's first GPU operation, after its last; nothing without any."""
_NOWHERE = len(POSITIONS) - 1
_WORKS = np.array([name in GPU_ACCOUNTS for name in ACCOUNTS])
IDLE = np.array([name not in (*GPU_ACCOUNTS, OTHER_PROCESS) for name in ACCOUNTS])
"""By position in ACCOUNTS: whether no process works on the GPU."""
_HOST = ACCOUNTS.index(HOST)


@dataclass(frozen=True, eq=False)
class Situations:
    """All that is told of pieces, once for each combination that occurs: an entry of each array per combination."""

    account: npt.NDArray[np.uint8]
    position: npt.NDArray[np.uint8]
    phase: npt.NDArray[np.int8]
    elsewhere: npt.NDArray[np.bool_]
    call: Codes
    of_pieces: npt.NDArray[np.unsignedinteger]
    """Which of the combinations each piece is."""

    def __len__(self) -> int:
        return len(self.account)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Piece i is `[times[i], times[i + 1])`; the other arrays hold what is constant in it.

    Where the GPU works, for this process or another, only account and position are told: the rest is no label.
    """

    times: Times
    """One more than there are pieces; from the window's start to its end."""
    account: npt.NDArray[np.uint8]
    """Positions in ACCOUNTS."""
    position: npt.NDArray[np.uint8]
    """Positions in POSITIONS."""
    phase: npt.NDArray[np.int8]
    """Positions in PHASE_NAMES, or NONE."""
    elsewhere: npt.NDArray[np.bool_]
    """Whether another device of the process works."""
    call: Codes
    """For an API account as in host.api_calls, for `host` as in HostTimelines.os_call, else NONE."""

    @cached_property
    def ns(self) -> Times:
        """The length of each piece."""
        return np.diff(self.times)

    @cached_property
    def situations(self) -> Situations:
        """What is told of the pieces, by combination: what is asked of them all is decided combination by combination.

        Combinations ascend by call, account, position, phase and elsewhere.
        """
        calls, call = ranked(self.call)
        sizes = len(ACCOUNTS), len(POSITIONS), len(PHASE_NAMES) + 1, 2
        told = self.account.astype(np.uint16)
        for column, size in zip((self.position, self.phase - np.int8(NONE), self.elsewhere), sizes[1:], strict=True):
            told *= np.uint16(size)
            told += column.astype(np.uint8)
        call *= math.prod(sizes)
        call += told
        keys, of_pieces = ranked(call)
        place, account, position, phase, elsewhere = np.unravel_index(keys, (len(calls), *sizes))
        return Situations(
            account.astype(np.uint8),
            position.astype(np.uint8),
            (phase + NONE).astype(np.int8),
            elsewhere.astype(np.bool_),
            calls[place],
            of_pieces.astype(np.uint16 if len(keys) <= 1 << 16 else np.uint32),
        )

    @cached_property
    def _runs(self) -> npt.NDArray[np.int64]:
        """The first pieces of idle gaps and of what lies between them, in turn; then the number of pieces."""
        works = _WORKS[self.account]
        changes = np.flatnonzero(works[1:] != works[:-1]) + 1
        return np.concatenate([[0], changes, [len(works)]])

    @cached_property
    def _first_gap(self) -> int:
        """The place among the runs of the first gap; from there on every second one is a gap."""
        return int(_WORKS[self.account[0]])

    @cached_property
    def gaps(self) -> Intervals:
        """The idle gaps: the maximal stretches of the window in which no operation of the ledger runs."""
        bounds = self.times[self._runs]
        return Intervals(bounds[:-1][self._first_gap :: 2], bounds[1:][self._first_gap :: 2])

    def of_gaps(self, values: npt.NDArray[Value], at_work: Value) -> npt.NDArray[Value]:
        """Return for each piece what the gap it lies in is given as; `at_work` while the GPU works for the ledger."""
        each = np.full(len(self._runs) - 1, at_work, values.dtype)
        each[self._first_gap :: 2] = values
        return np.repeat(each, np.diff(self._runs))

    def between(self, start: int, end: int) -> "Pieces":
        """Return the pieces of `[start, end)`, both of which are among `times`."""
        low, high = (int(place) for place in np.searchsorted(self.times, [start, end]))
        part = slice(low, high)
        return Pieces(
            self.times[low : high + 1],
            self.account[part],
            self.position[part],
            self.phase[part],
            self.elsewhere[part],
            self.call[part],
        )


def pieces(activity: Activity, host: HostTimelines, window: Window) -> Pieces:
    """Return the pieces of the window: the account timeline, cut by the host's timelines where they matter."""
    whole = clipped(activity.timeline, window.start_ns, window.end_ns)
    of_accounts = [UNLABELLED for _ in ACCOUNTS]
    for account, calls in ({} if activity.rows is None else api_calls(activity.rows)).items():
        of_accounts[ACCOUNTS.index(account)] = calls
    of_accounts[_HOST] = host.os_call
    labels = [host.phase, constant(host.elsewhere), *of_accounts]
    cut = cut_timeline(whole, labels)
    times = np.append(cut.starts, whole.times[-1:])
    return Pieces(times, cut.account, _position(cut.starts, activity), cut.phase, cut.elsewhere, cut.call)


def cut_timeline(whole: Timeline, labels: Sequence[Labels]) -> CutTimeline:
    """Return a timeline booked, and cut inside idle accounts where labels change.

    `labels`: the phase, where another device works, then by account the call.
    """
    compiled = native.pieces(whole.times, whole.active, IDLE, [(each.times, each.codes) for each in labels])
    if compiled is not None:
        return compiled
    booked = account_codes(whole.active)
    changes = np.flatnonzero(np.append(True, booked[1:] != booked[:-1]))
    bounds, booked = np.append(whole.times[changes], whole.times[-1:]), booked[changes]
    phase, elsewhere, *calls = labels
    cuts = [bounds, *(_inside(each, bounds, IDLE[booked]) for each in (phase, elsewhere))]
    calls_of = [(account, each) for account, each in enumerate(calls) if len(each.times) and IDLE[account]]
    cuts += [_inside(each, bounds, booked == account) for account, each in calls_of]
    times = np.concatenate(cuts)
    del cuts
    times.sort(kind="stable")  # a merge: each part is sorted
    times = times[np.append(True, times[1:] != times[:-1])]
    at = times[:-1]
    account = np.repeat(booked, np.diff(np.searchsorted(times, bounds)))
    call = np.full(len(at), NONE, np.int32)
    for code, each in calls_of:
        mine = np.flatnonzero(account == code)
        call[mine] = each.at(at[mine])
    told, works = np.full(len(at), NONE, np.int8), np.zeros(len(at), np.bool_)
    idle_pieces = np.flatnonzero(IDLE[account])
    told[idle_pieces] = phase.at(at[idle_pieces])
    if len(elsewhere.times):
        works[idle_pieces] = elsewhere.at(at[idle_pieces]) != NONE
    return CutTimeline(at, account, told, works, call)


def _inside(labels: Labels, bounds: Times, wanted: npt.NDArray[np.bool_]) -> Times:
    """Return when a label changes inside the pieces between bounds that are wanted."""
    low, high = np.searchsorted(labels.times, bounds[[0, -1]])
    times, rows = labels.times[low:high], np.flatnonzero(wanted)
    if len(times) <= len(rows):
        return times[wanted[np.searchsorted(bounds, times, "right") - 1]]
    first, last = (np.searchsorted(times, bounds[edge]) for edge in (rows, rows + 1))
    some = np.flatnonzero(last > first)
    count = last[some] - first[some]
    before = np.cumsum(count) - count
    return np.asarray(times[np.arange(int(count.sum())) + np.repeat(first[some] - before, count)])


def _position(at: Times, activity: Activity) -> npt.NDArray[np.uint8]:
    busy = activity.busy
    if not len(busy.starts):
        return np.full(len(at), _NOWHERE, np.uint8)
    position = np.zeros(len(at), np.uint8)
    position[np.searchsorted(at, busy.starts[0]) :] = 1
    position[np.searchsorted(at, busy.ends[-1]) :] = 2
    return position
