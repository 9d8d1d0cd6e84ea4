"""From the wall time of one side to that of another, a bar per account: drawn by hand as SVG."""

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from wallsplit.comparison.pairs import Pair
from wallsplit.comparison.waterfall import Line
from wallsplit.figures.drawing import INK, Figure
from wallsplit.figures.inline import Inline
from wallsplit.frozen import dataclass
from wallsplit.text import for_people
from wallsplit.units import ns, signed_ns
from wallsplit.words.changes import label

SLOWER, FASTER, WALL = "#d55e00", "#009e73", "#8b929b"
"""Of Okabe and Ito's palette; the signs of the numbers say the same."""
SMALL = 0.1
"""Where no bar is longer than this part of the wall time, a second panel begins at 90 % of the smaller one."""
SEEN = 0.004
"""A bar of less than this part of the largest one would be thinner than a line."""
_WIDTH, _LEFT, _RIGHT, _ROW, _AXIS = 760, 190, 120, 24, 26
_STEPS = (1, 2, 2.5, 5)


@dataclass(frozen=True)
class Bar:
    """A bar from one time to another, in ns; of a wall, from 0."""

    name: str
    start: float
    end: float
    text: str
    colour: str

    @property
    def is_wall(self) -> bool:
        """Whether it is a whole wall time."""
        return self.colour == WALL


def bars(pair: Pair) -> tuple[Bar, ...]:
    """Return the bars from top to bottom: before, one for each account that changed, after.

    Changes too small to be seen make one bar together.
    """
    at = before = float(pair.before.wall)
    after = float(pair.after.wall)
    bars = [Bar(label(pair.before), 0.0, before, ns(before), WALL)]
    for name, change in _changes(pair.waterfall.lines):
        bars.append(Bar(name, at, at + change, signed_ns(change), SLOWER if change > 0 else FASTER))
        at += change
    return (*bars, Bar(label(pair.after), 0.0, after, ns(after), WALL))


def _changes(lines: Sequence[Line]) -> list[tuple[str, float]]:
    seen = [line for line in lines if abs(line.delta_ns) >= SEEN * abs(lines[0].delta_ns)]
    changes = [(line.name, line.delta_ns) for line in seen]
    rest = lines[len(seen) :]
    if len(rest) == 1:
        return [*changes, (rest[0].name, rest[0].delta_ns)]
    return [*changes, (f"{len(rest)} others", sum(line.delta_ns for line in rest))] if rest else changes


def waterfall(pair: Pair, name: str = "waterfall") -> Figure:
    """Return the figure of a pair."""
    drawn = bars(pair)
    changes = ", ".join(f"{bar.name} {bar.text}" for bar in drawn if not bar.is_wall)
    return Figure(
        name=name,
        section="waterfall",
        caption=f"From {drawn[0].name} to {drawn[-1].name}: orange adds to the wall time, green takes from it",
        alt=f"{drawn[0].name} {drawn[0].text}; {changes or 'no account changed'}; {drawn[-1].name} {drawn[-1].text}",
        draw=lambda: svg(drawn, INK),
        inline=Inline(lambda: svg(drawn, "currentColor"), ()),
    )


def svg(bars: Sequence[Bar], ink: str) -> str:
    """Return the drawing; text and lines are of the colour `ink`."""
    longest = max(max(bar.start, bar.end) for bar in bars)
    moves = [abs(bar.end - bar.start) for bar in bars if not bar.is_wall]
    panels = [_panel(bars, 0.0, longest, 0, ink)]
    height = _height(bars)
    if moves and max(moves) < SMALL * longest:
        lowest = min(min(bar.start, bar.end) for bar in bars if not bar.is_wall)
        start = 0.9 * min(lowest, bars[0].end, bars[-1].end)
        panels.append(_panel(bars, start, longest, height + 30, ink, "The same, the axis cut off below"))
        height = 2 * height + 30
    body = "\n".join(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{ink}" role="presentation">\n{body}\n</svg>\n'
    )


def _height(bars: Sequence[Bar]) -> int:
    return len(bars) * _ROW + _AXIS


def _panel(bars: Sequence[Bar], start: float, end: float, top: float, ink: str, title: str = "") -> str:
    scale = (_WIDTH - _LEFT - _RIGHT) / ((end - start) or 1.0)

    def x(time: float) -> float:
        return _LEFT + (max(time, start) - start) * scale

    bottom = top + len(bars) * _ROW
    lines = [f'<text x="{_LEFT}" y="{top - 8}">{escape(title)} {escape(ns(start))}</text>'] if title else []
    for tick in _ticks(start, end):
        lines.append(_upright(x(tick), top, bottom, ink, 0.18))
        lines.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{escape(ns(tick))}</text>')
    for row, bar in enumerate(bars):
        y = top + row * _ROW
        low, high = sorted((x(bar.start), x(bar.end)))
        name, width = escape(for_people(bar.name, 28)), max(high - low, 0.6)
        lines += [
            f'<text x="{_LEFT - 8}" y="{y + 16}" text-anchor="end">{name}</text>',
            f'<rect x="{low:.2f}" y="{y + 4}" width="{width:.2f}" height="{_ROW - 8}" fill="{bar.colour}"/>',
            f'<text x="{high + 6:.1f}" y="{y + 16}">{escape(bar.text)}</text>',
        ]
        if row + 1 < len(bars):
            lines.append(_upright(x(bar.end), y + _ROW - 4, y + _ROW + 4, ink, 0.5))
    return "\n".join(lines)


def _upright(x: float, top: float, bottom: float, ink: str, opacity: float) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{ink}" stroke-opacity="{opacity}"/>'


def _ticks(start: float, end: float) -> list[float]:
    """Return round times in a stretch, four or so."""
    room = (end - start) / 4
    if room <= 0:
        return [start]
    power = 10 ** math.floor(math.log10(room))
    step = next(factor * power for factor in (*_STEPS, 10) if factor * power >= room)
    first = math.ceil(start / step)
    return [i * step for i in range(first, math.floor(end / step) + 1)]
