"""What can be told of a sequence by its tokens alone; where a step begins is a matter of time, too."""

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.why.steps.cycle.anchors import Anchors, anchors
from wallsplit.why.steps.cycle.choice import candidates, climbed, repeating
from wallsplit.why.steps.cycle.levels import Level, levels
from wallsplit.why.steps.cycle.tokens import Tokens
from wallsplit.why.steps.units import Units


@dataclass(frozen=True, eq=False)
class Cutting:
    """A sequence and the levels that hold."""

    tokens: Tokens
    anchors: Anchors
    levels: tuple[Level, ...]
    """The levels that hold, the cheapest first; where none does, all that were looked at."""
    step: Level | None
    """The level whose turns may be steps; None where none holds."""
    is_step: bool
    """Whether they are."""
    _made: dict[tuple[int, bool], Level] = field(default_factory=dict)

    @classmethod
    def of(cls, units: Units) -> "Cutting":
        """Return the cutting of some units."""
        tokens = Tokens.of(units)
        every = anchors(tokens)
        some = candidates(tokens, every)
        holding = repeating(some)
        step, is_step = climbed(holding) if holding else (None, False)
        return cls(tokens, every, tuple(holding or some), step, is_step)

    def made(self, rows: Sequence[int], untold: Sequence[bool]) -> list[Level]:
        """Return the levels of some anchors, each made once; `untold` as in `levels`."""
        keys = list(zip(rows, untold, strict=True))
        new = [key for key in dict.fromkeys(keys) if key not in self._made]
        if new:
            fresh = levels(self.tokens, self.anchors, np.array([row for row, _ in new]), [told for _, told in new])
            self._made.update(zip(new, fresh, strict=True))
        return [self._made[key] for key in keys]
