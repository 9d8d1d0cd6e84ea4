"""Copies and sets: their time and their size."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import memory_size_summary, memory_time_summary
from wallsplit.report.document import Block, Section
from wallsplit.report.sections.summaries import STATISTICS, Shown, summary

_SIZES = (
    Shown("total_bytes", "total", "bytes"),
    Shown("count", "count", "count"),
    Shown("avg_bytes", "avg", "bytes"),
    Shown("med_bytes", "median", "bytes"),
    Shown("min_bytes", "min", "bytes"),
    Shown("max_bytes", "max", "bytes"),
    Shown("stddev_bytes", "std dev", "bytes"),
)


def memory(analysis: Analysis, top: int) -> Section | None:
    """Return memory operations by time and by size."""
    operation = Shown("operation", "operation")
    times = summary(memory_time_summary.TABLE, analysis, "Memory operations by time", (operation, *STATISTICS), top)
    sizes = summary(memory_size_summary.TABLE, analysis, "Memory operations by size", (operation, *_SIZES), top)
    blocks: tuple[Block, ...] = tuple(block for part in (times, sizes) if part for block in part.blocks)
    return Section("memory", "Memory", blocks) if blocks else None
