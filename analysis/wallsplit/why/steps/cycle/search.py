"""Find the loop that fills a sequence of units."""

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.why.steps.cycle.choice import MIN_STEPS
from wallsplit.why.steps.cycle.cutting import Cutting
from wallsplit.why.steps.cycle.layers import LayerMarks, layer_share
from wallsplit.why.steps.cycle.levels import Level
from wallsplit.why.steps.cycle.phase import begun
from wallsplit.why.steps.units import Ints, Units

MIN_UNITS = 6
LAYER_SHARE = 0.6
"""From this share of turns with a few layers each on, a turn is a layer."""


@dataclass(frozen=True)
class Turns:
    """Turns of loops, one entry each, ascending: units first[i] to last[i] (excluded)."""

    first: Ints
    last: Ints
    kind: Ints
    """Equal for turns that do the same, or nearly."""

    def __len__(self) -> int:
        return len(self.first)


NO_TURNS = Turns(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(frozen=True)
class Search:
    """What was found of one loop in a sequence."""

    turns: Turns
    reason: str | None
    """Why there are none."""
    level: Level | None
    """The level that the turns are of; None where there are none."""
    levels: tuple[Level, ...]
    """The levels that hold; where none does, all that were looked at."""
    repeats: bool
    """Whether a level holds."""


def search(units: Units, marks: LayerMarks, cutting: Cutting | None = None) -> Search:
    """Return the loop that fills a sequence of units; none where it cannot be told from layers, or does not repeat.

    `cutting`: that of the units, where it is known.
    """
    if len(units) < MIN_UNITS:
        return _nothing(f"fewer than {MIN_UNITS} launches", (), repeats=False)
    cutting = cutting or Cutting.of(units)
    level, holding = cutting.step, cutting.levels
    if level is None:
        return _nothing("the launch sequence does not repeat", holding, repeats=False)
    if not cutting.is_step:
        reason = (
            f"blocks of about {level.size} launches repeat {level.complete} times without an exchange with the host"
        )
        return _nothing(f"{reason}: layers, not steps", holding)
    if layer_share(units, level, marks) >= LAYER_SHARE:
        reason = f"the cycle of {level.size} launches is a layer, by the names of the NVTX ranges around it"
        return _nothing(reason, holding)
    level = begun(units, cutting, level)
    turns = _working(units, level)
    if len(turns) < MIN_STEPS:
        return _nothing("only copies repeat", holding)
    return Search(turns, None, level, holding, repeats=True)


def _nothing(reason: str, levels: tuple[Level, ...], *, repeats: bool = True) -> Search:
    return Search(NO_TURNS, reason, None, levels, repeats)


def _working(units: Units, level: Level) -> Turns:
    """Return the turns of a level that have a kernel or a graph: copies alone are no step."""
    work = np.append(0, np.cumsum(units.is_work))
    first, last = level.bounds[: level.complete], level.bounds[1 : level.complete + 1]
    rows = np.flatnonzero(work[last] > work[first])
    return Turns(first[rows], last[rows], level.kinds[rows])
