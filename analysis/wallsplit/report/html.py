"""A report as one self-contained HTML page: no network, no need for JavaScript, nothing from a trace that acts."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from wallsplit import __version__
from wallsplit.accounts import PARTS
from wallsplit.figures import dots, step_chart, strip_svg
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.drawing import Figure
from wallsplit.figures.inline import Kind
from wallsplit.figures.strip import PHASE_KEYS, Strip
from wallsplit.report.cells import cell_text, sort_key
from wallsplit.report.document import Label, Link, Report, Split
from wallsplit.text import PROSE, for_people, visible
from wallsplit.units import ns

MARK = '<meta name="generator" content="wallsplit '
"""What every page of ours carries near its top: such a file may be overwritten."""

_OF_PHASES = dict(zip(PHASE_KEYS, (0, 2, 5, 1, 4), strict=True))
"""The colours of the parts, told apart best first, serve phases of host code too: a page shows either."""
_SEPARATORS = re.compile(r"([_.:/-])(?=\w)")
_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=%|[mµn]?s\b)")
_HELD = 36
"""Characters that fit into a line of a telephone."""
_HYPHENATED = re.compile(r"[\w-]{0,20}\w-\w[\w-]{0,20}")
_CODE = re.compile(
    r"--[a-z][a-z-]*(?:=\w+)?"  # an option
    r"|\b[A-Za-z]\w*(?:\.\w+)+(?:\([^()]*\))?"  # a name in a module, a call of it
    r"|\b[A-Za-z]+_\w+(?:=\w+)?"  # a name with underscores
    r"|\bcuda[A-Z]\w+"
)


def html(report: Report) -> str:
    """Return the page; equal reports give equal text."""
    style, script = f"{_part_colours()}{_asset('style.css')}", _asset("sort.js") + _asset("strip.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = _environment().get_template("report.html.jinja")
    page = template.render(report=report, style=style, script=script, policy=policy, version=__version__)
    return page if page.endswith("\n") else f"{page}\n"


def first_screen(report: Report) -> str:
    """Return the first screen as a part of someone else's page, such as a notebook."""
    return _environment().get_template("first_screen.html.jinja").render(report=report, colours=COLOURS)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
    )
    environment.filters |= {
        "kind": lambda block: type(block).__name__,
        "href": lambda link: f"{quote(link.stem)}.html",
        "whole": lambda cell: cell.whole if isinstance(cell, Label) else None,
        "is_split": lambda cell: isinstance(cell, Split),
        "is_link": lambda cell: isinstance(cell, Link),
        "people": for_people,
        "prose": lambda text: for_people(text, PROSE),
        "image": _image,
        "per_cent": lambda ratio: f"{ratio * 100:.4f}%",
        "ns": ns,
        "unbroken": lambda text: _NUMBER_AND_UNIT.sub("\u00a0", text),
        "sentence": _sentence,
        "coded": _coded,
        "broken": _at_separators,
        "drawn": lambda strip, tall, axis: _svg(strip_svg.svg(strip, tall=tall, axis=axis)),
        "drawn_steps": lambda chart: _svg(step_chart.svg(chart)),
        "dots": lambda row, of: _svg(dots.svg(of, row)),
        "inline": lambda inline: _svg(inline.svg()),
        "axis": lambda of: _svg(dots.axis(of)),
        "kinds": _kinds,
    }
    environment.globals |= {
        "cell_text": cell_text,
        "sort_key": sort_key,
        "fact_limit": PROSE,
        "keys": _keys,
        "legend_mark": dots.legend_mark,
    }
    return environment


@cache
def _asset(name: str) -> str:
    return (files("wallsplit.report") / "templates" / name).read_text(encoding="utf-8")


def _part_colours() -> str:
    """Return the colours of the parts (accounts.py) as CSS variables, and a class for each."""
    light = " ".join(f"--{part.key}: {part.light};" for part in PARTS)
    dark = " ".join(f"--{part.key}: {part.dark};" for part in PARTS)
    classes = "\n".join(f".c-{part.key} {{ fill: var(--{part.key}); }}" for part in PARTS)
    classes += "".join(f"\n.l-{part.key} {{ stroke: var(--{part.key}); }}" for part in PARTS)
    classes += "".join(f"\n.c-{key} {{ fill: var(--{PARTS[i].key}); }}" for key, i in _OF_PHASES.items())
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{classes}\n"


def _inert(value: object) -> object:
    """Return what a `{{ }}` gives; plain text, wherever it came from, with its control characters written out."""
    return visible(value) if type(value) is str else value


def _keys(report: Report) -> dict[str, str]:
    """Return the titles of the sections by their keys."""
    return {section.key: section.title for section in report.sections}


def _svg(drawn: str) -> Markup:
    """Return a drawing of ours, whose texts are escaped where it is drawn."""
    return Markup(drawn)  # noqa: S704


def _kinds(strips: Sequence[Strip]) -> list[Kind]:
    """Return what the strips stack, each once, in order."""
    return list({kind.key: kind for strip in strips for kind in strip.kinds}.values())


def _sentence(text: str) -> Markup:
    """Return a text whose numbers keep their units and whose hyphenated words are not broken at the hyphen."""
    return _marked(_NUMBER_AND_UNIT.sub("\u00a0", text), _HYPHENATED, "span")


def _coded(text: str) -> Markup:
    """Return a text in which options, calls and names of code look like code."""
    return _marked(text, _CODE, "code")


def _marked(text: str, pattern: re.Pattern[str], element: str) -> Markup:
    """Return a text in which what matches is an element of that kind, held on one line unless it is long."""
    pieces, at = [], 0
    for match in pattern.finditer(text):
        held = Markup(' class="held"') if len(match[0]) <= _HELD else ""
        marked = Markup("<{0}{1}>{2}</{0}>").format(element, held, visible(match[0]))
        pieces += [escape(visible(text[at : match.start()])), marked]
        at = match.end()
    return Markup("").join([*pieces, escape(visible(text[at:]))])


def _at_separators(text: str) -> Markup:
    """Return a name that may break behind the separators in it, and nowhere else unless it has to."""
    return Markup(_SEPARATORS.sub(r"\1<wbr>", str(escape(visible(text)))))  # noqa: S704 - escaped


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _image(figure: Figure) -> str:
    """Return the figure as a data URL: in an image, the SVG's own styles are no matter of the page's policy."""
    return f"data:image/svg+xml;base64,{base64.b64encode(figure.svg.encode()).decode()}"
