"""Idle time: its causes, and the longest gaps with what the host did."""

import re

from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Cell, Column, Section, Table
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.units import ns, ratio
from wallsplit.why.gaps import IdleGap
from wallsplit.words.findings import scope_name
from wallsplit.words.titles import TITLES

_DID_NAMED = 3
_GAPS = (
    Column("at", "ns"),
    Column("length", "ns"),
    Column("mostly", null="–"),
    Column("what the host did"),
    Column("range", null="none"),
    Column("GPU work before", null="none"),
    Column("GPU work after", null="none"),
)
_CLASSES = (Column("length"), Column("gaps", "count"), Column("total", "ns"), Column("of window", "ratio"))


def idle(analysis: Analysis, top: int) -> Section | None:
    """Return the causes and the longest gaps of each ledger with CUDA; None without one."""
    every = [subject for subject in subjects(analysis) if subject.why.idle.gaps]
    blocks = [block for subject in shown(every) for block in _of(subject, top)]
    return Section("idle", "Idle time", (*blocks, *left_out(every))) if blocks else None


def _of(subject: Subject, top: int) -> list[Block]:
    gaps = subject.why.idle.gaps
    blocks: list[Block] = []
    if subject.why.idle.causes and subject.why.diagnosis.scope:
        blocks.append(_causes(subject, subject.why.idle.causes))
    if gaps is None or not gaps.count:
        return blocks
    rows = tuple(_gap(gap) for gap in gaps.longest[:top])
    histogram: list[tuple[Cell, ...]] = [
        (_length(each.name), each.count, each.total_ns, each.total_ns / subject.ledger.wall_ns)
        for each in gaps.histogram
        if each.count
    ]
    return [
        *blocks,
        Table(f"Longest idle gaps of {subject.label}", _GAPS, rows, gaps.count),
        facts(f"Idle gaps of {subject.label} by length", _CLASSES, histogram),
    ]


def _causes(subject: Subject, causes: dict[str, int]) -> Table:
    """Return every cause that takes time, the longest first; in the window they add up to it."""
    scope = subject.why.diagnosis.scope
    inside = scope.causes if scope else {}
    size = scope.size_ns if scope else 1
    columns = (
        Column("cause"),
        Column("in the window", "ns"),
        Column("of window", "ratio"),
        Column(f"in {scope_name(subject.why)}", "ns"),
        Column("of that", "ratio"),
    )
    rows: list[tuple[Cell, ...]] = [
        (TITLES[cause], time, time / subject.ledger.wall_ns, inside[cause], inside[cause] / size)
        for cause, time in sorted(causes.items(), key=lambda item: -item[1])
        if time
    ]
    return facts(f"Causes of the time of {subject.label}", columns, rows)


def _length(name: str) -> str:
    """Return the name of a class of lengths as people write it: `< 1 µs`, `100 ms – 1 s`."""
    spaced = re.sub(r"(?<=\d)(?=[a-z])", " ", name).replace("us", "µs")
    return spaced.replace(">=", "≥ ").replace("<", "< ").replace("-", " – ")


def _gap(gap: IdleGap) -> tuple[Cell, ...]:
    share = gap.by_account[gap.cause] / gap.length_ns
    mostly = f"{gap.cause}, {ratio(share)}"
    beside = gap.neighbours
    return gap.start_ns, gap.length_ns, mostly, _did(gap), gap.range, beside.previous, beside.next


def _did(gap: IdleGap) -> str:
    """Return what the host did in a gap: the call it was in, else the phase of its range, else the account."""
    totals: dict[str, int] = {}
    for part in gap.parts.iter_rows(named=True):
        did = part["call"] or part["phase"] or part["account"]
        totals[did] = totals.get(did, 0) + part["ns"]
    most = sorted(totals.items(), key=lambda item: -item[1])[:_DID_NAMED]
    return ", ".join(f"{did} {ns(time)}" for did, time in most) or "nothing recorded"
