"""The figures of a report, one per file: an analysis in, a figure out, None where there is nothing to draw."""

from collections.abc import Callable

from wallsplit.analysis import Analysis
from wallsplit.figures.api_exposure import api_exposure
from wallsplit.figures.arithmetic import arithmetic
from wallsplit.figures.communication import communication
from wallsplit.figures.drawing import Figure
from wallsplit.figures.gpu_use import gpu_use
from wallsplit.figures.idle_causes import idle_causes
from wallsplit.figures.launches import launches
from wallsplit.figures.ledger import ledger
from wallsplit.figures.memory_use import memory_use
from wallsplit.figures.steps import steps
from wallsplit.figures.waits import waits

FIGURES: tuple[Callable[[Analysis], Figure | None], ...] = (
    ledger,
    steps,
    idle_causes,
    gpu_use,
    arithmetic,
    api_exposure,
    waits,
    launches,
    communication,
    memory_use,
)
