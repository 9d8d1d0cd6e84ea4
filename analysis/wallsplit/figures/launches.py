"""What a launch costs next to what it runs: call, queue and kernel time of the most frequent kernels."""

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.dots import Dots, Series
from wallsplit.figures.drawing import Figure, axes, canvas
from wallsplit.text import for_people

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MOST = 10
_SERIES = (  # column, what it is, marker, the part whose colour it has
    ("api_med_ns", "launch call", "o", "setup"),
    ("queue_med_ns", "waiting in the queue", "^", "cuda"),
    ("kernel_med_ns", "kernel running", "s", "computing"),
)


def launches(analysis: Analysis) -> Figure | None:
    """Return median launch, queue and kernel time of the most launched kernels, on a logarithmic axis."""
    frame = analysis.tables.get("launches")
    if frame is None or frame.is_empty():
        return None
    top = frame.sort("count", descending=True, maintain_order=True).head(MOST)
    return Figure(
        name="launches",
        section="launches",
        caption="Launching against running: medians of the most launched kernels, on a logarithmic axis",
        alt="; ".join(_in_words(row) for row in top.iter_rows(named=True)),
        draw=lambda: _draw(top),
        dots=Dots(
            tuple(f"{for_people(name, 44)}  ×{n:,}" for name, n in top.select("kernel_label", "count").iter_rows()),
            tuple(Series(title, key, tuple(top[column])) for column, title, _, key in _SERIES),
        ),
    )


def _draw(top: pl.DataFrame) -> "Canvas":
    ax = axes(1.0 + 0.3 * top.height)
    rows = range(top.height)
    for column, title, marker, key in _SERIES:
        times = [math.nan if t is None else max(t, 1) / 1e3 for t in top[column]]
        ax.scatter(times, rows, label=title, marker=marker, color=COLOURS[key], s=34)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")  # the default is a formula, which is slow to draw
    names = [f"{for_people(name, 44)}  ×{count:,}" for name, count in top.select("kernel_label", "count").iter_rows()]
    ax.set_yticks(rows, names, parse_math=False, fontsize=8)
    ax.set_ylim(top.height - 0.5, -0.5)
    ax.set_xlabel("µs")
    ax.grid(visible=True, axis="x", color="#8b929b55", linewidth=0.5)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9)
    return canvas(ax)


def _in_words(row: dict[str, Any]) -> str:
    times = (f"{what} {units.ns(row[column])}" for column, what, *_ in _SERIES if row[column] is not None)
    return f"{for_people(row['kernel_label'], 44)}: {', '.join(times)}"
