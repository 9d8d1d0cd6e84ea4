"""The one error family. A message says what was found, where, and what to do; the command line alone prints it."""


class WallsplitError(Exception):
    """Something the user can act on; its text is one complete line."""


class TraceError(WallsplitError):
    """The file is no trace this library can read."""


class WindowError(WallsplitError):
    """The window asked for does not exist in the trace."""


class ReportError(WallsplitError):
    """A report cannot be written where it was asked for."""


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


class SavedAnalysisError(WallsplitError):
    """What should be a saved analysis is none that can be read."""


class LedgerError(WallsplitError):
    """The accounts of a ledger do not add up to its window: a defect of this program, never of the user."""


class SchemaError(WallsplitError):
    """A frame lacks a column or has one of another type: a defect of this program, never of the user."""
