"""The ledgers of an analysis with what explains them, as many as people read."""

from collections.abc import Sequence

from wallsplit.analysis import Analysis
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.document import Block, Cell, Column, Paragraph, Table
from wallsplit.words.labels import ledger_label

MOST = 8
"""Ledgers shown one by one: more say less."""


@dataclass(frozen=True, eq=False)
class Subject:
    """One ledger, its label and what explains it."""

    label: str
    ledger: Ledger
    why: Explanation
    explained: Explained


def subjects(analysis: Analysis) -> tuple[Subject, ...]:
    """Return every ledger with its explanation; none where nothing was explained."""
    explained = analysis.explained
    if explained is None:
        return ()
    return tuple(
        Subject(ledger_label(analysis, ledger), ledger, why, explained)
        for ledger, why in zip(analysis.ledgers, explained.ledgers, strict=True)
    )


def shown(every: Sequence[Subject]) -> Sequence[Subject]:
    """Return those that people read."""
    return every[:MOST]


def left_out(every: Sequence[Subject]) -> list[Block]:
    """Return a sentence on the ledgers that are not shown; nothing where all are."""
    if len(every) <= MOST:
        return []
    return [Paragraph(f"The first {MOST} of {len(every)} ledgers; the JSON output has all.")]


def facts(caption: str, columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Return a table with all of its rows."""
    return Table(caption, columns, tuple(rows), len(rows))
