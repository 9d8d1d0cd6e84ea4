"""Results as a table that people read, in a terminal or in Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from bench.measure import Cost
from bench.rounds import Readings, ratio

WALL_S: Callable[[Cost], float] = attrgetter("wall_s")
CPU_S: Callable[[Cost], float] = attrgetter("cpu_s")
PEAK_MB: Callable[[Cost], float] = attrgetter("peak_mb")
RATIOS = ("wall ratio", "least … greatest", "CPU ratio", "rounds")


@dataclass(frozen=True)
class Table:
    """A question and its answer."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def compared(
    title: str, readings: Mapping[str, Readings], what: str, reference: str, notes: tuple[str, ...] = ()
) -> Table:
    """Return medians side by side, each contender's time also as a multiple of that of `reference` in the same round.

    Of these multiples it shows the median, the least and the greatest.
    """
    rows = (
        (name, *medians(its), *_ratios(its, readings[reference], is_itself=name == reference))
        for name, its in readings.items()
    )
    return Table(title, (what, "wall s", "CPU s", "peak MB", *RATIOS), tuple(rows), notes)


def medians(readings: Readings) -> tuple[str, str, str]:
    """Return wall and processor time in s and peak memory in MB, medians of the rounds."""
    wall, cpu, peak = map(readings.median, (WALL_S, CPU_S, PEAK_MB))
    return f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"


def _ratios(its: Readings, reference: Readings, *, is_itself: bool) -> tuple[str, ...]:
    wall, cpu = (ratio(its, reference, quantity) for quantity in (WALL_S, CPU_S))
    rounds = str(len(its.costs))
    if is_itself:
        return "1", "", "1", rounds
    spread = f"{wall.least:.2f} … {wall.greatest:.2f}" if wall.rounds > 1 else ""
    return f"{wall.median:.2f} ×", spread, f"{cpu.median:.2f} ×", rounds


def text(table: Table) -> str:
    """Return the table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [_line(row, widths) for row in (table.header, *table.rows)]
    return "\n".join((table.title, *lines, *table.notes))


def markdown(table: Table) -> str:
    """Return the table in Markdown, numbers to the right."""
    rule = ("---", *("---:" for _ in table.header[1:]))
    rows = (f"| {' | '.join(row)} |" for row in (table.header, rule, *table.rows))
    notes = (f"\n{note}" for note in table.notes)
    return "\n".join((f"**{table.title}**", "", *rows, *notes))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join((cells[0].ljust(widths[0]), *numbers)).rstrip()
