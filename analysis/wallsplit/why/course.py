"""How did the run go, from start to end? The ledger in a few hundred equal stretches, and what ran beside it."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times, levels, outer_first
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host_parts import NAMES, RUN, codes
from wallsplit.ledger.labels import NONE, Labels
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.pieces import Pieces
from wallsplit.ledger.timeline import booked, summed
from wallsplit.model import Model
from wallsplit.model.annotations import Annotations
from wallsplit.ranks import ranked
from wallsplit.why.samples.classes import NAMES as CLASSES
from wallsplit.why.steps import Steps
from wallsplit.why.steps.ranges import on_threads

SAMPLED = "sampled."
"""Begins the labels of what samples tell."""
_RUN = NAMES.index(RUN)
_SAY_LITTLE = (_RUN, NAMES.index("host.step"))
"""Parts that are one block from the first step to the last: samples tell more."""
Lane = tuple[npt.NDArray[np.intp], Times, Times]
"""Rows, starts and ends of ranges, ascending and disjoint."""
STRETCHES = 300
"""As many as an eye can tell apart on a page."""
LANES = 3
_APART = 1 / 400
"""Of the window: ranges shorter than this are shown together with their neighbours."""
_WHOLE = 0.97
"""Of the window: a range around everything says nothing about when what happened."""
MOST_AROUND = 16
"""So many ranges around everything are passed over; each costs a look at all that is inside."""


@dataclass(frozen=True)
class Beside:
    """A stretch of time with a name: one range or step, or several too short to be shown each."""

    name: str
    """Of the first."""
    count: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, eq=False)
class Course:
    """Where the time of one ledger went, stretch by stretch of its window."""

    bounds: Times
    """Ascending; stretch i is [bounds[i], bounds[i + 1])."""
    labels: tuple[str, ...]
    """Accounts; without any CUDA row, parts of `host`, or where they say little what was sampled: `sampled.python`."""
    ns: npt.NDArray[np.int64]
    """A row per stretch, a column per label; a row sums to its stretch."""
    lanes: tuple[tuple[Beside, ...], ...]
    """NVTX ranges of a thread that drives, the outermost first; without any, the steps. Ascending and disjoint each."""
    lanes_are_steps: bool


def course(
    model: Model,
    activity: Activity,
    ranges: Annotations,
    cut: Pieces,
    window: Window,
    found: Steps,
    executed: Labels | None = None,
) -> Course:
    """Return the course of an activity in a window; `cut` are the window's pieces, `found` its steps.

    `ranges` are those of the driving threads.
    `executed` tells of which class the code was, by samples of the CPU, where that is known.
    """
    bounds = np.unique(np.linspace(window.start_ns, window.end_ns, STRETCHES + 1).round().astype(np.int64))
    bounds[0], bounds[-1] = window.start_ns, window.end_ns
    times, labels, held, outside = cut.times, ACCOUNTS, cut.account, ACCOUNTS.index(HOST)
    if activity.rows is None:
        labels, held, outside = NAMES, codes(cut), _RUN
    if activity.rows is None and executed:
        labels = (*NAMES, *(f"{SAMPLED}{name}" for name in CLASSES))
        times, held = _split(times, held, executed)
    ns = booked(times, held, len(labels) + 1, bounds, outside=outside)[:, : len(labels)]
    lanes = tuple(_lanes(model, activity, ranges.where(~pl.col("is_library")), window))
    return Course(bounds, labels, ns, lanes or tuple(_steps(found, window)), lanes_are_steps=not lanes)


def _split(times: Times, parts: npt.NDArray[np.uint8], executed: Labels) -> tuple[Times, npt.NDArray[np.uint8]]:
    """Return the pieces of a window cut by what was executed in them, which stands for parts that say little."""
    inside = executed.times[(executed.times > times[0]) & (executed.times < times[-1])]
    every = np.unique(np.concatenate([times, inside]))
    part = parts[np.searchsorted(times, every[:-1], side="right") - 1]
    sampled = executed.at(every[:-1])
    known = np.isin(part, _SAY_LITTLE) & (sampled != NONE)
    return every, np.where(known, len(NAMES) + sampled, part).astype(np.uint8)


def _lanes(model: Model, activity: Activity, ranges: Annotations, window: Window) -> Iterator[tuple[Beside, ...]]:
    ranges = _inside(ranges, window)
    if len(activity.driving) > 1 and len(ranges):
        ranges = on_threads(ranges, _busiest(ranges))
    for rows, start, end in _outermost(ranges, window):
        together = list(_together(start, end, window))
        texts = ranges.at(rows[[first for first, *_ in together]]).text
        yield tuple(
            Beside(model.names[int(text)], count, a, b) for text, (_, count, a, b) in zip(texts, together, strict=True)
        )


def _inside(ranges: Annotations, window: Window) -> Annotations:
    """Return the ranges that overlap the window."""
    start, end = ranges.start, ranges.end
    if not len(ranges) or (int(start.max()) < window.end_ns and int(end.min()) > window.start_ns):
        return ranges
    inside = (end > window.start_ns) & (start < window.end_ns)
    count = int(np.count_nonzero(inside))
    first = int(np.argmax(inside))
    together = slice(first, first + count)
    return ranges.at(together if inside[together].all() else np.flatnonzero(inside))


def _outermost(ranges: Annotations, window: Window) -> list[Lane]:
    """Return LANES levels of ranges of one thread, the outermost first: rows, start and end, cut at the window's ends.

    Single ranges around everything that is inside are passed over.
    """
    lanes: list[Lane] = []
    for most in (LANES, LANES + MOST_AROUND):  # the second only where some are passed over
        level = levels(ranges.start, ranges.end, most)
        every = (np.flatnonzero(level == k) for k in range(most))
        shown = (_lane(ranges, rows, window) for rows in every if len(rows))
        lanes = list(islice(_without_around(shown, level, window), LANES))
        if len(lanes) == LANES or not (level == most).any():
            break
    return lanes


def _lane(ranges: Annotations, rows: npt.NDArray[np.intp], window: Window) -> Lane:
    start, end = ranges.start[rows], ranges.end[rows]
    if not (start[1:] > start[:-1]).all():
        order = outer_first(start, end)
        rows, start, end = rows[order], start[order], end[order]
    start[0], end[-1] = max(int(start[0]), window.start_ns), min(int(end[-1]), window.end_ns)  # they are disjoint
    return rows, start, end


def _without_around(lanes: Iterator[Lane], level: npt.NDArray[np.uint8], window: Window) -> Iterator[Lane]:
    around = 0
    for rows, start, end in lanes:
        is_whole = len(rows) == 1 and end[0] - start[0] >= _WHOLE * window.wall_ns
        if is_whole and (level > level[rows[0]]).any() and around < MOST_AROUND:
            around += 1
        else:
            yield rows, start, end


def _busiest(ranges: Annotations) -> npt.NDArray[np.int64]:
    """Return the thread that is longest in ranges."""
    threads, of_kinds = ranked(ranges.kinds["thread"].to_numpy())
    inside = summed(ranges.kind, ranges.end - ranges.start, len(of_kinds))
    return threads[[int(np.argmax(np.bincount(of_kinds, weights=inside)))]]


def _steps(found: Steps, window: Window) -> Iterator[tuple[Beside, ...]]:
    if found.count:
        start, end = (found.rows[column].to_numpy() for column in ("start", "end"))
        yield tuple(Beside(f"step {first + 1:,}", count, a, b) for first, count, a, b in _together(start, end, window))


def _together(start: Times, end: Times, window: Window) -> Iterator[tuple[int, int, int, int]]:
    """Give first row, number of rows, start and end of what is shown as one: alone, or short ones side by side."""
    least = max(1, int(window.wall_ns * _APART))
    short = end - start < least
    follows = np.append(False, short[1:] & short[:-1] & (start[1:] - end[:-1] < least))
    first = np.flatnonzero(~follows)
    last = np.append(first[1:], len(start)) - 1
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        yield a, b - a + 1, int(start[a]), int(end[b])
