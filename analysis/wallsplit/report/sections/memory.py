"""Copies and sets by time and size, and the memory that was held, migrated, or copied from pageable pages."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.breakdowns import memory_size_summary, memory_time_summary
from wallsplit.report.document import Block, Cell, Column, Section
from wallsplit.report.sections.explained import facts, shown, subjects
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
    """Return memory operations by time and by size, and what is known of memory that was held."""
    operation = Shown("operation", "operation")
    times = summary(memory_time_summary.TABLE, analysis, "Memory operations by time", (operation, *STATISTICS), top)
    sizes = summary(memory_size_summary.TABLE, analysis, "Memory operations by size", (operation, *_SIZES), top)
    blocks: tuple[Block, ...] = tuple(block for part in (times, sizes) if part for block in part.blocks)
    blocks = (*blocks, *_copies(analysis), *_held(analysis), *_migrated(analysis), *_pageable(analysis))
    return Section("memory", "Memory", blocks) if blocks else None


def _copies(analysis: Analysis) -> list[Block]:
    """Return the copies of each ledger, apart by whether the host's side is pageable."""
    rows: list[tuple[Cell, ...]] = [
        (subject.label, x.operation, x.memory, x.count, x.bytes, x.blocking_count, x.call_ns, x.gpu_ns)
        for subject in shown(subjects(analysis))
        for x in (subject.why.sync.copies if subject.why.sync else ())
    ]
    columns = (
        Column("ledger"),
        Column("copy"),
        Column("host memory", null="not recorded"),
        Column("copies", "count"),
        Column("bytes", "bytes"),
        Column("that block", "count"),
        Column("in their calls", "ns"),
        Column("on the GPU", "ns"),
    )
    return [facts("Copies by host memory: pageable, or pinned and on the device", columns, rows)] if rows else []


def _held(analysis: Analysis) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for subject in shown(subjects(analysis)):
        use = subject.why.memory_use
        if use:
            kinds = ", ".join(f"{kind} {units.size(size)}" for kind, size in use.peak_by_kind.items())
            counts = (use.allocation_count, use.release_count)
            rows.append(
                (
                    subject.label,
                    use.peak_bytes,
                    use.peak_at_ns,
                    kinds,
                    use.end_bytes,
                    *counts,
                    use.growth_per_step_bytes,
                )
            )
    columns = (
        Column("ledger"),
        Column("most held", "bytes"),
        Column("at", "ns"),
        Column("of it"),
        Column("held at the end", "bytes"),
        Column("allocations", "count"),
        Column("releases", "count"),
        Column("left behind per step", "bytes", "too few steps"),
    )
    return [facts("GPU memory held, in the whole trace", columns, rows)] if rows else []


def _migrated(analysis: Analysis) -> list[Block]:
    pairs = [(subject, subject.why.managed_memory) for subject in shown(subjects(analysis))]
    rows = [
        (
            subject.label,
            managed.migration_count,
            managed.to_device_bytes,
            managed.to_host_bytes,
            managed.migrating_ns,
            managed.under_kernels_ns,
            managed.kernel_ns,
            managed.gpu_faults,
        )
        for subject, managed in pairs
        if managed
    ]
    columns = (
        Column("ledger"),
        Column("migrations", "count"),
        Column("to the GPU", "bytes"),
        Column("to the host", "bytes"),
        Column("migrating", "ns"),
        Column("of it under kernels", "ns"),
        Column("kernel time", "ns"),
        Column("page faults of the GPU", "count"),
    )
    return [facts("Managed memory", columns, rows)] if rows else []


def _pageable(analysis: Analysis) -> list[Block]:
    pairs = [(subject, subject.why.pageable_copies) for subject in shown(subjects(analysis))]
    rows = [(subject.label, x.count, x.bytes, x.host_ns, x.waiting_ns, x.idle_ns) for subject, x in pairs if x]
    columns = (
        Column("ledger"),
        Column("copies", "count"),
        Column("bytes", "bytes"),
        Column("in their calls", "ns"),
        Column("of it before the copy", "ns"),
        Column("with the GPU idle", "ns"),
    )
    return [facts("“Asynchronous” copies that block, as their memory is pageable", columns, rows)] if rows else []
