"""Which kind of steps trains and which validates, where two kinds relate like that."""

from collections.abc import Sequence

import numpy as np

from wallsplit.ledger.phases import PhaseRule, phase_of
from wallsplit.why.steps.cycle.choice import MIN_STEPS
from wallsplit.why.steps.find import CYCLE, FoundSteps
from wallsplit.why.steps.units import shared, work

TRAIN, VALIDATION = "train", "validation"
COMPARED = 4
"""The most frequent kinds, which are compared."""


def roles(found: FoundSteps, order: Sequence[int], rules: tuple[PhaseRule, ...]) -> dict[int, str]:
    """Return the role of each kind that has one, by kind; `order` are the kinds, the most frequent first."""
    if found.names:
        validates = [phase_of(name, rules) == VALIDATION for name in found.names]
        return {kind: VALIDATION if yes else TRAIN for kind, yes in enumerate(validates)} if any(validates) else {}
    return _by_work(found, order) if found.source == CYCLE else {}


def _by_work(found: FoundSteps, order: Sequence[int]) -> dict[int, str]:
    """Return the roles of two kinds of which the smaller does half of its work or more as the larger does it.

    Validation is forward alone: less work, from the same kernels, no more often, several steps in a row.
    """
    assert found.units is not None
    assert found.turns is not None
    rows = {kind: np.flatnonzero(found.kind == kind) for kind in order[:COMPARED]}
    rows = {kind: steps for kind, steps in rows.items() if len(steps) >= MIN_STEPS}
    works = {
        kind: work(found.units, int(found.turns.first[steps[0]]), int(found.turns.last[steps[0]]))
        for kind, steps in rows.items()
    }
    if not works:
        return {}
    big = max(works, key=lambda kind: (sum(works[kind].values()), -kind))
    whole = sum(works[big].values())
    for kind, own in works.items():
        size, steps = sum(own.values()), rows[kind]
        is_part = shared(own, works[big]) >= 0.5 * size and whole >= 1.3 * size and size >= 8
        is_graph = set(own) == set(works[big]) == {-1}
        in_a_row = len(steps) / (1 + int((np.diff(steps) != 1).sum()))
        if kind != big and (is_part or is_graph) and in_a_row >= 2 and len(steps) <= len(rows[big]):
            return {big: TRAIN, kind: VALIDATION}
    return {}
