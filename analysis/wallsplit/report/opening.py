"""What a report opens with: all that a terminal shows of it, and what costs least to make."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Report
from wallsplit.report.first_screen import first_screen
from wallsplit.text import file_name
from wallsplit.words.all_notes import BANNER


def opening(analysis: Analysis) -> Report:
    """Return the report of an analysis as far as its first screen: no figure, no section, no summary."""
    return Report(
        title=file_name(analysis.path),
        headline=analysis.headline,
        figure=None,
        sections=(),
        banner=BANNER if analysis.reconstructed else None,
        first=first_screen(analysis),
    )
