"""Wall time, GPU work measured and arithmetic modelled on one logarithmic axis: per window, epoch and step."""

import math
from typing import TYPE_CHECKING

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.arithmetic.work import Work
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.dots import Dots, Series
from wallsplit.figures.drawing import Figure, axes, canvas
from wallsplit.words.labels import ledger_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAMES = {"window": "window", "epoch": "mean epoch", "step": "mean step", "validation_step": "mean validation step"}
_SERIES = (  # what it is, marker, the part whose colour it has
    ("wall time", "o", "host"),
    ("GPU work, measured", "^", "cuda"),
    ("arithmetic, modelled: FLOPs ÷ peak", "s", "computing"),
)


def arithmetic(analysis: Analysis) -> Figure | None:
    """Return the times of the first ledger whose arithmetic is known; None without one."""
    pairs = zip(analysis.ledgers, analysis.arithmetic or (), strict=False)
    shown = next(
        ((led, arithmetic) for led, arithmetic in pairs if any(w.modelled_ns is not None for w in arithmetic.works)),
        None,
    )
    if shown is None:
        return None
    ledger, works = shown[0], shown[1].works
    of = f" of {ledger_label(analysis, ledger)}" if len(analysis.ledgers) > 1 else ""
    return Figure(
        name="arithmetic",
        section="arithmetic",
        caption=f"Wall time and arithmetic{of}, on a logarithmic axis: each grid line is ten times the one before",
        alt="; ".join(_in_words(work) for work in works),
        draw=lambda: _draw(works),
        dots=Dots(
            tuple(f"{NAMES[work.per]}  ×{work.count:,}" for work in works),
            tuple(Series(title, key, tuple(_times(w)[i] for w in works)) for i, (title, _, key) in enumerate(_SERIES)),
        ),
    )


def _times(work: Work) -> tuple[int | None, ...]:
    return work.wall_ns, work.measured_at_most_ns, work.modelled_ns


def _draw(works: tuple[Work, ...]) -> "Canvas":
    ax = axes(1.1 + 0.42 * len(works))
    rows = range(len(works))
    for number, (title, marker, key) in enumerate(_SERIES):
        times = [math.nan if not t else t / 1e3 for t in (_times(work)[number] for work in works)]
        if not all(map(math.isnan, times)):
            ax.scatter(times, rows, label=title, marker=marker, color=COLOURS[key], s=46, zorder=3)
    for row, work in enumerate(works):
        known = [t / 1e3 for t in _times(work) if t]
        ax.plot([min(known), max(known)], [row, row], color="#8b929b88", linewidth=1.2)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: units.ns(value * 1e3))
    ax.set_yticks(rows, [f"{NAMES[work.per]}  ×{work.count:,}" for work in works])
    ax.set_ylim(len(works) - 0.5, -0.5)
    ax.set_xlabel("time, logarithmic")
    ax.grid(visible=True, axis="x", color="#8b929b55", linewidth=0.5)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9)
    return canvas(ax)


def _in_words(work: Work) -> str:
    times = (f"{title} {units.ns(t)}" for (title, *_), t in zip(_SERIES, _times(work), strict=True) if t is not None)
    return f"{NAMES[work.per]}: {', '.join(times)}"
