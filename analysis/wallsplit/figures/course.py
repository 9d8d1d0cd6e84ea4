"""The strip as a drawing for files: one beside a Markdown page, one of 16 : 9 for a slide."""

import io
import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wallsplit import __version__
from wallsplit.accounts import PARTS
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.drawing import HEADLINE, INK, SETTINGS, Figure, canvas
from wallsplit.figures.strip import Strip, beside_label, ticks
from wallsplit.frozen import dataclass
from wallsplit.text import PROSE, for_people
from wallsplit.words.amounts import per_cent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Theme = Literal["light", "dark"]
SLIDE_INCHES = (12.8, 7.2)
PIXELS_PER_INCH = 150
_DARK = {part.key: part.dark for part in PARTS}
_LETTERS_ACROSS = 150
"""Letters of a lane's label that fit into the width of a drawing."""


@dataclass(frozen=True)
class _Look:
    ground: str
    ink: str
    soft: str
    lane: str
    colours: dict[str, str]


_LOOKS: dict[Theme, _Look] = {
    "light": _Look("#ffffff", "#1c1f23", "#5a626c", "#e2e4e7", COLOURS),
    "dark": _Look("#14171a", "#e8eaed", "#a2abb5", "#31373d", COLOURS | _DARK),
}
_ON_ANY = _Look("none", INK, INK, "#8b929b44", COLOURS)


def course(strips: Sequence[Strip], caption: str) -> Figure | None:
    """Return the strips as a figure of a page; None without any."""
    if not strips:
        return None
    return Figure("course", HEADLINE, caption, "; ".join(strip.in_words for strip in strips), lambda: _page(strips))


def _page(strips: Sequence[Strip]) -> "Canvas":
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    drawing = Canvas(figsize=(8.0, 0.6 + sum(1.0 + 0.18 * len(strip.lanes) for strip in strips)))
    FigureCanvasSVG(drawing)
    heights = [1.0 + 0.18 * len(strip.lanes) for strip in strips]
    axes = drawing.subplots(len(strips), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, strip in zip(axes, strips, strict=True):
        _draw(ax, strip, _ON_ANY, small=7)
    _legend(axes[0], strips, _ON_ANY, anchor=(0, 1.02), size=8)
    return canvas(axes[0])


def slide(strips: Sequence[Strip], verdict: str, seconds: str, source: str, theme: Theme, kind: str) -> bytes:
    """Return a 16 : 9 picture for a slide, `kind` svg or png: the verdict, the strips, a legend with per cents, whence.

    Equal values give equal bytes.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    look, buffer = _LOOKS[theme], io.BytesIO()
    with rc_context(SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that Matplotlib's own font lacks: the viewer's font has it
        drawing = Canvas(figsize=SLIDE_INCHES, facecolor=look.ground)
        (FigureCanvasSVG if kind == "svg" else FigureCanvasAgg)(drawing)
        _write(drawing, 0.05, 0.93, textwrap.fill(for_people(verdict, PROSE), 54), look.ink, 25, weight="bold")
        _write(drawing, 0.05, 0.755, for_people(seconds, PROSE), look.soft, 13)
        axes = drawing.subplots(
            max(1, len(strips)),
            1,
            squeeze=False,
            gridspec_kw={"left": 0.05, "right": 0.95, "top": 0.70, "bottom": 0.30, "hspace": 0.25},
        )[:, 0]
        for ax, strip in zip(axes, strips, strict=False):
            _draw(ax, strip, look, small=11)
        if strips:
            _legend(
                axes[-1], strips, look, anchor=(0, -0.16 * len(strips) - 0.08), size=13, loc="upper left", shares=True
            )
        else:
            axes[0].set_axis_off()
        _write(drawing, 0.05, 0.045, f"{for_people(source, PROSE)} · made by wallsplit {__version__}", look.soft, 11)
        metadata: dict[str, Any] = (
            {"Date": None, "Creator": f"wallsplit {__version__}"}
            if kind == "svg"
            else {"Software": f"wallsplit {__version__}"}
        )
        drawing.savefig(buffer, format=kind, dpi=PIXELS_PER_INCH, facecolor=look.ground, metadata=metadata)
    return buffer.getvalue()


def _write(drawing: "Canvas", x: float, y: float, text: str, colour: str, size: float, **how: Any) -> None:
    drawing.text(x, y, text, color=colour, fontsize=size, va="top", parse_math=False, **how)


def _draw(ax: "Axes", strip: Strip, look: _Look, small: float) -> None:
    edges = strip.bounds.astype(np.float64)
    base = np.zeros(len(strip.shares))
    for kind, values in zip(strip.kinds, strip.shares.T, strict=True):
        ax.stairs(base + values, edges, baseline=base, fill=True, color=look.colours[kind.key], lw=0)
        base = base + values
    for row, lane in enumerate(strip.lanes):
        top = -0.06 - 0.2 * row
        for beside in lane:
            ax.fill_between(
                [beside.start_ns, beside.end_ns], top - 0.17, top, facecolor=look.lane, edgecolor=look.ground, lw=1.0
            )
            label = beside_label(beside)
            if len(label) <= (strip.place(beside.end_ns) - strip.place(beside.start_ns)) * _LETTERS_ACROSS:
                ax.text(
                    beside.start_ns,
                    top - 0.085,
                    f" {label}",
                    fontsize=small * 0.85,
                    color=look.ink,
                    va="center",
                    parse_math=False,
                    clip_on=True,
                )
    bottom = -0.06 - 0.2 * len(strip.lanes) if strip.lanes else 0.0
    if strip.steady and strip.place(strip.steady[0]) >= 0.005:
        ax.plot([strip.steady[0]] * 2, [bottom, 1], color=look.ink, lw=1.2, linestyle=(0, (4, 3)))
        box = {"facecolor": look.ground, "edgecolor": "none", "pad": 1, "alpha": 0.8} if look.ground != "none" else None
        place = (strip.steady[0], 1)
        how: dict[str, Any] = {"textcoords": "offset points", "va": "top", "fontsize": small, "color": look.ink}
        ax.annotate("steady from here", place, (4, -3), bbox=box, **how)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom, 1)
    times = ticks(strip.start_ns, strip.end_ns)
    ax.set_xticks([time for time, _ in times], [label for _, label in times], fontsize=small, color=look.soft)
    ax.set_yticks([])
    ax.set_facecolor("none")
    ax.tick_params(axis="x", length=2, color=look.soft)
    ax.spines[:].set_visible(False)
    if strip.label:
        ax.set_title(strip.label, loc="left", fontsize=small, color=look.soft, pad=2)


def _legend(
    ax: "Axes",
    strips: Sequence[Strip],
    look: _Look,
    *,
    anchor: tuple[float, float],
    size: float,
    loc: Literal["lower left", "upper left"] = "lower left",
    shares: bool = False,
) -> None:
    from matplotlib.patches import Patch

    totals: dict[str, list[float]] = {}
    titles = {}
    for strip in strips:
        for kind, share in strip.totals:
            totals.setdefault(kind.key, []).append(share)
            titles[kind.key] = kind.title
    handles = [
        Patch(
            facecolor=look.colours[key],
            label=f"{titles[key]}  {per_cent(sum(values) / len(strips))}" if shares else titles[key],
        )
        for key, values in totals.items()
    ]
    ax.legend(
        handles=handles,
        loc=loc,
        bbox_to_anchor=anchor,
        ncols=3,
        frameon=False,
        fontsize=size,
        labelcolor=look.ink,
        borderaxespad=0,
    )
