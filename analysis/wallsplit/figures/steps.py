"""Time per step, in order, stacked by what it went to; the slowest marked."""

from typing import TYPE_CHECKING

import numpy as np

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.drawing import INK, Figure, axes, canvas
from wallsplit.figures.inline import Inline
from wallsplit.figures.step_chart import FEWEST, MOST, StepChart, chart_of, svg
from wallsplit.words.labels import ledger_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def steps(analysis: Analysis) -> Figure | None:
    """Return the chart of the first ledger with steps whose accounts are known; None without one."""
    for ledger, why in zip(analysis.ledgers, analysis.explained.ledgers if analysis.explained else (), strict=False):
        if why.steps.count >= FEWEST and why.steps.accounts is not None:
            whose = f" of {ledger_label(analysis, ledger)}" if len(analysis.ledgers) > 1 else ""
            return _figure(chart_of(why.steps), whose)
    return None


def _figure(chart: StepChart, whose: str) -> Figure:
    shared = f"; a column is the mean of about {chart.count / MOST:.0f} steps" if chart.count > MOST else ""
    is_cut = chart.ns.sum(axis=1) > chart.top_ns
    cut = f"; {int(is_cut.sum())} taller column{'s' if is_cut.sum() > 1 else ''} cut" if is_cut.any() else ""
    return Figure(
        name="steps",
        section="steps",
        caption=f"Time per step{whose}, in order, by what it went to; ▼ marks the slowest{shared}{cut}",
        alt=_in_words(chart),
        draw=lambda: _draw(chart),
        inline=Inline(lambda: svg(chart), chart.kinds),
    )


def _draw(chart: StepChart) -> "Canvas":
    ax = axes(2.6)
    base, edges = np.zeros(len(chart.ns)), chart.edges.astype(np.float64)
    for kind, values in zip(chart.kinds, chart.ns.T, strict=True):
        top = base + values
        ax.stairs(top, edges, baseline=base, fill=True, color=COLOURS[kind.key], label=kind.title, lw=0)
        base = top
    if chart.slowest:
        places = [index + 0.5 for index, *_ in chart.slowest]
        heights = [min(ns, chart.top_ns * 0.97) for *_, ns in chart.slowest]
        ax.scatter(places, heights, marker="v", s=26, color=INK, zorder=3)
    ax.set_xlim(0, edges[-1])
    ax.set_ylim(0, chart.top_ns)
    ax.yaxis.set_major_formatter(lambda value, _: units.ns(value))
    ax.set_xlabel("step")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9)
    return canvas(ax)


def _in_words(chart: StepChart) -> str:
    total = np.diff(chart.edges) @ chart.ns
    percents = units.largest_remainders([round(ns) for ns in total.tolist()], round(float(total.sum())))
    listed = ", ".join(
        f"{kind.title} {percent} %" for kind, percent in zip(chart.kinds, percents, strict=True) if percent
    )
    slowest = f"; the slowest steady step takes {units.ns(chart.slowest[0][-1])}" if chart.slowest else ""
    return f"{units.count(chart.count)} steps: {listed}{slowest}"
