"""A report as GitHub-flavoured Markdown, its figures as SVG files beside it."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from wallsplit import __version__
from wallsplit.figures.drawing import Figure
from wallsplit.report.cards import Card
from wallsplit.report.cells import cell_text
from wallsplit.report.document import Block, Cell, Column, Facts, Link, Paragraph, Remarks, Report, Section, Table
from wallsplit.report.first_screen import FirstScreen
from wallsplit.text import PROSE, for_people
from wallsplit.words.advice import Advice

MARK = "<!-- generator: wallsplit "
"""What every file of ours carries near its top: such a file may be overwritten."""

_LEVELS = {"info": "Note", "warning": "Warning", "error": "Error"}
# A backslash escapes any punctuation (CommonMark 2.4); these four are read by tables and raw HTML before that.
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}
_SPECIAL = re.compile(
    r"[\\`*\[\]~$#@<>&|]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # within a word an underscore is but an underscore
    r"|:(?=[A-Za-z+/])|(?<=[Ww]{3})\."  # emoji and bare links
)

_WITHIN_NUMBER = re.compile(r"(?<=[0-9≥≤]) ")
"""Spaces at which a narrow column would part a number from its unit or sign."""


def markdown(report: Report, stem: str) -> str:
    """Return the report as Markdown; it refers to its figures as `<stem>.<figure>.svg`."""
    parts = [f"{MARK}{__version__} -->", f"# {escape(report.title)}"]
    if report.banner:
        parts.append("\n".join(["> [!WARNING]", f"> {escape(report.banner)}"]))
    if report.first:
        parts += [*_first_screen(report.first, stem), "## The whole recording", escape(report.headline)]
    elif report.verdict:
        parts += [f"**{escape(report.verdict)}**", escape(report.headline), *_listed(report.cards)]
    else:
        parts.append(f"**{escape(report.headline)}**")
    if report.figure:
        parts.append(_figure(report.figure, stem))
    parts += [part for section in report.sections for part in _section(section, stem)]
    parts.append(f"<sub>Made by wallsplit {__version__} from {escape(report.source)}.</sub>")
    return "\n\n".join(parts) + "\n"


def figures(report: Report) -> tuple[Figure, ...]:
    """Return the figures that the Markdown refers to."""
    inside = (block for section in report.sections for block in section.blocks if isinstance(block, Figure))
    picture = report.first.picture if report.first else None
    return tuple(figure for figure in (picture, report.figure, *inside) if figure)


def _first_screen(first: FirstScreen, stem: str) -> Iterator[str]:
    if first.context:
        yield escape(first.context)
    yield f"**{escape(first.verdict)}**"
    if first.seconds:
        yield escape(first.seconds)
    if first.picture:
        yield _figure(first.picture, stem)
    yield from _listed(first.cards)
    if first.advice:
        yield "**What to do, by what it can win**"
        yield "\n".join(todo(first.advice))
    for line in (first.warning, first.left_out):
        if line:
            yield escape(line)


def _listed(shown: Sequence[Card]) -> list[str]:
    return ["\n".join(cards(shown))] if shown else []


def cards(shown: Sequence[Card]) -> Iterator[str]:
    """Give the lines of a list of the cards."""
    for card in shown:
        text = f" – {escape(card.text)}" if card.text else ""
        yield f"- {escape(card.title)}: **{escape(card.figure)}** {escape(card.of)}{text}".rstrip()


def todo(rows: Sequence[Advice]) -> Iterator[str]:
    """Give the lines of the table of what to do."""
    yield from ("| at most | do | because |", "| :-- | :-- | :-- |")
    yield from (_line([escape(row.at_most), escape(row.do), escape(row.because)]) for row in rows)


def escape(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, link, HTML or table cell begins or ends in it."""
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), for_people(text, PROSE))


def _section(section: Section, stem: str) -> list[str]:
    blocks = [_block(block, stem) for block in section.blocks]
    if section.folded:
        blocks = ["<details>", "<summary>Show</summary>", *blocks, "</details>"]
    return [f"## {escape(section.title)}", *blocks]


def _block(block: Block, stem: str) -> str:
    match block:
        case Paragraph():
            return escape(block.text)
        case Facts():
            return "\n".join(
                f"- {escape(f.title)}: {escape(cell_text(f.value, f.kind, f.null, PROSE))}" for f in block.facts
            )
        case Remarks():
            return "\n".join(f"- **{_LEVELS[note.level]}:** {escape(note.text)}" for note in block.notes)
        case Table():
            return table_text(block)
        case Figure():
            return _figure(block, stem)


def table_text(table: Table, *, captioned: bool = True) -> str:
    """Return a table, below its caption unless that stands elsewhere."""
    rule = [":--" if column.kind == "text" else "--:" for column in table.columns]
    rows = [_row(row, table.columns, bold=i in table.group_rows) for i, row in enumerate(table.rows)]
    head = _line([escape(column.title) for column in table.columns])
    caption = [f"**{escape(table.full_caption)}**", ""] if captioned else []
    return "\n".join([*caption, head, _line(rule), *rows])


def _row(row: tuple[Cell, ...], columns: tuple[Column, ...], *, bold: bool) -> str:
    texts = [_cell(cell, column) for cell, column in zip(row, columns, strict=True)]
    return _line([f"**{text}**" if bold and text else text for text in texts])


def _cell(cell: Cell, column: Column) -> str:
    text = escape(cell_text(cell, column.kind, column.null))
    if column.kind != "text":
        text = _WITHIN_NUMBER.sub("\N{NO-BREAK SPACE}", text)
    return f"[{text}]({quote(cell.stem)}.md)" if isinstance(cell, Link) else text


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(figure: Figure, stem: str) -> str:
    return f"![{escape(figure.alt)}]({quote(stem)}.{figure.name}.svg)\n\n*{escape(figure.caption)}*"
