"""Which level is the step: the cheapest, or, where that is a part of one, a coarser level."""

from collections.abc import Sequence

import numpy as np

from wallsplit.ranks import ranked
from wallsplit.why.steps.cycle.anchors import Anchors
from wallsplit.why.steps.cycle.cuts import WIDER_COST, Floats, blocks, cut
from wallsplit.why.steps.cycle.kinds import tolerance
from wallsplit.why.steps.cycle.levels import Level, levels
from wallsplit.why.steps.cycle.tokens import Tokens
from wallsplit.why.steps.units import Ints

MIN_STEPS = 3
MAX_COST = 0.35
MAX_COST_OF_FEW_KINDS = 0.6
CHEAPEST = 40
MOST_EVEN = 20
COARSER = 1024
"""A step has at most as many of the parts found first."""
RUN = 64
"""Like turns in a row, on average, that make steps of a level that does not exchange with the host."""


def candidates(tokens: Tokens, anchors: Anchors) -> list[Level]:
    """Return the levels worth a look: for each number of cuts the cheapest, of these the cheapest and most even."""
    rows = np.flatnonzero(anchors.count >= MIN_STEPS)
    cost, complete = _priced(tokens, anchors, rows)
    is_usable = complete >= MIN_STEPS
    rows, cost = rows[is_usable], cost[is_usable]
    if not len(rows):
        return []
    order = np.lexsort((anchors.first[rows], cost, anchors.count[rows]))
    count = anchors.count[rows][order]
    best = order[np.append(True, count[1:] != count[:-1])]
    met = np.full(int(count[-1]) + 1, len(rows))  # ties keep the order in which the counts are met
    np.minimum.at(met, count, order)
    best = best[np.argsort(met[anchors.count[rows[best]]])]
    rows, cost = rows[best], cost[best]
    first = anchors.first[rows]
    chosen = np.lexsort((first, cost))[:CHEAPEST]
    if len(rows) > CHEAPEST:
        even = [_evenness(anchors.of_cuts(anchors.cut[[row]])[0], len(tokens)) for row in rows.tolist()]
        most_even = np.lexsort((first, -np.array(even)))[:MOST_EVEN]
        chosen = np.append(chosen, most_even[~np.isin(most_even, chosen)])
    return levels(tokens, anchors, rows[chosen])


def repeating(some: Sequence[Level]) -> list[Level]:
    """Return the levels that hold, the cheapest first: that describe the sequence in much less than it is long."""
    holding = [
        level
        for level in some
        if level.cost <= MAX_COST
        or (len(level.sizes) <= 2 and level.covered >= 0.8 and level.cost <= MAX_COST_OF_FEW_KINDS)
    ]
    return sorted(holding, key=lambda level: (level.cost, level.first))


def climbed(holding: Sequence[Level]) -> tuple[Level, bool]:
    """Return the level whose turns may be steps, of those that hold, the cheapest first; and whether they are."""
    level = holding[0]
    while not (level.exchanges and level.like_share >= 2 / 3):
        coarser = [other for other in holding if _is_coarser(other, level)]
        if not coarser:
            is_step = (
                level.exchanges
                or level.like_share >= 0.98
                or level.complete - len(level.like) <= 2
                or level.run_length >= RUN
            )
            return level, is_step
        level = min(coarser, key=lambda other: (other.like_share < 0.9, other.cost, other.first))
        if level.exchanges:
            break
    return level, True


def _is_coarser(other: Level, level: Level) -> bool:
    """Return whether nearly all segments of `other` hold a segment of `level` that is not of its commonest kind."""
    few, many = len(other.starts), len(level.starts)
    if not few < many <= COARSER * few:
        return False
    if not (other.exchanges or (other.like_share >= 0.9 and other.covered >= level.covered - 0.10)):
        return False
    foreign = level.starts[: level.complete][level.kinds != 0]
    before = np.searchsorted(foreign, other.bounds[: other.complete + 1])
    return int((np.diff(before) > 0).sum()) >= 0.9 * other.complete - 1


def _priced(tokens: Tokens, anchors: Anchors, rows: Ints) -> tuple[Floats, Ints]:
    """Return (cost, complete segments) of the cuts that some anchors make."""
    cuts, row_of_cut = ranked(anchors.cut[rows])
    cost, complete = np.zeros(len(cuts)), np.zeros(len(cuts), np.int64)
    for some, places, offsets in blocks(anchors, cuts):
        made = cut(tokens, places, offsets)
        cost[some], complete[some] = made.cost, made.complete
    return cost[row_of_cut] + WIDER_COST * (anchors.width[rows] - 1), complete[row_of_cut]


def _evenness(places: Ints, size: int) -> float:
    """Return the share of a sequence in segments as long as the median one, within a tenth."""
    length = np.sort(np.diff(places))
    median = length[len(length) // 2]
    return int(length[np.abs(length - median) <= tolerance(median)].sum()) / size
