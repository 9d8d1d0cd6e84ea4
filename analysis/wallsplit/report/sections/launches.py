"""Launches: the call, the queue, the kernel."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import launches as breakdown
from wallsplit.report.document import Paragraph, Section
from wallsplit.report.sections.summaries import Shown, summary

_SHOWN = (
    Shown("kernel_label", "kernel", whole="kernel_name"),
    Shown("api_name", "call"),
    Shown("count", "count", "count"),
    Shown("api_med_ns", "call median", "ns"),
    Shown("queue_med_ns", "queue median", "ns"),
    Shown("kernel_med_ns", "kernel median", "ns"),
    Shown("total_med_ns", "total median", "ns"),
    Shown("api_max_ns", "call max", "ns"),
    Shown("queue_max_ns", "queue max", "ns"),
    Shown("kernel_max_ns", "kernel max", "ns"),
    Shown("tid", "thread"),
    Shown("device", "GPU"),
)
_EXPLANATION = (
    "Call is the time inside the launching call, queue from its end to the start of the kernel (– where the kernel "
    "began before the call returned), total from the start of the call to the end of both."
)
_SHARED = " Some calls launch several of these kernels at once (a CUDA graph): their call time must not be added up."


def launches(analysis: Analysis, top: int) -> Section | None:
    """Return what launching cost next to what was run."""
    section = summary(breakdown.TABLE, analysis, "Kernels and the calls that launched them", _SHOWN, top)
    frame = analysis.tables.get(breakdown.TABLE.name)
    if section is None or frame is None:
        return section
    explanation = Paragraph(_EXPLANATION + (_SHARED if frame["shared_call"].any() else ""))
    return Section(section.key, section.title, (*section.blocks, explanation))
