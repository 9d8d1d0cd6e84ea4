"""GPU memory held over time, by kind."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.drawing import Figure, axes, canvas
from wallsplit.figures.inline import Inline, Kind
from wallsplit.figures.lines import svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MOST = 2_000
"""Changes drawn of each line: the most held between two of them."""
_KEYS = ("computing", "setup", "copying", "communicating", "cuda")
"""The parts whose colours the lines have."""

Line = tuple[str, npt.NDArray[np.int64], npt.NDArray[np.int64]]


def memory_use(analysis: Analysis) -> Figure | None:
    """Return what each process holds of each kind over time; None without at least two changes."""
    explained = analysis.explained
    if explained is None or explained.memory_over_time.height < 2:
        return None
    several = explained.memory_over_time["pid"].n_unique() > 1
    lines = [
        _line(own, f"{kind}, process {pid}" if several else str(kind))
        for (pid, _, kind), own in explained.memory_over_time.partition_by(
            "pid", "device", "kind", as_dict=True
        ).items()
    ][: len(_KEYS)]
    alt = "; ".join(f"{title}: at most {units.size(int(held.max()))}" for title, _, held in lines)
    return Figure(
        name="memory_use",
        section="memory",
        caption="GPU memory held over time, by kind, as CUDA allocated and released it",
        alt=alt,
        draw=lambda: _draw(lines),
        inline=Inline(
            lambda: svg(_KEYS[: len(lines)], [t for _, t, _ in lines], [held for *_, held in lines], alt),
            tuple(Kind(key, title) for key, (title, *_) in zip(_KEYS, lines, strict=False)),
        ),
    )


def _line(own: pl.DataFrame, title: str) -> Line:
    times, held = own["time"].to_numpy(), own["held_bytes"].to_numpy()
    if len(times) > MOST:
        starts = np.linspace(0, len(times), MOST, endpoint=False).astype(np.int64)
        times, held = times[starts], np.maximum.reduceat(held, starts)
    return title, times, held


def _draw(lines: list[Line]) -> "Canvas":
    ax = axes(2.2)
    for colour, (title, times, held) in zip((COLOURS[key] for key in _KEYS), lines, strict=False):
        ax.step(times, held, where="post", color=colour, label=title, linewidth=1.4)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_formatter(lambda value, _: units.ns(value))
    ax.yaxis.set_major_formatter(lambda value, _: units.size(value))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9)
    return canvas(ax)
