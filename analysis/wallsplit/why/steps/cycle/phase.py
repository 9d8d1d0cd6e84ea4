"""Where in its cycle a step begins: there the host pauses longest."""

import numpy as np

from wallsplit.ranks import ranked
from wallsplit.why.steps.cycle.choice import MIN_STEPS
from wallsplit.why.steps.cycle.cuts import blocks, cut
from wallsplit.why.steps.cycle.cutting import Cutting
from wallsplit.why.steps.cycle.levels import Level
from wallsplit.why.steps.units import Ints, Units

LONGEST_PAUSES = 16
MOST_TURNS = 8
DEARER = 0.01
"""How much dearer than the level found first a cut at another place of the cycle may be."""


def begun(units: Units, cutting: Cutting, level: Level) -> Level:
    """Return the level cut at the place of its cycle that completes most turns, then where the host pauses longest."""
    anchors = cutting.anchors
    rows = np.flatnonzero(np.abs(anchors.count - level.occurrences) <= 1)
    complete, pause = _turns(units, cutting, rows)
    first, width = anchors.first[rows], anchors.width[rows]
    looked_at = np.concatenate(
        [np.lexsort((first, -pause))[:LONGEST_PAUSES], np.lexsort((width, first, -complete))[:MOST_TURNS]]
    )
    is_second = [row in looked_at[:i] for i, row in enumerate(looked_at)]
    best, best_key = level, (-level.complete, 1, 0)
    made = cutting.made(rows[looked_at].tolist(), is_second)
    for other, before in zip(made, pause[looked_at].tolist(), strict=True):
        key = (-other.complete, -before, other.first)
        if other.complete >= MIN_STEPS and other.cost <= level.cost + DEARER and key < best_key:
            best, best_key = other, key
    if best is level:
        return level
    # where most turns are complete and the pauses are longest, too, a last turn cut short is of no kind
    return [other for other in made if other.anchor == best.anchor][-1]


def _turns(units: Units, cutting: Cutting, rows: Ints) -> tuple[Ints, Ints]:
    """Return (complete segments, median host pause before a segment in ns) of the cuts that some anchors make."""
    cuts, row_of_cut = ranked(cutting.anchors.cut[rows])
    complete, pause = np.zeros(len(cuts), np.int64), np.zeros(len(cuts), np.int64)
    pauses = units.host[1:] - units.returned[:-1]  # before each unit but the first
    by_length = np.argsort(pauses, kind="stable")
    rank = np.empty(len(by_length), np.int64)
    rank[by_length] = np.arange(len(by_length))
    for some, places, offsets in blocks(cutting.anchors, cuts):
        made = cut(cutting.tokens, places, offsets)
        complete[some] = made.complete
        owner = np.repeat(np.arange(len(some)), np.diff(offsets))
        earlier = np.flatnonzero(made.before >= 0)
        owner, place = np.append(owner, earlier), np.append(places, made.start[earlier])
        key = np.sort(owner[place > 0] * len(rank) + rank[place[place > 0] - 1])
        count = np.bincount(owner[place > 0], minlength=len(some))
        middle = key[np.cumsum(count) - count + count // 2] % len(rank)
        pause[some] = pauses[by_length[middle]]
    return complete[row_of_cut], pause[row_of_cut]
