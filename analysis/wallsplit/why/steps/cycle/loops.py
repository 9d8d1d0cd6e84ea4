"""More than one loop: validation beside training; two benchmarks one after another."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.why.steps.cycle.choice import MIN_STEPS
from wallsplit.why.steps.cycle.cutting import Cutting
from wallsplit.why.steps.cycle.layers import LayerMarks
from wallsplit.why.steps.cycle.levels import Level
from wallsplit.why.steps.cycle.search import MIN_UNITS, NO_TURNS, Turns, search
from wallsplit.why.steps.cycle.tokens import spans
from wallsplit.why.steps.units import Units, shared, work

Stretch = tuple[int, int]
"""Units, the second number excluded."""

PART = 1 / 4
"""Share of the sequence that each of several loops one after another fills at least."""
TOGETHER = 0.8
"""Share of the sequence that they fill together."""
TURNS_WITHOUT_EXCHANGE = 32
"""A dozen like kernels inside one pass are no loop; so many turns are."""
COVERED = 0.5
"""Share of what it is found in that a second loop covers at least."""
KNOWN = 64
"""Different remainders that are remembered."""
OWN_SHARED, MAIN_SHARED = 0.5, 0.2
"""Share of its own work, and of the main loop's, that a turn of a second loop has in common with one of the main."""


def loops(units: Units, marks: LayerMarks) -> tuple[Turns, str | None]:
    """Return the turns of all loops of a sequence, and why there are none where that is so.

    A turn of no kind counts as one of the commonest.
    """
    main = search(units, marks)
    if main.level is not None:
        turns = _with_second_loops(units, marks, main.turns, main.level)
    else:
        turns = NO_TURNS if main.repeats else _one_after_another(units, marks, main.levels)
    return Turns(turns.first, turns.last, np.maximum(turns.kind, 0)), None if len(turns) else main.reason


def _with_second_loops(units: Units, marks: LayerMarks, turns: Turns, level: Level) -> Turns:
    """Return the turns of a loop and those in what it leaves over: in turns over twice its size, and after it."""
    sample = int(level.starts[level.like[0]])
    main = work(units, sample, sample + level.size)
    if not main:
        return turns
    is_double = _begins_like(units, turns, sample, level.size)
    ends = np.where(is_double, turns.first + level.size, turns.last)
    rests = [*zip(ends[is_double].tolist(), turns.last[is_double].tolist(), strict=True), (level.end, len(units))]
    result = [Turns(turns.first, ends, np.where(is_double, 0, turns.kind))]
    kinds: dict[bytes, int] = {}
    known: dict[bytes, Cutting] = {}
    for begin, end in rests:
        rest = units.part(begin, end)
        second = search(rest, marks, _cutting(rest, known))
        if second.level is None or second.level.covered < COVERED:
            continue
        sample = begin + int(second.level.starts[second.level.like[0]])
        if _is_related(work(units, sample, sample + second.level.size), main):
            body = np.sort(units.token[sample : sample + second.level.size]).tobytes()
            kind = len(level.sizes) + kinds.setdefault(body, len(kinds))
            result.append(
                Turns(second.turns.first + begin, second.turns.last + begin, np.full(len(second.turns), kind))
            )
    return _in_order(result)


def _cutting(rest: Units, known: dict[bytes, Cutting]) -> Cutting | None:
    """Return the cutting of what a loop leaves over: validation launches the same each time, at times of its own."""
    if len(rest) < MIN_UNITS:
        return None
    key = rest.token.tobytes()
    if key not in known:
        if len(known) == KNOWN:
            known.clear()
        known[key] = Cutting.of(rest)
    return known[key]


def _begins_like(units: Units, turns: Turns, sample: int, size: int) -> npt.NDArray[np.bool_]:
    """Return which turns are over twice a size and begin with the units at `sample`."""
    result = turns.last - turns.first > 2 * size + 4
    body = units.token[sample : sample + size]
    if len(body) < size:
        return np.zeros(len(turns), np.bool_)
    first = turns.first[result]
    begins = units.token[spans(first, np.full(len(first), size))].reshape(len(first), size)
    result[result] = (begins == body).all(axis=1)
    return result


def _is_related(own: dict[int, int], main: dict[int, int]) -> bool:
    common = shared(own, main)
    return common > 0 and common >= OWN_SHARED * sum(own.values()) and common >= MAIN_SHARED * sum(main.values())


def _one_after_another(units: Units, marks: LayerMarks, levels: Sequence[Level]) -> Turns:
    """Return the turns of loops one after another; none where together they do not fill the sequence.

    Each is searched in a stretch of its own: the longest of like segments of any level, and what lies before and after.
    """
    size = len(units)
    first = _longest(levels, 0, size, PART * size)
    if first is None:
        return NO_TURNS
    stretches = [first]
    for begin, end in ((0, first[0]), (first[1], size)):
        if end - begin >= PART * size:
            rest = search(units.part(begin, end), marks)
            stretch = (begin, end) if rest.level is not None else _longest(rest.levels, begin, end, PART * size)
            stretches += [] if stretch is None else [stretch]
    result, kinds = NO_TURNS, 0
    for begin, end in stretches:
        found = search(units.part(begin, end), marks)
        if found.level is None or not (found.level.exchanges or len(found.turns) >= TURNS_WITHOUT_EXCHANGE):
            continue
        kind = np.where(found.turns.kind < 0, -1, found.turns.kind + kinds)
        turns = Turns(found.turns.first + begin, found.turns.last + begin, kind)
        result = _in_order([result, _apart(turns, result)])
        kinds += len(found.level.sizes)
    return result if int((result.last - result.first).sum()) >= TOGETHER * size else NO_TURNS


def _longest(levels: Sequence[Level], begin: int, end: int, least: float) -> Stretch | None:
    """Return the longest stretch of like segments of levels of the units `begin` to `end`, of `least` units or more."""
    best = (0, 0)
    for level in levels:
        runs = np.split(level.like, np.flatnonzero(np.diff(level.like) != 1) + 1)
        edges = np.array([(run[0], run[-1] + 1) for run in runs if len(run) >= 2 * MIN_STEPS], np.int64).reshape(-1, 2)
        first, last = level.bounds[edges[:, 0]], np.minimum(level.bounds[edges[:, 1]] + level.size, end - begin)
        if len(first) and int((last - first).max()) > best[1] - best[0]:
            longest = int(np.argmax(last - first))
            best = int(first[longest]), int(last[longest])
    return (begin + best[0], begin + best[1]) if best[1] - best[0] >= least else None


def _apart(turns: Turns, others: Turns) -> Turns:
    """Return the turns that overlap neither the first nor the last of the others."""
    if not len(others):
        return turns
    rows = np.ones(len(turns), np.bool_)
    for other in (0, -1):
        rows &= (turns.last <= others.first[other]) | (turns.first >= others.last[other])
    return Turns(turns.first[rows], turns.last[rows], turns.kind[rows])


def _in_order(parts: Sequence[Turns]) -> Turns:
    first, last, kind = (
        np.concatenate(columns) for columns in zip(*((t.first, t.last, t.kind) for t in parts), strict=True)
    )
    order = np.lexsort((last, first))
    return Turns(first[order], last[order], kind[order])
