"""One analysis becomes one report."""

import shlex
from dataclasses import replace
from pathlib import PurePath

from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.drawing import HEADLINE, Figure
from wallsplit.report.document import Report, Section
from wallsplit.report.opening import opening
from wallsplit.report.sections import SECTIONS
from wallsplit.report.summary import summary_of
from wallsplit.text import file_stem, visible

TOP = 20
"""Rows of a long table that people read unless they ask for more."""


def report(analysis: Analysis, top: int = TOP) -> Report:
    """Return what there is to say about an analysis; long tables cut to their first `top` rows."""
    opened = opening(analysis)
    figures = [figure for draw in FIGURES if (figure := draw(analysis))]
    sections = [section for make in SECTIONS if (section := make(analysis, top))]
    return replace(
        opened,
        figure=next((figure for figure in figures if figure.section == HEADLINE), None),
        sections=tuple(_opened_by(figures, section) for section in sections),
        summary=summary_of(analysis, opened.first) if opened.first else "",
        export=_export(analysis),
    )


def _export(analysis: Analysis) -> str:
    """Return the command, for the trace's own folder; a name that cannot be seen, and so not typed, has none."""
    path = PurePath(analysis.path)
    if visible(path.name) != path.name:
        return ""
    trace = f"./{path.name}" if path.name.startswith("-") else path.name
    return f"wallsplit export {shlex.quote(trace)} -o {shlex.quote(f'{file_stem(path.stem)}.pftrace')}"


def _opened_by(figures: list[Figure], section: Section) -> Section:
    own = (figure for figure in figures if figure.section == section.key)
    return replace(section, blocks=(*own, *section.blocks))
