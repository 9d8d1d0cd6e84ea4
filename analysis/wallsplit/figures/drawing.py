"""Drawing: what a figure is, its colours, and its SVG. Matplotlib is imported only when something is drawn."""

import io
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wallsplit import __version__
from wallsplit.accounts import PARTS
from wallsplit.figures.bars import Bars
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.dots import Dots
from wallsplit.figures.inline import Inline
from wallsplit.frozen import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HATCHES = {part.key: part.hatch for part in PARTS if part.hatch} | {"exposed": "///"}
INK = "#787d84"  # 4 : 1 or better on white and on near-black: one figure serves light and dark pages
HEADLINE = "headline"
_WIDTH_INCHES = 8.0
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "wallsplit",  # ids in the SVG are hashes: a fixed salt makes equal input equal bytes
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "hatch.linewidth": 0.6,
    "axes.edgecolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Figure:
    """A figure of a report: what it is called, what it says in words, and how to draw it."""

    name: str
    """Part of the file name of its SVG."""
    section: str
    """The section it opens; HEADLINE: right below the headline."""
    caption: str
    alt: str
    draw: Callable[[], "Canvas | str"]
    """A drawing, or the text of an SVG."""
    bars: Bars | None = None
    """Set where the figure is nothing but bars: a renderer may draw those itself."""
    dots: Dots | None = None
    """Likewise, where it is nothing but dots."""
    inline: Inline | None = None
    """Likewise, where we have a drawing of our own for pages."""

    @cached_property
    def svg(self) -> str:
        """The figure as a standalone SVG with a transparent ground; equal figures give equal bytes."""
        from matplotlib import rc_context

        buffer = io.StringIO()
        with rc_context(SETTINGS), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a glyph that Matplotlib's own font lacks: the viewer's font has it
            metadata = {"Date": None, "Creator": f"wallsplit {__version__}", "Title": self.caption}
            drawing = self.draw()
            if isinstance(drawing, str):
                buffer.write(f'<?xml version="1.0" encoding="utf-8"?>\n{drawing}')
            else:
                drawing.savefig(buffer, format="svg", transparent=True, bbox_inches="tight", metadata=metadata)
        text = "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"
        return text.replace("?>\n", f"?>\n<!-- generator: wallsplit {__version__} -->\n", 1)


def axes(height_inches: float) -> "Axes":
    """Return the axes of a new canvas as wide as a report, without the frame's top and right."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(_WIDTH_INCHES, height_inches))
    FigureCanvasSVG(canvas)
    result = canvas.add_subplot()
    result.spines[["top", "right"]].set_visible(False)
    return result


def stacked(bars: Bars) -> "Canvas":
    """Return a drawing of horizontal stacked bars with a legend; the axis is a time, or per cent without a scale."""
    from matplotlib.patches import Patch

    unit, full = _axis(bars.scale_ns)
    ax = axes(0.9 + 0.42 * len(bars.bars))
    for row, bar in enumerate(bars.bars):
        left = 0.0
        for segment, width in zip(bar.segments, bars.widths(bar), strict=True):
            ax.barh(row, width * full, left=left, height=0.62, **_look(segment.key))
            left += width * full
    # labels may come out of the trace: a "$" in one starts no formula
    ax.set_yticks(range(len(bars.bars)), [bar.label for bar in bars.bars], parse_math=False)
    ax.set_ylim(len(bars.bars) - 0.5, -0.5)
    ax.set_xlim(0, full)
    ax.set_xlabel(unit)
    ax.tick_params(axis="y", length=0)
    ax.legend(
        handles=[Patch(label=segment.title, **_look(segment.key)) for segment in bars.legend],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        fontsize=9,
    )
    return canvas(ax)


def canvas(ax: "Axes") -> "Canvas":
    """Return the canvas that axes made by `axes` are on."""
    result = ax.get_figure(root=True)
    if result is None:
        raise ValueError("these axes are on no canvas")
    return result


def _axis(scale_ns: int | None) -> tuple[str, float]:
    """Return the unit of a bar's axis, and the full width in it."""
    if scale_ns is None:
        return "% of wall time", 100.0
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if scale_ns >= factor:
            return unit, scale_ns / factor
    return "ns", float(max(scale_ns, 1))


def _look(key: str) -> dict[str, Any]:
    return {"facecolor": COLOURS[key], "hatch": HATCHES.get(key), "edgecolor": "#00000055", "linewidth": 0.4}
