"""Rows that do not fit."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import anomalies as breakdown
from wallsplit.report.document import Section
from wallsplit.report.sections.summaries import Shown, summary


def anomalies(analysis: Analysis, top: int) -> Section | None:
    """Return what was found and not used, or not as expected."""
    shown = (Shown("kind", "kind"), Shown("count", "count", "count"), Shown("detail", "detail"))
    return summary(breakdown.TABLE, analysis, "Rows of the trace that do not fit", shown, top)
