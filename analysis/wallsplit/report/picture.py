"""The picture of one trace for a slide."""

from wallsplit.analysis import Analysis
from wallsplit.figures.course import Theme, slide
from wallsplit.figures.strip import strips
from wallsplit.report.first_screen import context
from wallsplit.text import file_name
from wallsplit.words.all_notes import BANNER
from wallsplit.words.seconds import seconds
from wallsplit.words.verdict import verdict


def picture(analysis: Analysis, theme: Theme, kind: str) -> bytes:
    """Return the file's bytes, `kind` svg or png; a reconstruction says so in its source line."""
    whence = (file_name(analysis.path), context(analysis), BANNER.split(":")[0] if analysis.reconstructed else "")
    source = " · ".join(part for part in whence if part)
    return slide(strips(analysis), verdict(analysis), seconds(analysis), source, theme, kind)
