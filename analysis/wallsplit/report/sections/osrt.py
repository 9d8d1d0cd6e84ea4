"""Calls into the operating system's runtime."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import osrt_summary
from wallsplit.report.document import Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary


def osrt(analysis: Analysis, top: int) -> Section | None:
    """Return OS runtime calls over all threads; waiting threads add up to more than wall time."""
    shown = (Shown("name", "call"), *STATISTICS)
    return summary(osrt_summary.TABLE, analysis, "OS runtime calls, all threads added up", shown, top)
