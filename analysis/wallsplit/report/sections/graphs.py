"""CUDA graphs that were recorded as a whole."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import graph_replays as breakdown
from wallsplit.report.document import Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary


def graph_replays(analysis: Analysis, top: int) -> Section | None:
    """Return the graph replays; what runs inside such a graph was not recorded."""
    shown = (Shown("graph", "graph", null="not recorded"), Shown("device", "GPU"), Shown("pid", "process"), *STATISTICS)
    caption = "Graph replays recorded as a whole"
    return summary(breakdown.TABLE, analysis, caption, shown, top)
