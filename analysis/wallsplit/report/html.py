"""A report as one self-contained HTML page: no network, no need for JavaScript, nothing from a trace that acts."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined

from wallsplit import __version__
from wallsplit.accounts import PARTS
from wallsplit.figures.drawing import COLOURS, Figure
from wallsplit.report.cells import cell_text, sort_key
from wallsplit.report.document import Label, Link, Report, Table
from wallsplit.text import PROSE, for_people, visible
from wallsplit.units import ns

MARK = '<meta name="generator" content="wallsplit '
"""What every page of ours carries near its top: such a file may be overwritten."""

_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=%|[mµn]?s\b)")


def html(report: Report) -> str:
    """Return the page; equal reports give equal text."""
    style, script = f"{_part_colours()}{_asset('style.css')}", _asset("sort.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = _environment().get_template("report.html.jinja")
    page = template.render(report=report, style=style, script=script, policy=policy, version=__version__)
    return page if page.endswith("\n") else f"{page}\n"


def first_screen(report: Report) -> str:
    """Return what a notebook shows of a report, as a part of its page: headline, bars and the tables of the ledger."""
    tables = [block for section in report.sections if section.key == "ledger" for block in section.blocks]
    return (
        _environment()
        .get_template("first_screen.html.jinja")
        .render(report=report, tables=[block for block in tables if isinstance(block, Table)], colours=COLOURS)
    )


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
        "is_link": lambda cell: isinstance(cell, Link),
        "people": for_people,
        "prose": lambda text: for_people(text, PROSE),
        "image": _image,
        "per_cent": lambda ratio: f"{ratio * 100:.4f}%",
        "ns": ns,
        "unbroken": lambda text: _NUMBER_AND_UNIT.sub("\u00a0", text),
    }
    environment.globals |= {"cell_text": cell_text, "sort_key": sort_key, "fact_limit": PROSE}
    return environment


@cache
def _asset(name: str) -> str:
    return (files("wallsplit.report") / "templates" / name).read_text(encoding="utf-8")


def _part_colours() -> str:
    """Return the colours of the parts (accounts.py) as CSS variables, and a class for each."""
    light = " ".join(f"--{part.key}: {part.light};" for part in PARTS)
    dark = " ".join(f"--{part.key}: {part.dark};" for part in PARTS)
    classes = "\n".join(f".c-{part.key} {{ fill: var(--{part.key}); }}" for part in PARTS)
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{classes}\n"


def _inert(value: object) -> object:
    """Return what a `{{ }}` gives; plain text, wherever it came from, with its control characters written out."""
    return visible(value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _image(figure: Figure) -> str:
    """Return the figure as a data URL: in an image, the SVG's own styles are no matter of the page's policy."""
    return f"data:image/svg+xml;base64,{base64.b64encode(figure.svg.encode()).decode()}"
