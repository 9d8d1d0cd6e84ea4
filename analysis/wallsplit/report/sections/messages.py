"""All that nsys said about its own recording."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Paragraph, Section
from wallsplit.report.sections.summaries import Shown, table

_SHOWN = (
    Shown("text", "message"),
    Shown("severity", "severity"),
    Shown("pid", "process"),
    Shown("count", "count", "count"),
    Shown("standing", "standing"),
)
_STANDING = (
    "Refuted: the trace has the very rows that the message misses. Other process: it is about a process that this "
    "analysis has no ledger of. A warning that stands is quoted among the notes."
)


def messages(analysis: Analysis, _top: int) -> Section | None:
    """Return nsys' messages, all of them; None without any."""
    frame = analysis.tables.get("nsys_messages")
    if frame is None or frame.is_empty():
        return None
    blocks = (Paragraph(_STANDING), table(frame, "What nsys said about this recording", _SHOWN, frame.height))
    return Section("nsys_messages", "Messages of nsys", blocks, folded=True)
