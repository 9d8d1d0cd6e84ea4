"""The two kinds of chart a study needs: lines over an axis, and dots in rows; published figures are hollow in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wallsplit.figures.drawing import axes, canvas
from wallsplit.text import for_people

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LOOKS = (  # Okabe and Ito's colours, and a marker so that colour is not all that tells
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    ("#8b929b", "X"),
    ("#b8860b", "<"),
    ("#6a51a3", ">"),
)
_GRID = "#8b929b55"


@dataclass(frozen=True)
class Point:
    """A value at a place of the other axis, with the range over its repeats."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Points that belong together. `look` picks colour and marker; equal looks say that two series belong together."""

    title: str
    points: tuple[Point, ...]
    look: int
    published: bool = False


def lines(
    series: Sequence[Series],
    across: str,
    up: str,
    *,
    ticks: Sequence[int] = (),
    log_across: bool = False,
    log_up: bool = False,
) -> "Canvas":
    """Return a drawing of one line per series; a published series has hollow markers and no line.

    `ticks` are the places named on the axis across, where the usual ones would not do.
    """
    ax = axes(4.2)
    for line in series:
        xs, ys = [point.at for point in line.points], [point.value for point in line.points]
        ax.errorbar(xs, ys, yerr=_errors(line), **_look(line), linestyle="none" if line.published else "-")
    if log_across:
        _logarithmic(ax, "x")
    if ticks:
        ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    if log_up:
        _logarithmic(ax, "y")
    else:
        ax.set_ylim(0, 1.06 * max(point.high or point.value for line in series for point in line.points))
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.grid(visible=True, color=_GRID, linewidth=0.5)
    _legend(ax)
    return canvas(ax)


def dots(rows: Sequence[str], series: Sequence[Series], across: str) -> "Canvas":
    """Return a drawing of one labelled row per name, each series a dot in it; the axis is logarithmic."""
    ax = axes(1.1 + 0.3 * len(rows))
    for line in series:
        xs, ys = [point.value for point in line.points], [point.at for point in line.points]
        ax.errorbar(xs, ys, xerr=_errors(line), **_look(line), linestyle="none")
    _logarithmic(ax, "x")
    ax.set_yticks(range(len(rows)), [for_people(row, 44) for row in rows], parse_math=False, fontsize=8)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(across)
    ax.grid(visible=True, axis="x", color=_GRID, linewidth=0.5)
    _legend(ax)
    return canvas(ax)


def _logarithmic(ax: "Axes", which: str) -> None:
    from matplotlib.ticker import LogLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    ax.minorticks_off()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # times often span less than a decade
    axis.set_major_formatter(lambda value, _: f"{value:g}")  # the default is a formula, which is slow to draw


def _errors(series: Series) -> list[list[float]] | None:
    if series.published or any(point.low is None or point.high is None for point in series.points):
        return None
    below = [point.value - (point.low or 0.0) for point in series.points]
    above = [(point.high or 0.0) - point.value for point in series.points]
    return [below, above]


def _look(series: Series) -> dict[str, Any]:
    colour, marker = LOOKS[series.look % len(LOOKS)]
    return {
        "label": f"{for_people(series.title, 44)}, published" if series.published else for_people(series.title, 44),
        "color": colour,
        "marker": marker,
        "markersize": 7 if series.published else 5,
        "markerfacecolor": "none" if series.published else colour,
        "linewidth": 1.4,
        "elinewidth": 0.9,
        "capsize": 2.5,
    }


def _legend(ax: "Axes") -> None:
    legend = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=8)
    for text in legend.get_texts():  # titles may come from a file: a "$" in one starts no formula
        text.set_parse_math(False)
