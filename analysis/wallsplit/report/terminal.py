"""A report for a terminal: the first screen, or the sections asked for."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table as Grid
from rich.text import Text

from wallsplit.accounts import ACCOUNTS
from wallsplit.errors import SectionError
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.report.cells import cell_text, sort_key
from wallsplit.report.document import AtLeast, Cell, Column, Fact, Facts, Paragraph, Remarks, Report, Section, Table
from wallsplit.report.terminal_screen import LOOKS, Means, means, screen
from wallsplit.text import PROSE, lines_of, shorten
from wallsplit.units import apportion, ns

_GLYPHS = {key: part.glyph for key, part in LOOKS.items()}
_ASCII_GLYPHS = {key: part.ascii_glyph for key, part in LOOKS.items()}
_STYLES = {key: part.terminal for key, part in LOOKS.items()}
_NARROW, _WIDE = 40, 60
"""Columns that a name, and any other cell, may take where all of a table is printed."""
_NARROWEST = 8
"""Columns that a line of a title has at least."""
_BAR_WIDTH = 24
_LEVELS = {"info": ("Note", "bold"), "warning": ("Warning", "bold yellow"), "error": ("Error", "bold red")}


ALL = "all"
"""What asks for every section, each in brief."""


def terminal(report: Report, console: Console, wanted: Sequence[str] = ()) -> Constrain:
    """Return what to print on the console: text only, never markup; ASCII where the terminal knows no more.

    `wanted`: names of sections to print instead of the first screen.

    Raises:
        SectionError: the report has no such section.
    """
    how = means(console)
    renderer = _Renderer(how)
    if report.first and not wanted:
        return Constrain(screen(report, report.first, how), how.width)
    if not wanted or ALL in wanted:
        return Constrain(renderer.report(report), how.width)
    sections = [_named(report, name) for name in wanted]
    return Constrain(Group(*(line for section in sections for line in renderer.whole(section))), how.width)


SECTION_NAMES = (
    *("what-ran-where", "run", "notes", "findings", "ledger", "steps", "idle-time", "how-much-of-the-gpu-is-used"),
    *("arithmetic-against-overhead", "what-the-cpu-executed", "cuda-calls", "synchronisation", "launching", "launches"),
    *("communication", "kernels", "memory", "nvtx-ranges", "nvtx-ranges-on-the-gpu", "os-runtime-calls"),
    *("graph-replays", "anomalies", "further-notes", "messages-of-nsys", "assumptions", "how-to-read-this"),
)
"""What the sections of a report may be called, in their order; a report has those there is something to say in."""


def names(report: Report) -> tuple[str, ...]:
    """Return what the sections are called when they are asked for."""
    return tuple(_slug(section.title) for section in report.sections)


def _slug(title: str) -> str:
    return title.lower().removeprefix("the ").replace(" ", "-")


def _named(report: Report, name: str) -> Section:
    wanted = _slug(name)
    known = [(_slug(section.title), section) for section in report.sections]
    matching = [s for slug, s in known if wanted in (slug, s.key)] or [
        s for slug, s in known if slug.startswith(wanted)
    ]
    if not matching:
        raise SectionError(f"section {name!r}: there is none; there are {', '.join((*names(report), ALL))}")
    return matching[0]


class _Renderer:
    """Holds what the terminal can do."""

    def __init__(self, how: Means) -> None:
        self.how = how
        self.width = how.width
        self.ascii_only = how.ascii_only

    def report(self, report: Report) -> Group:
        parts: list[RenderableType] = [self.text(report.title, "bright_black")]
        if report.banner:
            parts += ["", self.text(report.banner, "bold yellow")]
        parts += ["", *([self.text(report.verdict, "bold")] if report.verdict else [])]
        parts += [self.text(report.headline, "" if report.verdict else "bold"), ""]
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

    def whole(self, section: Section) -> list[RenderableType]:
        """Return all blocks of a section; of tables the columns there is room for."""
        parts: list[RenderableType] = [self.text(section.title, "bold"), ""]
        for block in section.blocks:
            match block:
                case Remarks():
                    parts += [*(self.note(*_LEVELS[note.level], note.text) for note in block.notes), ""]
                case Table():
                    parts += self.table(self.fitting(block))
                case Paragraph():
                    parts += [self.text(block.text), ""]
                case Facts():
                    parts += [self.fact(fact) for fact in block.facts] + [""]
        return parts

    def fact(self, fact: Fact) -> Text:
        return self.text(f"{fact.title}: {cell_text(fact.value, fact.kind, fact.null, PROSE)}")

    def fitting(self, table: Table) -> Table:
        """Return the table with as many columns marked brief as there is room for, the first ones first."""
        if any(column.brief for column in table.columns):
            return table
        room, columns = self.width, []
        for i, column in enumerate(table.columns):
            widest = max([len(column.title), *(len(self.cell(row[i], column)) for row in table.rows)])
            needs = min(widest, _NARROW if i == 0 else _WIDE) + 2
            columns.append(replace(column, brief=i == 0 or needs <= room))
            room -= needs if columns[-1].brief else 0
        return replace(table, columns=tuple(columns))

    def text(self, text: str, style: str = "") -> Text:
        return Text(self.plain(text), style=style)

    def note(self, level: str, style: str, text: str) -> Text:
        return Text.assemble((level, style), ": ", self.plain(text))

    def plain(self, text: str) -> str:
        return self.how.plain(text)

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
        rows = [[self.cell(row[i], table.columns[i], PROSE if i == 0 else None) for i in kept] for row in table.rows]
        if table.group_rows:
            heads = table.group_rows
            rows = [row if i in heads or i < min(heads) else [f"  {row[0]}", *row[1:]] for i, row in enumerate(rows)]
        cells = [max((len(row[i]) for row in rows), default=0) for i in range(len(columns))]
        left = self.width - sum(cells) - 2 * (len(columns) - 1)
        has_bar = any(column.bar for column in columns) and left >= _BAR_WIDTH + 2
        reserved = _BAR_WIDTH + 2 if has_bar else 0
        titles = self.titles(columns, cells, left - reserved)
        first_width = self.first_width(titles, cells, reserved)
        grid = self.grid(columns, titles, first_width, has_bar=has_bar)
        firsts = self.told_apart([row[0] for row in rows], first_width)
        for i, (first, row) in enumerate(zip(firsts, rows, strict=True)):
            bar = [self.mini(table, i, kept[-1])] if has_bar else []
            grid.add_row(Text(first), *map(Text, row[1:]), *bar, style="bold" if i in table.group_rows else "")
        return [self.text(table.full_caption, "bold underline"), grid, ""]

    def told_apart(self, texts: list[str], width: int) -> list[str]:
        """Return the texts shortened to a width; those that would then read alike, whole, on several lines."""
        short = [self.shortened(text, width) for text in texts]
        meant: dict[str, set[str]] = {}
        for text, shown in zip(texts, short, strict=True):
            meant.setdefault(shown, set()).add(text)
        return [
            shown if len(meant[shown]) == 1 else "\n".join(lines_of(text, width))
            for text, shown in zip(texts, short, strict=True)
        ]

    def shortened(self, text: str, width: int) -> str:
        if not self.ascii_only or len(text) <= width:
            return shorten(text, width)
        return shorten(text, width - 2).replace("…", "...")

    def cell(self, cell: Cell, column: Column, limit: int | None = None) -> str:
        return self.plain(cell_text(cell, column.kind, column.null, limit or self.width))

    def titles(self, columns: list[Column], cells: list[int], left: int) -> list[str]:
        """Return the columns' titles, on up to three lines where one would take the room of the cells.

        `cells`: the width of each column's cells; `left`: what these leave of the terminal's.
        """
        titles = [self.plain(column.title) for column in columns]
        over = [max(0, len(title) - width) for title, width in zip(titles, cells, strict=True)]
        if sum(over) <= max(0, left):
            return titles
        share = max(0, left) // sum(map(bool, over))
        widths = [max(width + share, _NARROWEST) for width in cells]
        return [
            "\n".join(lines_of(self.shortened(title, 3 * width), width))
            for title, width in zip(titles, widths, strict=True)
        ]

    def first_width(self, titles: list[str], cells: list[int], reserved: int) -> int:
        """Return the width of the first column: what it needs, or what the others leave."""
        needed = [max(width, *map(len, title.split("\n"))) for title, width in zip(titles, cells, strict=True)]
        left = self.width - sum(needed[1:]) - 2 * (len(titles) - 1) - reserved
        return min(needed[0], max(left, 10))

    def grid(self, columns: list[Column], titles: list[str], first_width: int, *, has_bar: bool) -> Grid:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bright_black")
        for i, (column, title) in enumerate(zip(columns, titles, strict=True)):
            grid.add_column(
                Text(title),
                justify="left" if column.kind == "text" else "right",
                width=first_width if i == 0 else None,
                no_wrap=column.kind != "text" or i == 0,
                overflow="fold",
            )
        if has_bar:
            grid.add_column("", width=_BAR_WIDTH, no_wrap=True)
        return grid

    def mini(self, table: Table, row: int, column: int) -> Text:
        numbers = [sort_key(cells[column]) or 0 for cells in table.rows]
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
