"""Time per step, in order, stacked by what it went to; the slowest marked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wallsplit import units
from wallsplit.accounts import PARTS
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.figures.drawing import COLOURS, INK, Figure, axes, canvas
from wallsplit.schema import StepAccounts
from wallsplit.why.steps import Steps
from wallsplit.words.labels import ledger_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MOST = 240
"""Columns of the chart: of more steps, neighbours share one, at their mean."""
HEADROOM = 1.6
"""Times the 95th percentile, up to which the chart reaches: what is taller is cut, or warm-up would hide the rest."""
FEWEST = 3

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Chart:
    """The chart's columns: step numbers at their edges, and the mean ns of each part."""

    edges: Floats
    parts: Floats
    """A row per part, in the order of PARTS."""
    top_ns: float
    slowest: tuple[tuple[int, int], ...]
    """Number and ns of the steps that are marked."""


def steps(analysis: Analysis) -> Figure | None:
    """Return the chart of the first ledger with steps whose accounts are known; None without one."""
    for ledger, why in zip(analysis.ledgers, analysis.explained.ledgers if analysis.explained else (), strict=False):
        if why.steps.count >= FEWEST and why.steps.accounts is not None:
            whose = f" of {ledger_label(analysis, ledger)}" if len(analysis.ledgers) > 1 else ""
            return _figure(why, why.steps.accounts, whose)
    return None


def _figure(why: Explanation, accounts: StepAccounts, whose: str) -> Figure:
    chart = _chart(why.steps, accounts)
    shared = f"; a column is the mean of about {why.steps.count / MOST:.0f} steps" if why.steps.count > MOST else ""
    is_cut = chart.parts.sum(axis=0) > chart.top_ns
    cut = f"; {int(is_cut.sum())} taller column{'s' if is_cut.sum() > 1 else ''} cut" if is_cut.any() else ""
    return Figure(
        name="steps",
        section="steps",
        caption=f"Time per step{whose}, in order, by what it went to; ▼ marks the slowest{shared}{cut}",
        alt=_in_words(why.steps, chart),
        draw=lambda: _draw(chart),
    )


def _chart(steps: Steps, accounts: StepAccounts) -> _Chart:
    parts = np.stack([accounts.select(f"{name}_ns" for name in part.accounts).sum_horizontal() for part in PARTS])
    edges = np.unique(np.linspace(0, steps.count, min(MOST, steps.count) + 1).astype(np.int64))
    means = np.add.reduceat(parts.astype(np.float64), edges[:-1], axis=1) / np.diff(edges)
    length = (steps.rows["end"] - steps.rows["start"]).to_numpy()
    top_ns = HEADROOM * float(np.quantile(length, 0.95))
    median = steps.kinds[0].med_ns if steps.kinds else 0
    slowest = tuple((step.index, step.ns) for step in steps.slowest or () if step.ns > median)
    return _Chart(edges.astype(np.float64), means, max(top_ns, 1.0), slowest)


def _draw(chart: _Chart) -> "Canvas":
    ax = axes(2.6)
    base = np.zeros(len(chart.edges) - 1)
    for part, values in zip(PARTS, chart.parts, strict=True):
        if values.any():
            top = base + values
            ax.stairs(top, chart.edges, baseline=base, fill=True, color=COLOURS[part.key], label=part.title, lw=0)
            base = top
    if chart.slowest:
        places = [index + 0.5 for index, _ in chart.slowest]
        heights = [min(ns, chart.top_ns * 0.97) for _, ns in chart.slowest]
        ax.scatter(places, heights, marker="v", s=26, color=INK, zorder=3)
    ax.set_xlim(0, chart.edges[-1])
    ax.set_ylim(0, chart.top_ns)
    ax.yaxis.set_major_formatter(lambda value, _: units.ns(value))
    ax.set_xlabel("step")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9)
    return canvas(ax)


def _in_words(steps: Steps, chart: _Chart) -> str:
    total = chart.parts @ np.diff(chart.edges)
    percents = units.largest_remainders([round(ns) for ns in total.tolist()], round(float(total.sum())))
    listed = ", ".join(f"{part.title} {percent} %" for part, percent in zip(PARTS, percents, strict=True) if percent)
    slowest = f"; the slowest steady step takes {units.ns(chart.slowest[0][1])}" if chart.slowest else ""
    return f"{units.count(steps.count)} steps: {listed}{slowest}"
