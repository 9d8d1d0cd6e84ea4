"""Steps: how long they take, how they were found, and which stand out."""

from collections.abc import Iterator

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Cell, Column, Paragraph, Section, Table
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.why.steps import StepKind, Steps
from wallsplit.why.steps.figures import STALLED

FOUND = {
    "nvtx": "They are marked: NVTX ranges with names like a step's.",
    "cycle": "No range marks them: what the program launches repeats, and a turn is taken for a step.",
    "nvtx_cycle": "No range is named like a step: the sequence of NVTX ranges repeats, and a turn is taken for a step.",
}
BEGINS = {
    "gpu": "A step begins with its first operation on the GPU and lasts until the next one begins.",
    "host": "A step begins and ends by the host's clock.",
}
_KINDS = (
    Column("kind"),
    Column("steps", "count"),
    Column("warm-up", "count", "cannot be told"),
    Column("median", "ns"),
    Column("95th percentile", "ns"),
    Column("min", "ns"),
    Column("max", "ns"),
    Column("last ÷ first quarter", "number", "too few"),
)
_SLOWEST = (
    Column("step", "count"),
    Column("at", "ns"),
    Column("took", "ns"),
    Column("over the median", "ns"),
    Column("what takes longer", null="not measured"),
)


def steps(analysis: Analysis, _top: int) -> Section | None:
    """Return the steps of each ledger, or why there are none; None where nothing was looked for."""
    every = subjects(analysis)
    blocks = [block for subject in shown(every) for block in _of(subject, several=len(every) > 1)]
    return Section("steps", "Steps", (*blocks, *left_out(every))) if blocks else None


def _of(subject: Subject, *, several: bool) -> list[Block]:
    steps = subject.why.steps
    whose = f"{subject.label}: " if several else ""
    if not steps.count or steps.kinds is None:
        return [Paragraph(f"{whose}no steps, as {steps.reason or 'nothing repeats'}.")]
    blocks: list[Block] = [
        Paragraph(f"{whose}{_in_words(steps, subject.ledger.wall_ns)}"),
        _kinds(subject, steps.kinds),
    ]
    blocks += [Paragraph(text) for text in _stalled(steps.kinds)]
    return [*blocks, *([_slowest(subject, steps)] if _stand_out(steps) else [])]


def _in_words(steps: Steps, wall_ns: int) -> str:
    total = steps.steps_total_ns or 0
    share = units.ratio(total / wall_ns) if wall_ns else "0 %"
    definition = f"{FOUND[steps.source or '']} {BEGINS[steps.boundary or 'host']}"
    around = f"{units.ns(steps.before_ns or 0)} lie before the first, {units.ns(steps.after_ns or 0)} after the last"
    return f"{units.count(steps.count)} steps take {units.ns(total)}, {share} of the window; {around}. {definition}"


def _stalled(kinds: tuple[StepKind, ...]) -> Iterator[str]:
    """Yield a sentence on each kind of steps of which some stalled."""
    for kind in kinds:
        if kind.stalled_count:
            whose = f" of {kind.name or kind.role}" if len(kinds) > 1 and (kind.name or kind.role) else ""
            stalled, steady = units.count(kind.stalled_count), units.count(kind.steady_count)
            more, share = units.ns(kind.stalled_ns), units.ratio(kind.stalled_ns / kind.total_ns)
            yield (
                f"Stalled: {stalled} of {steady} steady steps{whose} took over {STALLED} times the median, {more} more "
                f"together, {share} of all steps' time."
            )


def _kinds(subject: Subject, kinds: tuple[StepKind, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            kind.name or kind.role or f"kind {number}",
            kind.count,
            kind.warmup_count,
            kind.med_ns,
            kind.p95_ns,
            kind.min_ns,
            kind.max_ns,
            kind.drift_ratio,
        )
        for number, kind in enumerate(kinds, 1)
    ]
    others = subject.why.steps.other_kinds_count
    more = f" ({units.count(others)} steps of further kinds)" if others else ""
    return facts(f"Steady steps of {subject.label}, by kind{more}", _KINDS, rows)


def _stand_out(steps: Steps) -> bool:
    """Return whether any steady step takes longer than usual."""
    return any(steps.kinds and step.ns > steps.kinds[0].med_ns for step in steps.slowest or ())


def _slowest(subject: Subject, steps: Steps) -> Table:
    median = steps.kinds[0].med_ns if steps.kinds else 0
    slow = [step for step in steps.slowest or () if step.ns > median]
    rows = [(step.index + 1, step.start_ns, step.ns, step.ns - median, step.excess_account) for step in slow]
    return facts(f"Slowest steady steps of {subject.label}", _SLOWEST, rows)
