"""What the numbers can and cannot say."""

from wallsplit.analysis import Analysis
from wallsplit.note import LEVELS, Note
from wallsplit.report.document import Paragraph, Remarks, Section

BANNER = "Reconstructed trace: written from published figures and the assumptions its report lists, not recorded."


def remarks(analysis: Analysis, _top: int) -> Section | None:
    """Return what must be known before the numbers are believed, the gravest first; None without any."""
    notes = tuple(note for note in _gravest_first(analysis) if note.level != "info")
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


def all_notes(analysis: Analysis) -> tuple[Note, ...]:
    """Return the notes, the gravest first; with what a page says in its banner, where the trace is a reconstruction."""
    notes = _gravest_first(analysis)
    if not analysis.reconstructed:
        return notes
    listed = (Note("assumption", "info", f"Assumption: {text}") for text in analysis.assumptions)
    return (Note("reconstructed", "warning", BANNER), *notes, *listed)


def _gravest_first(analysis: Analysis) -> tuple[Note, ...]:
    return tuple(sorted(analysis.notes, key=lambda note: LEVELS.index(note.level)))
