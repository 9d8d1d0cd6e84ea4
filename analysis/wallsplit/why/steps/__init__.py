"""Steps: the turns of the loop that a run consists of, found by the names of ranges or by the period of launches."""

from wallsplit.why.steps.figures import StepKind
from wallsplit.why.steps.summary import SlowStep, Steps, steps

__all__ = ["SlowStep", "StepKind", "Steps", "steps"]
