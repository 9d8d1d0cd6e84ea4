"""Paths and numbers of our own inline SVG: small, because a page holds thousands of stretches."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def stacked(keys: Sequence[str], heights: Floats, colours: Mapping[str, str]) -> Iterator[str]:
    """Give a path per key, in its colour and in the class `c-KEY`, by which a page may colour it otherwise.

    Columns are 1 wide; `heights`, 0–1, have a row per column and stack from the bottom. The drawing is as wide as there
    are rows, and 100 high. Columns side by side that look the same are one rectangle.
    """
    tops = (heights.cumsum(axis=1) * 100).round(1).clip(0, 100)
    bottoms = np.column_stack([np.zeros(len(tops)), tops[:, :-1]])
    for column, key in enumerate(keys):
        path = "".join(
            f"M{a} {number(100 - top)}h{b - a}v{number(top - bottom)}h{a - b}z"
            for a, b, bottom, top in _runs(bottoms[:, column].tolist(), tops[:, column].tolist())
            if top > bottom
        )
        if path:
            yield f'<path class="c-{key}" fill="{colours[key]}" d="{path}"/>'


def _runs(bottoms: list[float], tops: list[float]) -> Iterator[tuple[int, int, float, float]]:
    first = 0
    for i in range(1, len(tops) + 1):
        if i == len(tops) or (bottoms[i], tops[i]) != (bottoms[first], tops[first]):
            yield first, i, bottoms[first], tops[first]
            first = i


def percentage(ratio: float) -> str:
    """Return a ratio as a length of SVG: `12.5%`."""
    return f"{number(ratio * 100)}%"


def number(value: float) -> str:
    """Return a number with three digits behind the point at most."""
    return f"{round(value, 3):g}"
