"""Lines over time as inline SVG: each holds its value until the next."""

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from wallsplit import units
from wallsplit.figures.strip import ticks
from wallsplit.figures.svg_paths import number, percentage

HEIGHT = 110
_AXIS = 20
_WIDE = 1_000
Numbers = npt.NDArray[np.int64]


def svg(keys: Sequence[str], times: Sequence[Numbers], bytes_held: Sequence[Numbers], alt: str) -> str:
    """Return the lines, in bytes over ns, in the colours of the keys; at the left the most of all."""
    start, end = min(int(t[0]) for t in times), max(int(t[-1]) for t in times)
    most = max(1, *(int(held.max()) for held in bytes_held))
    paths = [
        f'<path class="l-{key}" d="{_path((t - start) / max(1, end - start), held / most)}"/>'
        for key, t, held in zip(keys, times, bytes_held, strict=True)
    ]
    labels = [
        f'<text x="{percentage((time - start) / max(1, end - start))}" y="{HEIGHT + 15}" text-anchor="middle">'
        f"{escape(label)}</text>"
        for time, label in ticks(start, end)[1:-1]
    ]
    return "".join(
        [
            f'<svg class="lines" role="img" width="100%" height="{HEIGHT + _AXIS}" aria-label="{escape(alt)}">',
            f'<svg width="100%" height="{HEIGHT}" viewBox="0 0 {_WIDE} 104" preserveAspectRatio="none">',
            *paths,
            "</svg>",
            *labels,
            f'<text x="4" y="12">{units.size(most)}</text></svg>',
        ]
    )


def _path(across: npt.NDArray[np.float64], up: npt.NDArray[np.float64]) -> str:
    steps = [f"H{number(x * _WIDE)}V{number(102 - y * 100)}" for x, y in zip(across, up, strict=True)]
    return f"M0 102{''.join(steps)}H{_WIDE}"
