"""A strip as inline SVG: needs no script, prints, and takes its colours from the page's classes."""

from collections.abc import Iterator, Sequence
from html import escape

from wallsplit.figures.colours import COLOURS
from wallsplit.figures.strip import Strip, beside_label, beside_title, hovers, ticks
from wallsplit.figures.svg_paths import percentage, stacked
from wallsplit.why.course import Beside

TALL, LOW = 92, 44
"""Heights of the stack, in pixels: of one or two strips, of more."""
_LANE, _AXIS, _GAP = 20, 20, 6
_READABLE = 40
"""Stretches of a lane that are shown even without names."""
_SEEN = 0.01
"""Of the drawing's width: a lane without a name that covers less of it is left out."""
_LETTER = 6.6
"""Pixels a letter takes at most, so that a label is shown where it fits and never cut."""
_WIDTHS = ((340, ""), (700, "from-broad"), (1100, "from-wide"))
"""Widths of the drawing, the narrowest first, and the class of labels that need as much: narrower pages hide those."""


def svg(strip: Strip, *, tall: bool = True, axis: bool = True) -> str:
    """Return the drawing; its width is that of what it stands in."""
    height = TALL if tall else LOW
    lanes = [drawn for lane in strip.lanes if (drawn := _lane(strip, lane))][: None if tall else 1]
    whole = height + (_GAP + _LANE * len(lanes) if lanes else 0) + (_AXIS if axis else 0)
    clock = f'data-start="{strip.start_ns}" data-end="{strip.end_ns}" data-height="{height}"'
    return "".join(
        [
            f'<svg class="strip" role="img" width="100%" height="{whole}" {clock} fill="currentColor" font-size="11.5"',
            f' aria-label="{escape(strip.in_words)}">',
            f'<svg width="100%" height="{height}" viewBox="0 0 {len(strip.shares)} 100" preserveAspectRatio="none">',
            *stacked([kind.key for kind in strip.kinds], strip.shares, COLOURS),
            *_hover(strip),
            "</svg>",
            *(
                f'<svg y="{height + _GAP + i * _LANE}" width="100%" height="{_LANE}">{lane}</svg>'
                for i, lane in enumerate(lanes)
            ),
            *(_axis(strip, whole) if axis else ()),
            *_steady(strip, whole - (_AXIS if axis else 0)),
            "</svg>",
        ]
    )


def _hover(strip: Strip) -> Iterator[str]:
    yield '<g class="hover" fill="#ffffff" fill-opacity="0">'
    for first, last, text in hovers(strip):
        yield f'<rect x="{first}" width="{last - first}" height="100"><title>{escape(text)}</title></rect>'
    yield "</g>"


def _lane(strip: Strip, lane: Sequence[Beside]) -> str:
    """Return a lane at the top of its own drawing; nothing where it would tell nothing.

    That is where nothing has room for a name, and it is too much to be told apart, or hardly to be seen.
    """
    drawn = [_beside(strip, beside) for beside in lane if strip.place(beside.end_ns) > strip.place(beside.start_ns)]
    covered = sum(strip.place(beside.end_ns) - strip.place(beside.start_ns) for beside in lane)
    tells = len(drawn) <= _READABLE and covered >= _SEEN
    return "".join(drawn) if tells or any("<text" in element for element in drawn) else ""


def _beside(strip: Strip, beside: Beside) -> str:
    left, right = strip.place(beside.start_ns), strip.place(beside.end_ns)
    label = _label(beside_label(beside), right - left)
    return (
        f'<svg class="lane" x="{percentage(left)}" width="{percentage(right - left)}" height="{_LANE - 3}">'
        f"<title>{escape(beside_title(beside))}</title>"
        f'<rect width="100%" height="100%" fill="#8b929b" fill-opacity="0.25"/>{label}</svg>'
    )


def _label(text: str, width: float) -> str:
    """Return a label that fits in so much of the drawing: the text, else its last two words, else nothing."""
    whole = _needs(text, width)
    last = " ".join(text.split()[-2:])
    words, needs = (text, whole) if whole is not None or last == text else (last, _needs(last, width))
    if needs is None:
        return ""
    return f'<text{_class(needs)} x="5" y="12.5">{escape(words)}</text>'


def _needs(text: str, width: float) -> str | None:
    """Return the class of pages on which a text fits in a part of the drawing; None where it fits on none."""
    return next((name for pixels, name in _WIDTHS if len(text) * _LETTER + 8 <= width * pixels), None)


def _axis(strip: Strip, bottom: int) -> Iterator[str]:
    for number, (time, label) in enumerate(ticks(strip.start_ns, strip.end_ns)):
        place = strip.place(time)
        anchor = "start" if place < 0.03 else "end" if place > 0.97 else "middle"
        hidden = _class("from-broad") if number % 2 else ""
        yield f'<text{hidden} x="{percentage(place)}" y="{bottom - 5}" text-anchor="{anchor}">{escape(label)}</text>'


def _steady(strip: Strip, bottom: int) -> Iterator[str]:
    if strip.steady is None or strip.place(strip.steady[0]) < 0.005:
        return
    place = strip.place(strip.steady[0])
    anchor, shift = ("start", 6) if place < 0.8 else ("end", -6)
    x = percentage(place)
    line = f'x1="{x}" x2="{x}" y1="0" y2="{bottom}" stroke="currentColor" stroke-dasharray="4 3"'
    text = f'x="{x}" dx="{shift}" y="15" text-anchor="{anchor}" font-weight="bold"'
    yield f'<line class="steady" {line}/><text class="steady" {text}>steady from here</text>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
