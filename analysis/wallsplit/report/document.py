"""What a report says, free of any format: renderers turn it into HTML, Markdown or a terminal's lines."""

from decimal import Decimal
from typing import Literal

from wallsplit.figures.bars import Bar
from wallsplit.figures.drawing import Figure
from wallsplit.frozen import dataclass
from wallsplit.note import Note
from wallsplit.report.cards import Card
from wallsplit.report.first_screen import FirstScreen

Kind = Literal[
    "text", "count", "mean_count", "number", "ns", "change_ns", "bytes", "ratio", "fine_ratio", "percent", "flops"
]
"""What a column's numbers are: ratio is 0–1, and so is fine_ratio, for small ones; percent is already of 100.

change_ns is a difference of times: printed with its sign. mean_count is how often on average, to three digits.
"""


@dataclass(frozen=True)
class AtLeast:
    """A lower bound: printed with "≥"."""

    value: int | float | Decimal


@dataclass(frozen=True)
class AtMost:
    """An upper bound: printed with "≤"."""

    value: int | float | Decimal


@dataclass(frozen=True)
class Link:
    """A text that leads to another report of the same folder."""

    text: str
    stem: str


@dataclass(frozen=True)
class Label:
    """A short text that stands for a longer one, which is shown where a reader can ask for it."""

    text: str
    whole: str


@dataclass(frozen=True)
class Split:
    """A bar of its own in a cell, filling its width."""

    bar: Bar


Cell = str | int | float | Decimal | AtLeast | AtMost | Link | Label | Split | None


@dataclass(frozen=True)
class Column:
    """A table's column."""

    title: str
    kind: Kind = "text"
    null: str = "–"
    """What stands for None."""
    bar: bool = False
    """A percent column whose renderer may draw each number as a bar, coloured by the row's `Table.colours`.

    Of a change_ns column, the largest change is the whole bar, and its sign shows.
    """
    brief: bool = False
    """Shown even where there is room for few columns."""


@dataclass(frozen=True)
class Table:
    """Rows under typed columns. `total_rows` counts those left out, too."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total_rows: int
    group_rows: frozenset[int] = frozenset()
    """Rows that head the rows below them."""
    colours: tuple[str, ...] = ()
    essential: bool = False
    """Shown, with its brief columns, even where there is room for little."""
    is_stacked: bool = False
    """Where there is little width, each row is shown as a card."""
    folded_by: int | None = None
    """The column whose zeros and nulls say nothing: where there is room for little, such rows are only named below."""

    @property
    def full_caption(self) -> str:
        """The caption, with how many rows are shown where that is not all."""
        shown = len(self.rows) - len(self.group_rows)
        return self.caption if shown == self.total_rows else f"{self.caption}: top {shown:,} of {self.total_rows:,}"


@dataclass(frozen=True)
class Paragraph:
    """A sentence or a few."""

    text: str
    essential: bool = False
    """Said even where there is room for little."""


@dataclass(frozen=True)
class Fact:
    """A named value."""

    title: str
    value: Cell
    kind: Kind = "text"
    null: str = "not recorded"


@dataclass(frozen=True)
class Facts:
    """A short list of named values."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Remarks:
    """Notes about what the numbers can and cannot say."""

    notes: tuple[Note, ...]


Block = Paragraph | Table | Facts | Remarks | Figure


@dataclass(frozen=True)
class Section:
    """A titled part of a report; `key` names it in links and among renderers."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False
    """Opened by those who want it, where a page can be folded."""


@dataclass(frozen=True)
class Report:
    """A whole report: the sentence and the figure everyone should see first, then the evidence."""

    title: str
    headline: str
    figure: Figure | None
    sections: tuple[Section, ...]
    banner: str | None = None
    """A warning that goes before everything else."""
    source: str = "a trace of NVIDIA Nsight Systems"
    """What the report was made from."""
    summary: str = ""
    """A few lines of Markdown that stand alone, to be copied; empty: none."""
    export: str = ""
    """The command that writes the trace as a timeline for Perfetto; empty: none."""
    first: FirstScreen | None = None
    """What people see before all else; the headline is then what the whole recording's bar is called."""
    verdict: str = ""
    """Where there is no first screen, what goes before the headline, which is then its caption; empty: nothing does."""
    cards: tuple[Card, ...] = ()
    """Where there is no first screen: the few numbers worth a box, below the headline."""
