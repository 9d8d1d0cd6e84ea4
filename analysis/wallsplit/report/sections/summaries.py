"""Tables made from the frames of an analysis, the longest rows first."""

from collections.abc import Sequence

import polars as pl

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import Breakdown
from wallsplit.frozen import dataclass
from wallsplit.report.document import AtLeast, Cell, Column, Kind, Label, Paragraph, Section, Table


@dataclass(frozen=True)
class Shown:
    """A column of a frame and how a table shows it."""

    source: str
    title: str
    kind: Kind = "text"
    null: str = "–"
    whole: str | None = None
    """The column whose text this one is short for."""


STATISTICS = (
    Shown("total_ns", "total", "ns"),
    Shown("share_ratio", "of listed", "ratio"),
    Shown("count", "count", "count"),
    Shown("avg_ns", "avg", "ns"),
    Shown("med_ns", "median", "ns"),
    Shown("min_ns", "min", "ns"),
    Shown("max_ns", "max", "ns"),
    Shown("stddev_ns", "std dev", "ns"),
)


def summary(
    breakdown: Breakdown, analysis: Analysis, caption: str, shown: Sequence[Shown], top: int, brief: Sequence[str] = ()
) -> Section | None:
    """Return a section with a table of the analysis, in the table's own order; None without rows.

    `brief` are the columns that make it an essential table, shown where there is room for little. A table that cannot
    be had from this trace says so.
    """
    if breakdown.name not in analysis.tables:
        return None
    frame = analysis.tables[breakdown.name]
    if frame is None:
        text = "Not measured: this trace lacks the columns this table needs."
        return Section(breakdown.name, breakdown.title, (Paragraph(text),))
    if frame.is_empty():
        return None
    bounds = breakdown.lower_bounds if _is_incomplete(analysis) else ()
    rows = table(frame, of_window(analysis, caption), shown, top, bounds, brief)
    return Section(breakdown.name, breakdown.title, (rows,))


def table(
    frame: pl.DataFrame,
    caption: str,
    shown: Sequence[Shown],
    top: int,
    lower_bounds: Sequence[str] = (),
    brief: Sequence[str] = (),
) -> Table:
    """Return the first `top` rows of a frame as a table; the columns `lower_bounds` say so, `brief` are essential."""
    columns = tuple(Column(s.title, s.kind, s.null, brief=s.source in brief) for s in shown)
    bounded = [s.source in lower_bounds for s in shown]
    listed = frame.head(top)
    cells = [_column(listed, s, at_least=bound) for s, bound in zip(shown, bounded, strict=True)]
    rows = tuple(zip(*cells, strict=True))
    return Table(caption, columns, rows, frame.height, essential=bool(brief))


def _column(frame: pl.DataFrame, shown: Shown, *, at_least: bool) -> list[Cell]:
    column = frame[shown.source].to_list()
    if shown.whole is not None:
        return [Label(text, whole) for text, whole in zip(column, frame[shown.whole], strict=True)]
    return [_at_least(cell) for cell in column] if at_least else column


def _at_least(number: int | None) -> Cell:
    return None if number is None else AtLeast(number)


def _is_incomplete(analysis: Analysis) -> bool:
    return any(ledger.gpu_complete is False for ledger in analysis.ledgers)


def of_window(analysis: Analysis, caption: str) -> str:
    """Return the caption; with a window asked for, it says which rows the table holds."""
    return f"{caption} (rows that overlap the window, at full length)" if analysis.window_is_explicit else caption
