"""How to read a report."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Paragraph, Section

_TEXTS = (
    (
        "Every instant of the window is booked to exactly one account, the first in the ledger's order that is "
        "active. The order is a convention: while the GPU works, the time is the GPU's, whatever the host does "
        "meanwhile. That is why the accounts add up to the wall time, and why a CUDA call appears there only with "
        "the part that ran while the GPU was idle."
    ),
    (
        "GPU busy is the time in which any GPU operation runs, divided by wall time. It says nothing about how much "
        "of the GPU is used meanwhile. Kernels active counts kernels and graph replays only, as nvidia-smi's "
        "utilisation does."
    ),
    (
        "A large share of host code, or of CUDA calls with the GPU idle, means that the GPU waits for the program: "
        "look at data loading, at small kernels launched one by one, at copies and synchronisation in the inner "
        "loop."
    ),
    (
        "“≥” marks a lower bound: not all GPU work was recorded; “≤” marks an upper bound, for the same reason. “Not "
        "measured” means that the trace cannot tell; it never means zero. “Of listed” is a share of the sum of the "
        "rows of that table, as nsys prints it, not of wall time."
    ),
)

_ARITHMETIC = (
    "Arithmetic, modelled, is FLOPs ÷ peak: the least time it takes. GPU work, measured, is the time in which a kernel "
    "or a CUDA graph ran: the most it can have taken. Overhead is derived, wall − arithmetic, and known only as the "
    "interval these two give. FLOP utilisation is FLOPs ÷ (peak × wall)."
)


def reading(analysis: Analysis, _top: int) -> Section | None:
    """Return a short guide for someone who reads such a report for the first time."""
    texts = _TEXTS if analysis.arithmetic is None else (*_TEXTS, _ARITHMETIC)
    return Section("reading", "How to read this", tuple(Paragraph(text) for text in texts))
