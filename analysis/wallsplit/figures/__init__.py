"""The figures of a report, one per file: an analysis in, a figure out, None where there is nothing to draw."""

from collections.abc import Callable

from wallsplit.analysis import Analysis
from wallsplit.figures.api_exposure import api_exposure
from wallsplit.figures.arithmetic import arithmetic
from wallsplit.figures.drawing import Figure
from wallsplit.figures.launches import launches
from wallsplit.figures.ledger import ledger

FIGURES: tuple[Callable[[Analysis], Figure | None], ...] = (ledger, arithmetic, api_exposure, launches)
