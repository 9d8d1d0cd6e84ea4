"""What the numbers can and cannot say."""

from wallsplit.analysis import Analysis, Note
from wallsplit.report.document import Remarks, Section

BANNER = "Reconstructed trace: written from published figures, not recorded. Every number below follows from them."


def remarks(analysis: Analysis, _top: int) -> Section | None:
    """Return the notes, the gravest first; None without any."""
    notes = all_notes(analysis)
    return Section("notes", "Notes", (Remarks(notes),)) if notes else None


def all_notes(analysis: Analysis) -> tuple[Note, ...]:
    """Return the notes of the analysis, the gravest first; of a reconstruction also that it is one, and how."""
    levels = ("error", "warning", "info")
    notes = sorted(analysis.notes, key=lambda note: levels.index(note.level))
    if not analysis.reconstructed:
        return tuple(notes)
    assumptions = [Note("info", f"Assumption: {text}") for text in analysis.assumptions]
    return (Note("warning", BANNER), *notes, *assumptions)
