"""Kernels by name."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary


def kernels(analysis: Analysis, top: int) -> Section | None:
    """Return the kernels, the longest total first."""
    shown = (Shown("name", "kernel"), *STATISTICS)
    return summary("kernel_summary", "Kernels", analysis, "Kernels by total time on the GPU", shown, top)
