"""Whether the turns of a level are layers of a network, by the numbers in the names of the NVTX ranges around them."""

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ranks import distinct, ranked
from wallsplit.why.steps.cycle.levels import Level
from wallsplit.why.steps.units import Ints, Units

LAYERS_KNOWN = 3
"""Different layer numbers that must occur before anything is concluded."""


@dataclass(frozen=True)
class LayerMarks:
    """Where NVTX ranges named like a layer begin."""

    start: Times
    """Ascending, in ns."""
    layer: Ints
    """Equal for the same layer number."""


NO_MARKS = LayerMarks(np.empty(0, np.int64), np.empty(0, np.int64))


def layer_share(units: Units, level: Level, marks: LayerMarks) -> float:
    """Return the share of a level's turns in which a few of the layers are, at least one and at most half of them."""
    host = np.append(units.host, units.host[-1] + 1)
    edges = host[level.bounds[: level.complete + 1]]
    inside = (marks.start >= edges[0]) & (marks.start < edges[-1])
    turn = np.searchsorted(edges, marks.start[inside], side="right") - 1
    layer, number = ranked(marks.layer[inside])
    if len(layer) < LAYERS_KNOWN:
        return 0.0
    layers = np.bincount(distinct(turn * len(layer) + number) // len(layer), minlength=level.complete)
    return int(((layers >= 1) & (layers <= max(1, len(layer) // 2))).sum()) / level.complete
