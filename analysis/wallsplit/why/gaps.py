"""Idle gaps: the stretches of a window without any operation of the ledger, by length; the longest looked into."""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, places
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.labels import NONE, latest_begun
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.pieces import IDLE, POSITIONS, Pieces
from wallsplit.ledger.timeline import summed
from wallsplit.model import Model, Names
from wallsplit.model.annotations import Annotations
from wallsplit.ranks import ranked
from wallsplit.schema import IdleCauses
from wallsplit.why.idle import as_frame, combinations, idle_ns
from wallsplit.why.neighbours import Neighbours, neighbours

LENGTH_CLASSES = (
    ("<1us", 0),
    ("1-10us", 1_000),
    ("10-100us", 10_000),
    ("100us-1ms", 100_000),
    ("1-10ms", 1_000_000),
    ("10-100ms", 10_000_000),
    ("100ms-1s", 100_000_000),
    (">=1s", 1_000_000_000),
)
"""Names of the classes of gaps, and from which length in ns on."""
LONGEST = 20
PARTS = 8


@dataclass(frozen=True)
class GapClass:
    """The gaps of one class of length."""

    name: str
    count: int
    total_ns: int
    by_account: dict[str, int]
    """In the order of ACCOUNTS, those that are not zero."""


@dataclass(frozen=True)
class IdleGap:
    """One of the longest gaps, and what was going on in it."""

    start_ns: int
    end_ns: int
    position: str | None
    cause: str
    """The account with most time."""
    by_account: dict[str, int]
    parts: IdleCauses
    """The PARTS largest combinations (schema.IDLE_CAUSES)."""
    range: str | None
    """The range of the user's that was, longer than any other, the innermost one."""
    neighbours: Neighbours

    @property
    def length_ns(self) -> int:
        """Length in ns."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class IdleGaps:
    """All gaps of a window."""

    count: int
    total_ns: int
    histogram: tuple[GapClass, ...]
    """One per class, shortest first."""
    longest: tuple[IdleGap, ...]
    """The LONGEST, longest first."""


def idle_gaps(model: Model, activity: Activity, ranges: Annotations, pieces: Pieces, ledger: Ledger) -> IdleGaps:
    """Return the idle gaps of the pieces' window; `ranges` are those of the driving threads.

    Raises:
        LedgerError: they, or their accounts, do not sum to the window's idle time.
    """
    histogram = _histogram(pieces)
    total = sum(each.total_ns for each in histogram)
    booked = sum(sum(each.by_account.values()) for each in histogram)
    if not total == booked == idle_ns(ledger):
        raise LedgerError(
            f"ledger of process {ledger.pid}, device {ledger.device}: its idle gaps sum to {total} ns, their accounts "
            f"to {booked} ns, idle are {idle_ns(ledger)} ns; this is a defect of wallsplit, please report it"
        )
    return IdleGaps(len(pieces.gaps.starts), total, histogram, _longest(model, activity, ranges, pieces))


def _histogram(pieces: Pieces) -> tuple[GapClass, ...]:
    limits = [limit for _, limit in LENGTH_CLASSES]
    size = len(limits)
    length = pieces.gaps.ends - pieces.gaps.starts
    kind = (np.searchsorted(limits, length, "right") - 1).astype(np.uint8)
    count, total = np.bincount(kind, minlength=size), summed(kind, length, size)
    slot = pieces.of_gaps(kind, np.uint8(size))  # the last for what lies between gaps
    slot *= np.uint8(len(ACCOUNTS))
    slot += pieces.account
    by_account = summed(slot, pieces.ns, (size + 1) * len(ACCOUNTS)).reshape(size + 1, len(ACCOUNTS))
    return tuple(
        GapClass(name, int(count[k]), int(total[k]), _by_account(by_account[k]))
        for k, (name, _) in enumerate(LENGTH_CLASSES)
    )


def _by_account(ns: npt.NDArray[np.int64]) -> dict[str, int]:
    return {name: int(value) for name, value in zip(ACCOUNTS, ns, strict=True) if value}


def _longest(model: Model, activity: Activity, ranges: Annotations, pieces: Pieces) -> tuple[IdleGap, ...]:
    starts, ends = pieces.gaps
    longest = _longest_first(starts, ends)[:LONGEST]
    chosen = Intervals(starts[longest], ends[longest])
    beside = _ranges(ranges.where(~pl.col("is_library")), chosen)
    inside = [pieces.between(int(start), int(end)) for start, end in zip(*chosen, strict=True)]
    parts = [combinations(part, model.names)[:PARTS] for part in inside]
    frame, last = as_frame([row for rows in parts for row in rows]), np.cumsum([len(rows) for rows in parts])
    each = zip(inside, parts, last.tolist(), neighbours(activity.rows, model.names, chosen), strict=True)
    return tuple(
        _gap(model.names, part, IdleCauses(frame[end - len(rows) : end]), beside, around)
        for part, rows, end, around in each
    )


def _longest_first(starts: Times, ends: Times) -> npt.NDArray[np.intp]:
    """Return the LONGEST gaps and as long ones, the longest first, of equally long ones the first: no others' order."""
    length = ends - starts
    looked_at = (np.flatnonzero(length >= limit) for _, limit in reversed(LENGTH_CLASSES))
    some = next(rows for rows in looked_at if len(rows) >= min(LONGEST, len(length)))
    nth = len(some) - LONGEST
    rows = some[length[some] >= np.partition(length[some], nth)[nth]] if nth > 0 else some
    return rows[np.lexsort((starts[rows], -length[rows]))]


def _gap(names: Names, pieces: Pieces, parts: IdleCauses, ranges: Annotations, beside: Neighbours) -> IdleGap:
    start, end = int(pieces.times[0]), int(pieces.times[-1])
    ns = summed(pieces.account, pieces.ns, len(ACCOUNTS))
    by_account = _by_account(np.where(IDLE, ns, 0) if ns[IDLE].any() else ns)  # else another process works all along
    return IdleGap(
        start_ns=start,
        end_ns=end,
        position=POSITIONS[pieces.position[0]],
        cause=max(by_account, key=lambda account: by_account[account]),
        by_account=by_account,
        parts=parts,
        range=_range(ranges, names, start, end),
        neighbours=beside,
    )


def _ranges(ranges: Annotations, chosen: Intervals) -> Annotations:
    """Return the ranges that overlap any of the gaps: no need to sweep over all others."""
    starts, ends = np.append(np.sort(chosen.starts), np.iinfo(np.int64).max), np.sort(chosen.ends)
    first = places(ends, ranges.start, "right")  # of the gaps that end after the range begins
    return ranges.at(np.flatnonzero(starts[first] < ranges.end))


def _range(ranges: Annotations, names: Names, start: int, end: int) -> str | None:
    """Return the range that is for longest the one that began last, by name; of equally long ones the first by name."""
    inside = ranges.at(np.flatnonzero((ranges.start < end) & (ranges.end > start)))
    label = inside.each(inside.kinds["range"].to_numpy())
    labels = latest_begun(inside.start, inside.end, label, inside.thread)
    codes, ends = labels.codes[:-1], np.clip(labels.times, start, end)
    rows, place = ranked(codes)
    totals = zip(rows.tolist(), summed(place, ends[1:] - ends[:-1], len(rows)).tolist(), strict=True)
    return min(((-ns, names[row]) for row, ns in totals if row != NONE and ns > 0), default=(0, None))[1]
