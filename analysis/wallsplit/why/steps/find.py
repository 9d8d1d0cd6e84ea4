"""Where the steps of a process on one device are, and what told: names, or the period of what the host issued."""

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.phases import PhaseRule
from wallsplit.model import Model
from wallsplit.why.steps.cycle.layers import NO_MARKS
from wallsplit.why.steps.cycle.loops import loops
from wallsplit.why.steps.cycle.search import Turns
from wallsplit.why.steps.named import NamedSteps, named_steps
from wallsplit.why.steps.ranges import layer_marks, own_ranges
from wallsplit.why.steps.sequence import launch_sequence, range_sequence
from wallsplit.why.steps.units import Ints, Units

NVTX, CYCLE, NVTX_CYCLE = "nvtx", "cycle", "nvtx_cycle"
"""What tells the steps: the names of ranges; the period of launches; that of ranges, where there are no launches."""


@dataclass(frozen=True)
class FoundSteps:
    """Steps, one entry each, ascending and disjoint; times in ns."""

    start: Times
    end: Times
    kind: Ints
    """Equal for steps of one kind; a position in `names` where there are any."""
    host_start: Times
    source: str | None = None
    reason: str | None = None
    """Why there are none."""
    boundary: str | None = None
    """Whose clock decides where a step begins: `gpu` or `host`."""
    names: tuple[str, ...] = ()
    units: Units | None = None
    turns: Turns | None = None
    """The launches, and which of them each step is made of, where their period tells."""

    def __len__(self) -> int:
        return len(self.start)


def find(
    model: Model, activity: Activity, window: Window, rules: tuple[PhaseRule, ...], *, hide_ranges: bool
) -> FoundSteps:
    """Return the steps of an activity in a window, clipped to it; `hide_ranges`: as if the trace had no NVTX ranges."""
    driving = own_ranges(model, activity.pid, activity.driving)
    if not hide_ranges:
        named = named_steps(driving, model.names, rules)
        if named:
            return _of_names(named, window)
    units = None if activity.rows is None else launch_sequence(model, activity.rows)
    if units is not None and (len(units) or hide_ranges):
        marks = NO_MARKS if hide_ranges else layer_marks(model.annotations, model.names, activity.pid)
        return _of_turns(units, *loops(units, marks), CYCLE, window)
    if hide_ranges:
        return _nothing("fewer than 6 launches")
    if not len(driving):
        return _nothing("neither launches nor NVTX ranges")
    units = range_sequence(driving, model.names)
    turns, reason = loops(units, NO_MARKS)
    if reason is not None:
        reason = reason.replace("launch sequence", "sequence of NVTX ranges")
    return _of_turns(units, turns, reason, NVTX_CYCLE, window)


def _nothing(reason: str | None) -> FoundSteps:
    none = np.empty(0, np.int64)
    return FoundSteps(none, none, none, none, reason=reason)


def _of_names(named: tuple[NamedSteps, ...], window: Window) -> FoundSteps:
    host = np.concatenate([steps.start for steps in named])
    start = np.maximum(host, window.start_ns)
    end = np.minimum(np.concatenate([steps.end for steps in named]), window.end_ns)
    kind = np.repeat(np.arange(len(named)), [len(steps.start) for steps in named])
    order = np.lexsort((host, kind, end, start))
    rows = order[start[order] < end[order]]
    names = tuple(steps.name for steps in named)
    return FoundSteps(start[rows], end[rows], kind[rows], host[rows], NVTX, boundary="host", names=names)


def _of_turns(units: Units, turns: Turns, reason: str | None, source: str, window: Window) -> FoundSteps:
    """Return turns as steps: from the first operation's start to the next step's, so that what the host waits for in
    between belongs to the step; where none follows at once, to the end of the last operation."""
    if not len(turns):
        return _nothing(reason)
    host = units.host[turns.first]
    start = units.gpu[turns.first]
    if (start[1:] <= start[:-1]).any():  # on several streams the GPU may begin with a later step
        start = host
    following = np.append(start[1:], np.iinfo(np.int64).max)
    pairs = np.column_stack([turns.first, turns.last]).ravel()
    ended = np.maximum.reduceat(np.append(units.end, 0), pairs)[::2]
    follows = np.append(turns.first[1:] == turns.last[:-1], False)
    end = np.where(follows, following, np.minimum(np.maximum(ended, start), following))
    rows = np.flatnonzero((end > window.start_ns) & (start < window.end_ns) | _inside(start, end, window))
    turns = Turns(turns.first[rows], turns.last[rows], turns.kind[rows])
    return FoundSteps(
        np.clip(start[rows], window.start_ns, window.end_ns),
        np.clip(end[rows], window.start_ns, window.end_ns),
        turns.kind,
        host[rows],
        source,
        boundary="gpu" if source == CYCLE else "host",
        units=units,
        turns=turns,
    )


def _inside(start: Times, end: Times, window: Window) -> npt.NDArray[np.bool_]:
    """Return which steps lie in the window, one that takes no time at its very end included."""
    return (start >= window.start_ns) & (end <= window.end_ns)
