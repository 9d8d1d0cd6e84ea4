"""What of a trace fits into a row among others."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import AtLeast, Cell
from wallsplit.text import file_name
from wallsplit.words.speakers import speakers


def trace_name(analysis: Analysis) -> str:
    """Return the file's name without the suffix that every export has."""
    return file_name(analysis.path).removesuffix(".sqlite")


def steps_per_s(analysis: Analysis) -> float | None:
    """Return the steady steps of the first speaker per second of their time."""
    for speaker in speakers(analysis):
        if speaker.is_steady and speaker.why.steps.kinds:
            return speaker.why.steps.steady_count * 1e9 / speaker.scope_ns if speaker.scope_ns else None
    return None


def mean_busy(analysis: Analysis) -> Cell:
    """Return the mean busy ratio over the physical GPUs in use."""
    ratios = analysis.gpus["busy_ratio"].drop_nulls().to_list()
    if not ratios:
        return None
    mean = sum(ratios) / len(ratios)
    lacking = any(ledger.gpu_complete is False for ledger in analysis.ledgers if ledger.gpu is not None)
    return AtLeast(mean) if lacking else mean
