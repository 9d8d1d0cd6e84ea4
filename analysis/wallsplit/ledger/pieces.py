"""A ledger's window cut wherever anything changes that is known of the host while the GPU does nothing for it."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wallsplit.accounts import ACCOUNTS, API_ACCOUNTS, GPU_ACCOUNTS, HOST, OTHER_PROCESS
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host import HostTimelines
from wallsplit.ledger.labels import NONE, Codes, Labels, constant
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import account_codes, clipped

POSITIONS = ("before", "between", "after", None)
"""Where an instant lies: before the ledger's first GPU operation, after its last; nothing without any."""
_NOWHERE = len(POSITIONS) - 1
_WORKS = np.array([name in GPU_ACCOUNTS for name in ACCOUNTS])
_IDLE = np.array([name not in (*GPU_ACCOUNTS, OTHER_PROCESS) for name in ACCOUNTS])
_HOST = ACCOUNTS.index(HOST)


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
    """For an API account as in HostTimelines.api_call, for `host` as in HostTimelines.os_call, else NONE."""

    @cached_property
    def ns(self) -> Times:
        """The length of each piece."""
        return np.diff(self.times)

    @cached_property
    def idle(self) -> npt.NDArray[np.bool_]:
        """Whether no process works on the GPU."""
        return _IDLE[self.account]

    @cached_property
    def gap(self) -> npt.NDArray[np.int64]:
        """The number of the idle gap that each piece lies in, as in `gaps`; NONE while the GPU works for the ledger."""
        in_gap = ~_WORKS[self.account]
        return np.where(in_gap, np.cumsum(in_gap & ~np.append(False, in_gap[:-1])) - 1, NONE)

    @cached_property
    def gaps(self) -> Intervals:
        """The idle gaps: the maximal stretches of the window in which no operation of the ledger runs."""
        edge = np.diff(np.concatenate([[False], self.gap != NONE, [False]]).astype(np.int8))
        return Intervals(self.times[edge == 1], self.times[edge == -1])

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
    booked = account_codes(whole.active)
    changes = np.append(True, booked[1:] != booked[:-1])
    bounds, booked = np.append(whole.times[:-1][changes], whole.times[-1:]), booked[changes]
    elsewhere = constant(host.elsewhere)
    idle = _IDLE[booked]
    cuts = [bounds, *(_inside(labels, bounds, idle) for labels in (host.phase, elsewhere))]
    cuts += [_inside(labels, bounds, booked == account) for account, labels in _calls(host)]
    times = np.concatenate(cuts)
    del cuts
    times.sort(kind="stable")  # a merge: each part is sorted
    times = times[np.append(True, times[1:] != times[:-1])]
    account = np.repeat(booked, np.diff(np.searchsorted(times, bounds)))
    at = times[:-1]
    call = np.full(len(at), NONE, np.int32)
    for code, labels in _calls(host):
        mine = np.flatnonzero(account == code)
        call[mine] = labels.at(at[mine])
    idle = np.flatnonzero(_IDLE[account])
    phase, works = np.full(len(at), NONE, np.int8), np.zeros(len(at), np.bool_)
    phase[idle] = host.phase.at(at[idle])
    works[idle] = elsewhere.at(at[idle]) != NONE
    return Pieces(times, account, _position(at, activity), phase, works, call)


def _calls(host: HostTimelines) -> Iterator[tuple[int, Labels]]:
    """Give each account, by its position, that calls are named for."""
    yield _HOST, host.os_call
    for account in API_ACCOUNTS:
        if account in host.api_call:
            yield ACCOUNTS.index(account), host.api_call[account]


def _inside(labels: Labels, bounds: Times, wanted: npt.NDArray[np.bool_]) -> Times:
    """Return when a label changes inside the pieces between bounds that are wanted."""
    low, high = np.searchsorted(labels.times, bounds[[0, -1]])
    times = labels.times[low:high]
    return times[wanted[np.searchsorted(bounds, times, "right") - 1]]


def _position(at: Times, activity: Activity) -> npt.NDArray[np.uint8]:
    busy = activity.busy
    if not len(busy.starts):
        return np.full(len(at), _NOWHERE, np.uint8)
    position: npt.NDArray[np.uint8] = np.add(at >= busy.starts[0], at >= busy.ends[-1], dtype=np.uint8)
    return position


def packed(columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return one number for each row of several columns of numbers below `sizes`; np.unravel_index takes it apart."""
    key = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key *= size
        key += column
    return key
