"""The one error family. A message says what was found, where, and what to do; the command line alone prints it."""

from wallsplit.text import PROSE, shorten


class WallsplitError(Exception):
    """Something the user can act on; its text is one complete line, without its middle where a file made it long."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message, PROSE))


class TraceError(WallsplitError):
    """The file is no trace this library can read."""


class WindowError(WallsplitError):
    """The window asked for does not exist in the trace."""


class ReportError(WallsplitError):
    """A report cannot be written where it was asked for."""


class SectionError(WallsplitError):
    """The report has no section of the name that the user asked for."""


class ManifestError(WallsplitError):
    """A run manifest is malformed."""


class FlopsError(WallsplitError):
    """The FLOPs or the peak that the user gave cannot be right for this trace."""


class PhaseRulesError(WallsplitError):
    """The user's rules on which range names are which phase cannot be read."""


class ClassRulesError(WallsplitError):
    """The user's rules on which code is of which class of CPU samples cannot be read."""


class CaptureError(WallsplitError):
    """A program cannot be profiled, or its report not exported, as asked."""


class ComparisonError(WallsplitError):
    """Traces cannot be compared as asked."""


class BudgetError(WallsplitError):
    """The budgets that traces are checked against, or their baseline, cannot be read or do not apply."""


class SavedAnalysisError(WallsplitError):
    """What should be a saved analysis is none that can be read."""


class ExportError(WallsplitError):
    """A trace cannot be handed on, or written in another format, as asked."""


class LedgerError(WallsplitError):
    """The accounts of a ledger do not add up to its window: a defect of this program, never of the user."""


class SchemaError(WallsplitError):
    """A frame lacks a column or has one of another type: a defect of this program, never of the user."""
