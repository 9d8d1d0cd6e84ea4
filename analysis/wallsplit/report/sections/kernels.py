"""Kernels by name, below the kinds of work they do."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import kernel_families, kernel_summary
from wallsplit.report.document import Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary

_FAMILIES = (
    Shown("family", "family"),
    Shown("total_ns", "total", "ns"),
    Shown("share_ratio", "of listed", "ratio"),
    Shown("count", "count", "count"),
    Shown("kernels", "kernels", "count"),
)
_KERNELS = (Shown("label", "kernel", whole="name"), *STATISTICS)
_BRIEF = ("label", "total_ns", "share_ratio", "count", "med_ns")


def kernels(analysis: Analysis, top: int) -> Section | None:
    """Return the families of kernels and the kernels, the longest total first."""
    section = summary(kernel_summary.TABLE, analysis, "Kernels by total time on the GPU", _KERNELS, top, _BRIEF)
    families = summary(kernel_families.TABLE, analysis, "Kernels by the kind of work", _FAMILIES, top)
    if section is None or families is None:
        return section
    return Section(section.key, section.title, (*families.blocks, *section.blocks))
