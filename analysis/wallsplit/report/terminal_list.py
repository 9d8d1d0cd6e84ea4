"""Several traces on a terminal: of each its bar, its length, its name and its verdict, which is never cut."""

from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.text import Text

from wallsplit.accounts import PARTS, Part
from wallsplit.figures.strip import BLOCKED, PHASE_KEYS, Strip, fewer
from wallsplit.report.document import Report
from wallsplit.report.terminal_screen import LOOKS, Means, columns_of, means

_BAR, _NARROW_BAR = 12, 6
_NARROW = 80
"""Columns of a terminal; a narrower one has the narrow bar."""
_WALL = 8
"""Columns of a length, such as `1.234 s`."""
_SUFFIX = ".sqlite"
_SHORT = dict(
    zip(
        (part.key for part in PARTS),
        ("computing", "communicating", "copying", "for another process", "set-up", "CUDA calls", "host code"),
        strict=True,
    )
)
"""What the legend calls the parts, so that it is one line."""
_BUSY, _HOST = PARTS[:4], PARTS[-1]


def overview(rows: Sequence[tuple[Report, str]], console: Console) -> Group:
    """Return a line per trace and report, where its verdict is long a second one, and the legend of the bars."""
    how = means(console)
    shown = [(report, wall) for report, wall in rows if report.first]
    bar = _BAR if how.width >= _NARROW else _NARROW_BAR
    names = _told_apart([how.plain(report.title).removesuffix(_SUFFIX) for report, _ in shown], how, bar)
    room = max(map(len, names), default=0)
    lines: list[Text] = []
    used: set[str] = set()
    for (report, wall), name in zip(shown, names, strict=True):
        parts = _parts(report.first.strips, bar) if report.first else []
        used |= {part.key for part in parts}
        lines += _lines(report, wall, name.ljust(room), _bar(parts, bar, how), how)
    return Group(*lines, *_legend(used, how))


def _told_apart(names: Sequence[str], how: Means, bar: int) -> list[str]:
    """Return the names, none longer than a third of the terminal; longer, or whole, where two would read alike."""
    most = max(1, how.width - bar - _WALL - 3)
    for room in range(min(how.width // 3, most), most):
        short = [_shortened(name, room, how) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _shortened(name: str, room: int, how: Means) -> str:
    """Return as much of the name's beginning and end as there is room for: two files differ in either."""
    if len(name) <= room:
        return name
    dots = "..." if how.ascii_only else "…"
    end = max(1, (room - len(dots)) // 2)
    return f"{name[: max(1, room - len(dots) - end)]}{dots}{name[-end:]}"


def _lines(report: Report, wall: str, name: str, bar: Text, how: Means) -> Iterator[Text]:
    """Give the line of a trace, and those its verdict goes on in, below its name."""
    head = f"{how.plain(wall):>{_WALL}} "
    indent = len(bar) + 1 + len(head)
    begin = " " * (indent + len(name) + 1)
    verdict = report.first.verdict if report.first else report.headline
    if len(begin) >= how.width:
        yield Text.assemble(bar, " ", head)
        yield from map(Text, how.wrapped(f"{name.rstrip()} {verdict}", " " * indent))
        return
    first, *others = how.wrapped(verdict, " " * indent, begin)
    yield Text.assemble(bar, " ", head, (name, "bright_black"), first[indent + len(name) :])
    yield from map(Text, others)


def _parts(strips: Sequence[Strip], width: int) -> list[Part]:
    """Return what takes most of each column; the phases of a run without a GPU are host code."""
    if not strips:
        return []
    (strip,) = fewer(strips, 1)
    by_phase = any(kind.key in (*PHASE_KEYS, BLOCKED) for kind in strip.kinds)
    return [_HOST if by_phase else LOOKS[key] for key in columns_of(strip, width)]


def _bar(parts: Sequence[Part], width: int, how: Means) -> Text:
    bar = Text()
    for part in parts:
        bar.append(part.ascii_glyph if how.ascii_only else part.glyph, part.terminal)
    return bar.append(" " * (width - len(parts)))


def _legend(used: set[str], how: Means) -> Iterator[Text]:
    """Give one line that says what the bars are made of."""
    line = Text("", "bright_black")
    for title, on_gpu in (("GPU", True), ("GPU idle", False)):
        parts = [part for part in PARTS if part.key in used and (part in _BUSY) == on_gpu]
        line.append(("; " if line and parts else "") + (title if parts else ""))
        for part in parts:
            line.append(" ").append(part.ascii_glyph if how.ascii_only else part.glyph, part.terminal)
            line.append(f" {how.plain(_SHORT[part.key])}")
    if line:
        yield line
