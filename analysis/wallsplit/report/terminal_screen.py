"""The first screen on a terminal: at most LINES lines, of words that are never cut."""

import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from rich.console import Console, Group
from rich.text import Text

from wallsplit.accounts import PARTS
from wallsplit.figures.strip import BLOCKED, PHASE_KEYS, Strip, fewer, ticks
from wallsplit.frozen import dataclass
from wallsplit.report.cards import Card
from wallsplit.report.document import Report
from wallsplit.report.first_screen import FirstScreen
from wallsplit.text import PROSE, for_people
from wallsplit.words.advice import Advice

LINES = 24
"""One more says where the report is."""
WIDEST = 120
"""Columns used at most: longer lines are hard to read."""
_SPECIAL = {
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
    "·": "|",
    "▲": "^",
}
ASCII = str.maketrans(_SPECIAL)
_OF_PHASES = dict(zip(PHASE_KEYS, (PARTS[i] for i in (0, 2, 5, 1, 4)), strict=True))
_ASLEEP = {BLOCKED: replace(PARTS[3], glyph="▁", ascii_glyph="_")}
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mµun]?s)(?!\w))")
_TIED = "\N{NO-BREAK SPACE}"
LOOKS = {part.key: part for part in PARTS} | _OF_PHASES | _ASLEEP
"""The part whose glyphs and colour each key has."""


@dataclass(frozen=True)
class Means:
    """What a terminal can show."""

    width: int
    ascii_only: bool

    def plain(self, text: str) -> str:
        """Return a text as the terminal can show it, inert."""
        shown = for_people(text, PROSE)
        return shown.translate(ASCII).encode("ascii", "backslashreplace").decode() if self.ascii_only else shown

    def wrapped(self, text: str, indent: str = "", first: str | None = None) -> list[str]:
        """Return the lines of a text; only words longer than a line are cut, and no number leaves its unit."""
        lines = textwrap.wrap(
            _BEFORE_UNIT.sub(_TIED, self.plain(text)),
            self.width,
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        return [line.replace(_TIED, " ") for line in lines]


def means(console: Console) -> Means:
    """Return what the console can show."""
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")  # also where the output is piped
    ascii_only = dumb or not console.encoding.lower().startswith("utf")
    return Means(min(console.width, WIDEST), ascii_only)


def screen(report: Report, first: FirstScreen, how: Means) -> Group:
    """Return the first screen as lines; what matters least gives way where they would be too many."""
    drafts = (_draft(report, first, how, brevity) for brevity in range(len(_BREVITIES)))
    lines: list[Text] = []
    for lines in drafts:
        if len(lines) <= LINES:
            break
    return Group(*lines[:LINES])


def _draft(report: Report, first: FirstScreen, how: Means, brevity: int) -> list[Text]:
    for change in _BREVITIES[: brevity + 1]:
        first = change(first)
    lines = [Text(line, "bright_black") for line in _context(report, first, how)]
    if report.banner:
        lines += [Text(line, "bold yellow") for line in how.wrapped(report.banner)]
    lines += [Text(), *(Text(line, "bold") for line in how.wrapped(first.verdict))]
    lines += [Text(line) for line in how.wrapped(first.seconds)]
    if first.strips:
        lines += [Text(), *_strips(first.strips, how)]
    if first.cards:
        lines += [Text(), *(line for card in first.cards for line in _card(card, how))]
    if first.advice:
        lines += [Text(), Text("What to do, by what it can win", "bold")]
        lines += [line for row in first.advice for line in _advice(row, how)]
    ends = [*([first.warning] if first.warning else []), *([first.left_out] if first.left_out else [])]
    return lines + ([Text()] if ends else []) + [Text(line) for end in ends for line in how.wrapped(end)]


def _same(first: FirstScreen) -> FirstScreen:
    return first


def _without_the_rest(first: FirstScreen) -> FirstScreen:
    return replace(first, left_out="")


def _one_line_cards(first: FirstScreen) -> FirstScreen:
    return replace(first, cards=tuple(replace(card, text="") for card in first.cards))


def _short_reasons(first: FirstScreen) -> FirstScreen:
    short = (replace(row, because=row.because.split("; ")[0]) for row in first.advice)
    return replace(first, advice=tuple(short))


def _few_strips(first: FirstScreen) -> FirstScreen:
    return replace(first, strips=fewer(first.strips, 2))


def _without_reasons(first: FirstScreen) -> FirstScreen:
    return replace(first, advice=tuple(replace(row, because="") for row in first.advice))


def _without_cards(first: FirstScreen) -> FirstScreen:
    return replace(first, cards=first.cards[:1], strips=fewer(first.strips, 1), advice=first.advice[:2])


_BREVITIES: tuple[Callable[[FirstScreen], FirstScreen], ...] = (
    _same,
    _without_the_rest,
    _short_reasons,
    _few_strips,
    _one_line_cards,
    _without_reasons,
    _without_cards,
)
"""What is done, one after the other, until the lines are few enough."""


def _context(report: Report, first: FirstScreen, how: Means) -> list[str]:
    title = how.plain(report.title)
    line = f"{title} · {first.context}" if first.context else title
    return how.wrapped(line)[:2]


def _strips(strips: Sequence[Strip], how: Means) -> Iterator[Text]:
    """Give a line per strip, of the glyph of what takes most of each column; then the clock and the legend."""
    labels = [how.plain(strip.label) for strip in strips]
    room = max(map(len, labels)) + 1 if any(labels) else 0
    width = how.width - room
    for strip, label in zip(strips, labels, strict=True):
        line = Text(label.ljust(room))
        for key in columns_of(strip, width):
            part = LOOKS[key]
            line.append(part.ascii_glyph if how.ascii_only else part.glyph, part.terminal)
        yield line
    yield Text(how.plain(_clock(strips[-1], width, room)), "bright_black")
    yield from _legend(strips, how)


def columns_of(strip: Strip, width: int) -> list[str]:
    """Return the kind that takes most of each of so many columns."""
    edges = np.linspace(0, len(strip.shares), width + 1)
    low = np.minimum(edges[:-1].astype(int), len(strip.shares) - 1)
    sums = np.vstack([np.zeros(strip.shares.shape[1]), strip.shares.cumsum(axis=0)])
    high = np.maximum(np.ceil(edges[1:] - 1e-9).astype(int), low + 1)
    return [strip.kinds[i].key for i in (sums[high] - sums[low]).argmax(axis=1).tolist()]


def _clock(strip: Strip, width: int, indent: int) -> str:
    """Return round times below their columns, and where steps are steady from."""
    line = [" "] * width

    def put(place: float, text: str, *, over: bool) -> None:
        at = min(int(place * width), width - len(text))
        if at >= 0 and (over or all(c == " " for c in line[max(0, at - 1) : at + len(text) + 1])):
            line[at : at + len(text)] = text

    if strip.steady and strip.place(strip.steady[0]) >= 0.005:
        put(strip.place(strip.steady[0]), "▲ steady", over=True)
    for time, label in ticks(strip.start_ns, strip.end_ns, max(2, width // 16)):
        put(strip.place(time), label, over=False)
    return " " * indent + "".join(line).rstrip()


def _legend(strips: Sequence[Strip], how: Means) -> Iterator[Text]:
    kinds = {kind.key: kind for strip in strips for kind in strip.kinds}
    line = Text()
    for kind in kinds.values():
        part, title = LOOKS[kind.key], how.plain(kind.title)
        needs = len(title) + 3 + (3 if len(line) else 0)
        if len(line) and len(line) + needs > how.width:
            yield line
            line = Text()
        line.append("   " if len(line) else "")
        line.append((part.ascii_glyph if how.ascii_only else part.glyph) * 2, part.terminal).append(f" {title}")
    yield line


def _card(card: Card, how: Means) -> list[Text]:
    figure = f"{card.figure}{',' if card.of[:1].isdigit() else ''} {card.of}".strip()
    said = f"{card.title}: {figure}{f'; {card.text}' if card.text else ''}"
    return [Text(line) for line in how.wrapped(said, "  ", "")]


def _advice(row: Advice, how: Means) -> list[Text]:
    head = how.plain(row.at_most if row.at_most != "–" else "do")
    text = f"{row.do}{f' – {row.because}' if row.because else ''}"
    lines = how.wrapped(text, "    ", f"  {head}: ")
    return [
        Text.assemble((line[: len(head) + 2], "bold"), line[len(head) + 2 :]) if not i else Text(line)
        for i, line in enumerate(lines)
    ]
