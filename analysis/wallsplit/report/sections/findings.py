"""Findings: why the time went where it went, what each could win at most, and what to do."""

from wallsplit.accounts import PARTS
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import PhaseOfRun
from wallsplit.diagnosis.remedies import remedy
from wallsplit.report.document import AtMost, Block, Cell, Column, Paragraph, Section, Table
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.words.findings import Case, because, scope_name
from wallsplit.words.no_findings import without_findings
from wallsplit.words.titles import TITLES

_COLUMNS = (
    Column("finding", brief=True),
    Column("at most", "ns", brief=True),
    Column("of window", "ratio", brief=True),
    Column("why"),
    Column("what to do"),
)
_EXPLANATION = (
    "“At most” is the time that a cause takes: removing it wins that much or less, as something else may take its "
    "place. “Probably” marks what is inferred."
)


def findings(analysis: Analysis, _top: int) -> Section | None:
    """Return the findings of each ledger, and its start-up, steady steps and rest; None where nothing was explained."""
    every = subjects(analysis)
    blocks: list[Block] = [
        block for subject in shown(every) for block in _of(subject, asked_for_cpu=analysis.asked_for_cpu)
    ]
    if any(isinstance(block, Table) for block in blocks):
        blocks.append(Paragraph(_EXPLANATION))
    return Section("findings", "Findings", (*blocks, *left_out(every))) if blocks else None


def _of(subject: Subject, *, asked_for_cpu: bool) -> list[Block]:
    diagnosis = subject.why.diagnosis
    if diagnosis.primary in ("abstain", "no_cuda", "no_gpu_use"):
        sentence = without_findings(subject.label, subject.ledger, subject.why, asked_for_cpu=asked_for_cpu)
        return [Paragraph(sentence, essential=True)]
    rows: list[tuple[Cell, ...]] = []
    for finding in diagnosis.findings:
        won = (
            (AtMost(finding.prize_upper_ns), AtMost(finding.prize_upper_ratio))
            if finding.prize_upper_ns
            else (None,) * 2
        )
        case = Case(subject.ledger, subject.why, finding, subject.explained)
        rows.append((TITLES[finding.cause], *won, because(case), remedy(finding.cause, diagnosis.framework)))
    caption = f"Findings on {subject.label}, in {scope_name(subject.why)}"
    table = Table(caption, _COLUMNS, tuple(rows), len(rows), essential=True)
    return [table, *([_phases(subject, diagnosis.phases_of_run)] if diagnosis.phases_of_run else [])]


def _phases(subject: Subject, phases: tuple[PhaseOfRun, ...]) -> Table:
    """Return where the time of start-up, steady steps and the rest went; the columns add up to the ledger."""
    columns = (Column("part"), *(Column(phase.name, "ns") for phase in phases), Column("in all", "ns"))
    rows: list[tuple[Cell, ...]] = []
    for part in PARTS:
        times = [sum(phase.accounts[account] for account in part.accounts) for phase in phases]
        if any(times):
            rows.append((part.title, *times, sum(times)))
    lengths = [phase.end_ns - phase.start_ns for phase in phases]
    rows.append(("wall time", *lengths, sum(lengths)))
    return facts(f"Once, steady steps and the rest of {subject.label}", columns, rows)
