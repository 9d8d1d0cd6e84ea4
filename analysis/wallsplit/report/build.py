"""One analysis becomes one report."""

from dataclasses import replace

from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.drawing import HEADLINE, Figure
from wallsplit.report.document import Report, Section
from wallsplit.report.first_screen import first_screen
from wallsplit.report.sections import SECTIONS
from wallsplit.report.summary import summary_of
from wallsplit.text import file_name
from wallsplit.words.all_notes import BANNER

TOP = 20
"""Rows of a long table that people read unless they ask for more."""


def report(analysis: Analysis, top: int = TOP) -> Report:
    """Return what there is to say about an analysis; long tables cut to their first `top` rows."""
    first = first_screen(analysis)
    figures = [figure for draw in FIGURES if (figure := draw(analysis))]
    sections = [section for make in SECTIONS if (section := make(analysis, top))]
    return Report(
        title=file_name(analysis.path),
        headline=analysis.headline,
        figure=next((figure for figure in figures if figure.section == HEADLINE), None),
        sections=tuple(_opened_by(figures, section) for section in sections),
        banner=BANNER if analysis.reconstructed else None,
        first=first,
        summary=summary_of(analysis, first),
    )


def _opened_by(figures: list[Figure], section: Section) -> Section:
    own = (figure for figure in figures if figure.section == section.key)
    return replace(section, blocks=(*own, *section.blocks))
