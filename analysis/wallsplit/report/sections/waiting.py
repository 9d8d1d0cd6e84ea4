"""Synchronisation: which waits are useful, which copies block, and what small reads cost."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Cell, Column, Paragraph, Section, Table
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.why.sync import Sync

_WAITS = (
    Column("wait"),
    Column("in phase", null="–"),
    Column("count", "count"),
    Column("total", "ns"),
    Column("GPU works", "ns"),
    Column("another GPU works", "ns"),
    Column("idle before", "ns"),
    Column("idle between", "ns"),
    Column("tail", "ns"),
    Column("idle throughout", "ns"),
)
_COPIES = (
    Column("copy"),
    Column("host memory", null="not recorded"),
    Column("count", "count"),
    Column("bytes", "bytes"),
    Column("blocking", "count"),
    Column("in calls", "ns"),
    Column("on the GPU", "ns"),
)
_EXPLANATION = (
    "A wait while the GPU works is useful, however often it occurs. Lost is what is idle inside it: most often the "
    "tail, from the end of the GPU's work to the return of the call. A copy blocks if its call returns no earlier than "
    "it ends."
)


def waiting(analysis: Analysis, top: int) -> Section | None:
    """Return the waits, copies and small reads of each ledger; None without any."""
    every = [
        subject
        for subject in subjects(analysis)
        if subject.why.sync and (subject.why.sync.calls or subject.why.sync.copies)
    ]
    blocks = [block for subject in shown(every) if subject.why.sync for block in _of(subject, subject.why.sync, top)]
    if not blocks:
        return None
    return Section("waiting", "Synchronisation", (*blocks, Paragraph(_EXPLANATION), *left_out(every)))


def _of(subject: Subject, how: Sync, top: int) -> list[Block]:
    blocks: list[Block] = []
    if how.calls:
        waits: list[tuple[Cell, ...]] = [
            (
                x.name,
                x.phase,
                x.count,
                x.total_ns,
                x.useful_ns,
                x.elsewhere_ns,
                x.before_ns,
                x.between_ns,
                x.tail_ns,
                x.nothing_ns,
            )
            for x in how.calls
        ]
        blocks.append(Table(f"Waits of {subject.label}", _WAITS, tuple(waits[:top]), len(waits)))
    if how.copies:
        copies: list[tuple[Cell, ...]] = [
            (x.operation, x.memory, x.count, x.bytes, x.blocking_count, x.call_ns, x.gpu_ns) for x in how.copies
        ]
        blocks.append(facts(f"Copies of {subject.label}", _COPIES, copies))
    reads = how.small_reads
    if reads.count:
        blocks.append(
            Paragraph(
                f"{units.count(reads.count)} reads of at most 1,024 bytes, such as a loss, are waited for: the host "
                f"spends {units.ns(reads.host_ns)} on them. The GPU is idle after them for "
                f"{units.ns(reads.idle_after_ns)}, {units.fine_ratio(reads.idle_after_ns / subject.ledger.wall_ns)} of "
                "the window: only that is lost."
            )
        )
    return blocks
