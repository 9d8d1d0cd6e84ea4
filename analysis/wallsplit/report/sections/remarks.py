"""What the numbers can and cannot say."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Paragraph, Remarks, Section
from wallsplit.words.all_notes import gravest_first


def remarks(analysis: Analysis, _top: int) -> Section | None:
    """Return what must be known before the numbers are believed, the gravest first; None without any."""
    notes = tuple(note for note in gravest_first(analysis) if note.level != "info")
    return Section("notes", "Notes", (Remarks(notes),)) if notes else None


def further_remarks(analysis: Analysis, _top: int) -> Section | None:
    """Return the notes that change nothing about the numbers; None without any."""
    notes = tuple(note for note in analysis.notes if note.level == "info")
    return Section("further_notes", "Further notes", (Remarks(notes),)) if notes else None


def assumptions(analysis: Analysis, _top: int) -> Section | None:
    """Return what a reconstructed trace assumes, a paragraph each; None for a recorded one."""
    if not analysis.reconstructed or not analysis.assumptions:
        return None
    listed = tuple(Paragraph(f"{number}. {text}") for number, text in enumerate(analysis.assumptions, 1))
    return Section("assumptions", "Assumptions", listed)
