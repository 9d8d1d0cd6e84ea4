"""The notes of an analysis as a program gets them: all of them, and what a page says elsewhere."""

from wallsplit.analysis import Analysis
from wallsplit.note import LEVELS, Note

BANNER = "Reconstructed trace: written from published figures and the assumptions its report lists, not recorded."


def all_notes(analysis: Analysis) -> tuple[Note, ...]:
    """Return the notes, the gravest first; with what a page says in its banner, where the trace is a reconstruction."""
    notes = gravest_first(analysis)
    if not analysis.reconstructed:
        return notes
    listed = (Note("assumption", "info", f"Assumption: {text}") for text in analysis.assumptions)
    return (Note("reconstructed", "warning", BANNER), *notes, *listed)


def gravest_first(analysis: Analysis) -> tuple[Note, ...]:
    """Return the notes, the gravest first."""
    return tuple(sorted(analysis.notes, key=lambda note: LEVELS.index(note.level)))
