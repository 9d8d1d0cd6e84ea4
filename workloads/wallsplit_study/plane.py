"""A chart of the plane of model and batch: where each of two processors is faster, and the curve between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wallsplit.figures.drawing import INK, axes, canvas
from wallsplit.text import for_people
from wallsplit_study.charts import LOOKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Place = tuple[float, float]
"""Across and up, both from 1 on: both axes are logarithmic."""


@dataclass(frozen=True)
class Marks:
    """Places of one kind."""

    title: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Curve:
    """Places joined by a line; dashed where it is modelled and not measured."""

    title: str
    places: tuple[Place, ...]
    modelled: bool


@dataclass(frozen=True)
class Corner:
    """All that lies left of one place and below it, outlined."""

    title: str
    place: Place


def plane(marks: Sequence[Marks], curves: Sequence[Curve], corner: Corner, across: str, up: str) -> "Canvas":
    """Return a drawing of marks, curves and a corner of the plane on logarithmic axes."""
    ax = axes(4.2)
    for mark, (colour, marker) in zip(marks, LOOKS, strict=False):
        xs, ys = ([place[axis] for place in mark.places] for axis in (0, 1))
        ax.scatter(xs, ys, s=34, color=colour, marker=marker, label=for_people(mark.title, 44))
    for curve, (colour, _) in zip(curves, LOOKS[2:], strict=False):
        xs, ys = ([place[axis] for place in curve.places] for axis in (0, 1))
        style = "--" if curve.modelled else "-"
        ax.plot(xs, ys, color=colour, linestyle=style, linewidth=1.6, label=for_people(curve.title, 44))
    every = [place for mark in marks for place in mark.places]
    left, bottom = (0.7 * min(place[axis] for place in every) for axis in (0, 1))
    right, top = corner.place
    ax.plot([left, right, right], [top, top, bottom], color=INK, linestyle=":", label=for_people(corner.title, 60))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(left=left)
    ax.set_ylim(bottom=bottom)
    ax.minorticks_off()
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8)
    return canvas(ax)
