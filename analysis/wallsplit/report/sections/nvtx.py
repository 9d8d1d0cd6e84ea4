"""The program's own ranges, on the host and projected onto the GPU."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import api_summary, nvtx_gpu_projection, nvtx_groups
from wallsplit.report.document import Paragraph, Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary

_GROUP = (Shown("group", "range"), Shown("style", "style"))
_RANGE = (Shown("range", "range"), Shown("style", "style"))
_PROJECTED = (
    *_RANGE,
    Shown("count", "count", "count"),
    Shown("gpu_op_count", "GPU operations", "count"),
    Shown("projected_total_ns", "projected total", "ns"),
    Shown("range_total_ns", "range total", "ns"),
    Shown("projected_avg_ns", "projected avg", "ns"),
    Shown("projected_med_ns", "median", "ns"),
    Shown("projected_min_ns", "min", "ns"),
    Shown("projected_max_ns", "max", "ns"),
)
_BRIEF = ("group", "total_ns", "count", "med_ns", "max_ns")
_EXPLANATION = (
    "A range projected onto the GPU lasts from the start of the first to the end of the last GPU operation that the "
    "range's own thread enqueued inside it; idle time in between is included."
)


def nvtx(analysis: Analysis, top: int) -> Section | None:
    """Return the NVTX ranges by their time on the host, those that differ in a number only taken together.

    Without CUDA calls, they are all there is to see.
    """
    calls = analysis.tables.get(api_summary.TABLE.name)
    brief = _BRIEF if calls is None or calls.is_empty() else ()
    shown = (*_GROUP, *STATISTICS)
    return summary(nvtx_groups.TABLE, analysis, "NVTX ranges by time on the host", shown, top, brief)


def nvtx_projection(analysis: Analysis, top: int) -> Section | None:
    """Return the NVTX ranges by their time on the GPU."""
    caption = "NVTX ranges by time on the GPU"
    section = summary(nvtx_gpu_projection.TABLE, analysis, caption, _PROJECTED, top)
    return section and Section(section.key, section.title, (*section.blocks, Paragraph(_EXPLANATION)))
