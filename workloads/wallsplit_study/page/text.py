"""What the generated blocks of docs/the-study.md share: what they are made from, paragraphs and tables in Markdown."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from wallsplit import units
from wallsplit.report.document import Cell, Column, Table
from wallsplit.report.markdown import table_text
from wallsplit.run.manifest import RunManifest
from wallsplit_study.cells import Outcome

WIDTH: Final = 120
ABSENT: Final = "not measured"


@dataclass(frozen=True)
class Study:
    """The outcomes that count, and what profiled epochs consist of: a row a run, as `breakdown.frame` makes it."""

    outcomes: Sequence[Outcome]
    epochs: pl.DataFrame

    @property
    def runs(self) -> list[RunManifest]:
        """The measured runs."""
        return [outcome.run for outcome in self.outcomes if outcome.run]


def paragraph(words: str) -> str:
    """Return a paragraph in lines of the page's width."""
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(columns: tuple[Column, ...], rows: tuple[tuple[Cell, ...], ...]) -> str:
    """Return a table without a caption: the page's own words stand above it."""
    return table_text(Table("", columns, rows, len(rows)), captioned=False)


def with_error(value_ns: float, error_ns: float | None) -> str:
    """Return a fitted time in ns with its standard error; only one below 0 has a sign."""
    amount = units.ns(value_ns) if value_ns >= 0 else units.signed_ns(value_ns)
    return amount if error_ns is None else f"{amount} ± {units.ns(error_ns)}"
