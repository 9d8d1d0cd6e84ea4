"""A strip as inline SVG: needs no script, prints, and takes its colours from the page's classes."""

from collections.abc import Iterator
from html import escape

from wallsplit.figures.strip import Strip, beside_label, beside_title, hovers, ticks

TALL, LOW = 92, 44
"""Heights of the stack, in pixels: of one or two strips, of more."""
_LANE, _AXIS, _GAP = 20, 20, 6
_LETTER = 7.0
"""Pixels a letter takes at most, so that a label is shown where it fits and never cut."""
_WIDTHS = ((340, ""), (700, "from-broad"), (1100, "from-wide"))
"""Widths of the drawing, the narrowest first, and the class of labels that need as much: narrower pages hide those."""


def svg(strip: Strip, *, tall: bool = True, axis: bool = True) -> str:
    """Return the drawing; its width is that of what it stands in."""
    height = TALL if tall else LOW
    whole = height + (_GAP + _LANE * len(strip.lanes) if strip.lanes else 0) + (_AXIS if axis else 0)
    return "".join(
        [
            (
                f'<svg class="strip" role="img" width="100%" height="{whole}" data-start="{strip.start_ns}" '
                f'data-end="{strip.end_ns}" data-height="{height}" aria-label="{escape(strip.in_words)}">'
            ),
            f'<svg width="100%" height="{height}" viewBox="0 0 {len(strip.shares)} 100" preserveAspectRatio="none">',
            *_stack(strip),
            *_hover(strip),
            "</svg>",
            *_lanes(strip, height + _GAP),
            *(_axis(strip, whole) if axis else ()),
            *_steady(strip, height, whole - (_AXIS if axis else 0)),
            "</svg>",
        ]
    )


def _stack(strip: Strip) -> Iterator[str]:
    """Give a path per kind, of one rectangle for all stretches side by side that look the same."""
    tops = (strip.shares.cumsum(axis=1) * 100).round(1)
    bottoms = (tops - (strip.shares * 100).round(1)).clip(0)
    bottoms[:, 1:] = tops[:, :-1]
    for column, kind in enumerate(strip.kinds):
        path = "".join(
            f"M{a} {_number(100 - top)}h{b - a}v{_number(top - bottom)}h{a - b}z"
            for a, b, bottom, top in _runs(bottoms[:, column].tolist(), tops[:, column].tolist())
            if top > bottom
        )
        if path:
            yield f'<path class="c-{kind.key}" d="{path}"/>'


def _runs(bottoms: list[float], tops: list[float]) -> Iterator[tuple[int, int, float, float]]:
    first = 0
    for i in range(1, len(tops) + 1):
        if i == len(tops) or (bottoms[i], tops[i]) != (bottoms[first], tops[first]):
            yield first, i, bottoms[first], tops[first]
            first = i


def _hover(strip: Strip) -> Iterator[str]:
    yield '<g class="hover">'
    for first, last, text in hovers(strip):
        yield f'<rect x="{first}" width="{last - first}" height="100"><title>{escape(text)}</title></rect>'
    yield "</g>"


def _lanes(strip: Strip, top: int) -> Iterator[str]:
    for row, lane in enumerate(strip.lanes):
        for beside in lane:
            left, right = strip.place(beside.start_ns), strip.place(beside.end_ns)
            if right <= left:
                continue
            text = beside_label(beside)
            fits = next((name for width, name in _WIDTHS if len(text) * _LETTER + 10 <= (right - left) * width), None)
            label = "" if fits is None else f'<text{_class(fits)} x="5" y="12.5">{escape(text)}</text>'
            yield (
                f'<svg class="lane" x="{_per_cent(left)}" y="{top + row * _LANE}" width="{_per_cent(right - left)}" '
                f'height="{_LANE - 3}"><title>{escape(beside_title(beside))}</title>'
                f'<rect width="100%" height="100%"/>{label}</svg>'
            )


def _axis(strip: Strip, bottom: int) -> Iterator[str]:
    for number, (time, label) in enumerate(ticks(strip.start_ns, strip.end_ns)):
        place = strip.place(time)
        anchor = "start" if place < 0.03 else "end" if place > 0.97 else "middle"
        hidden = _class("from-broad") if number % 2 else ""
        yield f'<text{hidden} x="{_per_cent(place)}" y="{bottom - 5}" text-anchor="{anchor}">{escape(label)}</text>'


def _steady(strip: Strip, height: int, bottom: int) -> Iterator[str]:
    if strip.steady is None or strip.place(strip.steady[0]) < 0.005:
        return
    place = strip.place(strip.steady[0])
    anchor, shift = ("start", 6) if place < 0.8 else ("end", -6)
    x = _per_cent(place)
    yield f'<line class="steady" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>'
    yield f'<text class="steady" x="{x}" dx="{shift}" y="15" text-anchor="{anchor}">steady from here</text>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _per_cent(ratio: float) -> str:
    return f"{_number(round(ratio * 100, 3))}%"


def _number(value: float) -> str:
    return f"{round(value, 3):g}"
