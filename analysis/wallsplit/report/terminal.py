"""The heart of a report for a terminal: headline, ledger, calls, kernels, notes, in 80 columns."""

import os
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table as Grid
from rich.text import Text

from wallsplit.accounts import ACCOUNTS, PARTS
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.report.cells import cell_text, sort_key
from wallsplit.report.document import AtLeast, Cell, Column, Paragraph, Remarks, Report, Section, Table
from wallsplit.text import PROSE, for_people, shorten
from wallsplit.units import apportion, ns

WIDTH = 80
"""Columns used at most: long lines are hard to read on a wide terminal, too."""

_GLYPHS = {part.key: part.glyph for part in PARTS}
_ASCII_GLYPHS = {part.key: part.ascii_glyph for part in PARTS}
_STYLES = {part.key: part.terminal for part in PARTS}
_BAR_WIDTH = 24
_ASCII = str.maketrans(
    {
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
        "–": "-",
        "−": "-",
        "…": "...",
        "µ": "u",
        "→": "->",
        "±": "+-",
        "“": '"',
        "”": '"',
        "×": "x",
        "÷": "/",
    }
)
_LEVELS = {"info": ("Note", "bold"), "warning": ("Warning", "bold yellow"), "error": ("Error", "bold red")}


def terminal(report: Report, console: Console) -> Constrain:
    """Return what to print on the console: text only, never markup; ASCII where the terminal knows no more."""
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")  # also where the output is piped
    ascii_only = dumb or not console.encoding.lower().startswith("utf")
    width = min(console.width, WIDTH)
    return Constrain(_Renderer(width, ascii_only=ascii_only).report(report), width)


class _Renderer:
    """Holds what the terminal can do."""

    def __init__(self, width: int, *, ascii_only: bool) -> None:
        self.width = width
        self.ascii_only = ascii_only

    def report(self, report: Report) -> Group:
        parts: list[RenderableType] = [self.text(report.title, "bright_black")]
        if report.banner:
            parts += ["", self.text(report.banner, "bold yellow")]
        parts += ["", self.text(report.headline, "bold"), ""]
        if report.figure and report.figure.bars:
            parts += [*self.bars(report.figure.bars), ""]
        for section in report.sections:
            parts += self.section(section)
        return Group(*parts)

    def section(self, section: Section) -> list[RenderableType]:
        parts: list[RenderableType] = []
        for block in section.blocks:
            match block:
                case Remarks():
                    parts += [*(self.note(*_LEVELS[note.level], note.text) for note in block.notes), ""]
                case Table(essential=True):
                    kept, folded = _folded(block)
                    parts += [*self.table(kept), *map(self.text, folded)]
                case Paragraph(essential=True):
                    parts += [self.text(block.text), ""]
        return parts

    def text(self, text: str, style: str = "") -> Text:
        return Text(self.plain(text), style=style)

    def note(self, level: str, style: str, text: str) -> Text:
        return Text.assemble((level, style), ": ", self.plain(text))

    def plain(self, text: str) -> str:
        text = for_people(text, PROSE)
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode() if self.ascii_only else text

    def bars(self, bars: Bars) -> list[RenderableType]:
        label_width = max(len(bar.label) for bar in bars.bars) + 1 if len(bars.bars) > 1 else 0
        lines: list[RenderableType] = []
        for bar in bars.bars:
            room = self.width - label_width
            length = round(room * bar.total_ns / bars.scale_ns) if bars.scale_ns else room
            label = Text(self.plain(bar.label).ljust(label_width)) if label_width else Text()
            lines.append(label.append_text(self.bar(bar, length)))
        return [*lines, *self.legend(bars)]

    def bar(self, bar: Bar, length: int) -> Text:
        glyphs = _ASCII_GLYPHS if self.ascii_only else _GLYPHS
        cells = apportion([segment.value_ns for segment in bar.segments], length)
        result = Text()
        for segment, cell_count in zip(bar.segments, cells, strict=True):
            result.append(glyphs.get(segment.key, "#") * cell_count, _STYLES.get(segment.key, ""))
        return result

    def legend(self, bars: Bars) -> list[Text]:
        glyphs = _ASCII_GLYPHS if self.ascii_only else _GLYPHS
        lines = []
        for entry in bars.legend:
            line = Text.assemble((glyphs.get(entry.key, "#") * 2, _STYLES.get(entry.key, "")), " ", entry.title)
            if len(bars.bars) == 1:
                line.pad_right(32 - len(line.plain))
                line.append(self.plain(self.figures(bars.bars[0], entry)))
            lines.append(line)
        return lines

    def figures(self, bar: Bar, entry: Segment) -> str:
        percent = bar.percents[bar.segments.index(entry)]
        return f"{entry.bound}{percent} %".rjust(11) + f"{entry.bound}{ns(entry.value_ns)}".rjust(14)

    def table(self, table: Table) -> list[RenderableType]:
        """Return the table's brief columns; the first takes the room that is left."""
        kept = [i for i, column in enumerate(table.columns) if column.brief]
        columns = [table.columns[i] for i in kept]
        rows = [[self.cell(row[i], table.columns[i]) for i in kept] for row in table.rows]
        if table.group_rows:
            heads = table.group_rows
            rows = [row if i in heads or i < min(heads) else [f"  {row[0]}", *row[1:]] for i, row in enumerate(rows)]
        has_bar = any(column.bar for column in columns)
        first_width = self.first_width(columns, rows, _BAR_WIDTH + 2 if has_bar else 0)
        grid = self.grid(columns, first_width, has_bar=has_bar)
        for i, row in enumerate(rows):
            first = row[0] if self.ascii_only else shorten(row[0], first_width)
            bar = [self.mini(table, i, kept[-1])] if has_bar else []
            grid.add_row(Text(first), *map(Text, row[1:]), *bar, style="bold" if i in table.group_rows else "")
        return [self.text(table.full_caption, "bold underline"), grid, ""]

    def cell(self, cell: Cell, column: Column) -> str:
        return self.plain(cell_text(cell, column.kind, column.null, self.width))

    def first_width(self, columns: list[Column], rows: list[list[str]], reserved: int) -> int:
        """Return the width of the first column: what it needs, or what the others leave."""
        needed = [
            max(len(column.title), *(len(row[i]) for row in rows)) if rows else len(column.title)
            for i, column in enumerate(columns)
        ]
        left = self.width - sum(needed[1:]) - 2 * (len(columns) - 1) - reserved
        return min(needed[0], max(left, 10))

    def grid(self, columns: list[Column], first_width: int, *, has_bar: bool) -> Grid:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bright_black")
        for i, column in enumerate(columns):
            grid.add_column(
                Text(self.plain(column.title)),
                justify="left" if column.kind == "text" else "right",
                width=first_width if i == 0 else None,
                no_wrap=True,
                overflow="crop" if self.ascii_only else "ellipsis",
            )
        if has_bar:
            grid.add_column("", width=_BAR_WIDTH, no_wrap=True)
        return grid

    def mini(self, table: Table, row: int, column: int) -> Text:
        numbers = [sort_key(one[column]) or 0 for one in table.rows]
        number = numbers[row]
        if table.columns[column].kind == "change_ns":
            largest = max((abs(x) for i, x in enumerate(numbers) if i not in table.group_rows), default=0)
            length = round(_BAR_WIDTH * abs(number) / largest) if largest and row not in table.group_rows else 0
            return Text("-" * length, style="green") if number < 0 else Text("+" * length, style="red")
        glyph = "#" if self.ascii_only else "█"
        return Text(glyph * round(_BAR_WIDTH * number / 100), style=_STYLES.get(table.colours[row], ""))


def _folded(table: Table) -> tuple[Table, list[str]]:
    """Return the rows that say something, and a line for each reason for which others are left out."""
    if table.folded_by is None:
        return table, []
    reasons = [_reason_to_fold(row[table.folded_by]) for row in table.rows]
    kept = [i for i, reason in enumerate(reasons) if reason is None]
    rows, colours = tuple(table.rows[i] for i in kept), tuple(table.colours[i] for i in kept)
    lines = []
    for reason in ("At 0", "At ≥ 0", "Not measured"):
        names = [str(row[0]) for row, why in zip(table.rows, reasons, strict=True) if why == reason]
        lines += [f"{reason}: {', '.join(_grouped(names))}."] if names else []
    return replace(table, rows=rows, colours=colours, total_rows=len(rows)), lines


def _reason_to_fold(time: Cell) -> str | None:
    if time is None:
        return "Not measured"
    if isinstance(time, AtLeast):
        return None if time.value else "At ≥ 0"
    return None if time else "At 0"


def _grouped(names: list[str]) -> list[str]:
    """Return the names; `gpu.*` for all accounts of the GPU, `cuda.*` for all of CUDA."""
    for group in ("cuda.", "gpu."):
        accounts = [account for account in ACCOUNTS if account.startswith(group)]
        if set(accounts) <= set(names):
            names = [f"{group}*", *(name for name in names if name not in accounts)]
    return names
