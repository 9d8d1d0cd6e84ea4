"""Results as a table that people read, in a terminal or in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measure import Cost


@dataclass(frozen=True)
class Table:
    """A question and its answer."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def compared(title: str, costs: dict[str, Cost], what: str) -> Table:
    """Return costs side by side, each also as a multiple of the first one's wall time and processor time."""
    first = next(iter(costs.values()))
    rows = (
        (
            name,
            f"{c.wall_s:.2f}",
            f"{c.cpu_s:.2f}",
            f"{c.peak_mb:,.0f}",
            f"{c.wall_s / first.wall_s:.2f} ×",
            f"{c.cpu_s / first.cpu_s:.2f} ×",
        )
        for name, c in costs.items()
    )
    return Table(title, (what, "wall s", "CPU s", "peak MB", "wall ratio", "CPU ratio"), tuple(rows))


def text(table: Table) -> str:
    """Return the table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [_line(row, widths) for row in (table.header, *table.rows)]
    return "\n".join((table.title, *lines))


def markdown(table: Table) -> str:
    """Return the table in Markdown, numbers to the right."""
    rule = ("---", *("---:" for _ in table.header[1:]))
    rows = (f"| {' | '.join(row)} |" for row in (table.header, rule, *table.rows))
    return "\n".join((f"**{table.title}**", "", *rows))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join((cells[0].ljust(widths[0]), *numbers)).rstrip()
