"""What do waits cost: which are useful, and how long does the GPU stand idle under them?

Waits are the `…Synchronize` calls of driving threads. Small reads and waits are never blamed by their number: only the
idle time they cause is lost.
"""

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from wallsplit.breakdowns.statistics import overlapping
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, elapsed, places, subtract
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Names
from wallsplit.schema import SYNC
from wallsplit.why.copies import Copies, SmallReads, copies, small_reads, with_calls

PhaseAt = Callable[[Times], pl.Series]
"""Times to the phase of the host at each of them: a String series, null where there is none."""


@dataclass(frozen=True)
class Waits:
    """The waits by one call in one phase. The parts sum to `total_ns`."""

    name: str
    phase: str | None
    """At the call's start."""
    count: int
    total_ns: int
    useful_ns: int
    """The ledger's device works."""
    elsewhere_ns: int
    """Only another device of the process does."""
    before_ns: int
    """Idle before the first work inside the call."""
    between_ns: int
    """Idle between the first and the last work inside the call."""
    tail_ns: int
    """Idle after the last work inside the call."""
    nothing_ns: int
    """Idle in calls without any work inside."""


@dataclass(frozen=True)
class Sync:
    """Waiting in a ledger."""

    calls: tuple[Waits, ...]
    """Those with most time first."""
    copies: tuple[Copies, ...]
    small_reads: SmallReads


PARTS = ("useful_ns", "elsewhere_ns", "before_ns", "between_ns", "tail_ns", "nothing_ns")


def sync(activity: Activity, window: Window, names: Names, phase_at: PhaseAt, elsewhere: Intervals) -> Sync | None:
    """Return what waits cost in the window; None for a process without any CUDA row.

    Waits are cut at the window's ends. `elsewhere`: when another device of the process works.

    Raises:
        LedgerError: the parts of the waits do not add up to their length.
    """
    rows = activity.rows
    if rows is None:
        return None
    waits = overlapping(rows.calls.filter(pl.col("is_driving") & is_wait(names)), window)
    called = with_calls(rows, window)
    return Sync(
        calls=_by_name_and_phase(waits, window, names, phase_at, activity.busy, elsewhere),
        copies=copies(called),
        small_reads=small_reads(called, rows.calls, activity.busy, is_wait(names)),
    )


def is_wait(names: Names) -> pl.Expr:
    """Return which API calls wait, by their names."""
    wait = names.texts.str.ends_with("Synchronize").arg_true().cast(pl.Int32)
    return (pl.col("api_class") == "sync") & pl.col("name").is_in(wait.implode())


def _by_name_and_phase(
    waits: pl.DataFrame, window: Window, names: Names, phase_at: PhaseAt, busy: Intervals, others: Intervals
) -> tuple[Waits, ...]:
    starts, ends = waits["start"].to_numpy(), waits["end"].to_numpy()
    inside = np.maximum(starts, window.start_ns), np.minimum(ends, window.end_ns)
    parts = _parts(*inside, busy, others)
    frame = pl.DataFrame(
        {
            "name": names.text(waits["name"]),
            "phase": phase_at(starts).cast(pl.String),
            "total_ns": inside[1] - inside[0],
            **dict(zip(PARTS, parts, strict=True)),
        }
    )
    by = frame.group_by("name", "phase").agg(pl.len().alias("count"), pl.col("total_ns", *PARTS).sum())
    found = [Waits(**row) for row in by.iter_rows(named=True)]
    for x in found:
        if x.total_ns != sum(getattr(x, part) for part in PARTS):
            raise LedgerError(
                f"the parts of the waits {x} do not add up; this is a defect of wallsplit, please report it"
            )
    return tuple(sorted(found, key=lambda x: (-x.total_ns, str((x.name, x.phase)))))


def _parts(starts: Times, ends: Times, busy: Intervals, others: Intervals) -> tuple[Times, ...]:
    """Return the PARTS of each of the calls `[starts[i], ends[i])`, in ns."""
    begun, over = np.split(elapsed(busy, np.concatenate([starts, ends])), 2)
    useful = over - begun
    works = useful > 0
    # The first and the last work inside the call; where there is none, the call is cut at its end.
    first = np.maximum(np.append(busy.starts, 0)[places(busy.ends, starts, "right")], starts)
    last = np.minimum(np.append(busy.ends, 0)[places(busy.starts, ends) - 1], ends)
    first, last = np.where(works, first, ends), np.where(works, last, ends)
    # The device works from first to last only; elsewhere may be work at any time.
    alone = elapsed(subtract(others, busy), np.concatenate([starts, first, last, ends]))
    at_start, at_first, at_last, at_end = np.split(alone, 4)
    before = first - starts - (at_first - at_start)
    between = last - first - useful - (at_last - at_first)
    tail = ends - last - (at_end - at_last)
    return useful, at_end - at_start, np.where(works, before, 0), between, tail, np.where(works, 0, before)


def table(found: Iterable[tuple[int, int | None, Sync | None]]) -> pl.DataFrame:
    """Return `schema.SYNC`: a row per (process, device), call and phase."""
    rows = [{"pid": pid, "device": device, **vars(x)} for pid, device, how in found if how for x in how.calls]
    return pl.DataFrame(rows, schema=SYNC)
