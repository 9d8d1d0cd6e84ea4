"""Dots on a logarithmic axis as data, and their inline SVG: a row per thing, a mark per series."""

import math
from collections.abc import Iterator
from html import escape

from wallsplit import units
from wallsplit.figures.svg_paths import percentage
from wallsplit.frozen import dataclass

_ROW, _HEAD, _FOOT = 24, 6, 22
_MARKS = ("M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", "M0-5.5l5.2 9.5h-10.4z", "M-4-4h8v8h-8z")
"""A disc, a triangle, a square: shape tells the series apart as well as colour."""


@dataclass(frozen=True)
class Series:
    """One kind of mark."""

    title: str
    key: str
    """Its colour: a key of `drawing.COLOURS`."""
    values_ns: tuple[float | None, ...]
    """One per row; None and 0 have no place on the axis."""


@dataclass(frozen=True)
class Dots:
    """Rows with a mark for each series."""

    rows: tuple[str, ...]
    series: tuple[Series, ...]

    @property
    def powers(self) -> tuple[int, int]:
        """The powers of ten, in ns, between which all marks lie."""
        known = [v for series in self.series for v in series.values_ns if v]
        if not known:
            return 0, 1
        low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
        return low, max(high, low + 1)


def svg(dots: Dots, row: int | None = None) -> str:
    """Return the marks of all rows, or of one, as inline SVG as wide as what it stands in."""
    shown = range(len(dots.rows)) if row is None else (row,)
    height = _HEAD + _ROW * len(shown)
    return "".join(
        [
            f'<svg class="dots" role="img" width="100%" height="{height}" ',
            f'aria-label="{escape(_in_words(dots, shown))}">',
            *_grid(dots, height),
            *_points(dots, shown),
            "</svg>",
        ]
    )


def axis(dots: Dots) -> str:
    """Return the axis below."""
    texts = [
        f'<text x="{percentage(_place(10**power, dots))}" y="14" text-anchor="{_anchor(i, dots)}">'
        f"{escape(units.ns(10**power).replace('.00 ', ' ').replace('.0 ', ' ').replace('1.000', '1'))}</text>"
        for i, power in enumerate(_ticks(dots))
    ]
    return f'<svg class="dots" aria-hidden="true" width="100%" height="{_FOOT}">{"".join(texts)}</svg>'


def _ticks(dots: Dots) -> range:
    low, high = dots.powers
    return range(low, high + 1)


def _anchor(tick: int, dots: Dots) -> str:
    return "start" if tick == 0 else "end" if tick == len(_ticks(dots)) - 1 else "middle"


def _place(value_ns: float, dots: Dots) -> float:
    low, high = dots.powers
    return 0.01 + 0.98 * (math.log10(value_ns) - low) / (high - low)


def _grid(dots: Dots, height: int) -> Iterator[str]:
    for power in _ticks(dots):
        x = percentage(_place(10**power, dots))
        yield f'<line x1="{x}" x2="{x}" y1="0" y2="{height}"/>'


def _points(dots: Dots, shown: "range | tuple[int, ...]") -> Iterator[str]:
    for place, i in enumerate(shown):
        y = _HEAD + _ROW * place + _ROW // 2 - 3
        for mark, series in zip(_MARKS, dots.series, strict=False):
            value = series.values_ns[i]
            if value:
                text = escape(f"{series.title} {units.ns(value)}")
                yield (
                    f'<svg x="{percentage(_place(value, dots))}" y="{y}" overflow="visible" width="1" height="1">'
                    f'<path class="c-{series.key}" d="{mark}"><title>{text}</title></path></svg>'
                )


def legend_mark(number: int) -> str:
    """Return the path of a series' mark."""
    return _MARKS[number % len(_MARKS)]


def _in_words(dots: Dots, shown: "range | tuple[int, ...]") -> str:
    rows = (
        f"{dots.rows[i]}: " + ", ".join(f"{s.title} {units.ns(v)}" for s in dots.series if (v := s.values_ns[i]))
        for i in shown
    )
    return "; ".join(rows)
