"""How much of the GPU is used: the four figures that people confuse, one below the other."""

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.words.labels import ledger_label

_FIGURES = (
    ("kernels active", "kernel_active_ratio"),
    ("SM coverage", "sm_coverage"),
    ("slot fill", "slot_fill"),
    ("warp occupancy", "warp_occupancy"),
)
_WHOLE = 1_000_000_000


def gpu_use(analysis: Analysis) -> Figure | None:
    """Return the figures of the first ledger whose SM coverage is known; None without one."""
    explained = analysis.explained.ledgers if analysis.explained else ()
    pairs = zip(analysis.ledgers, explained, strict=False)
    known = next(((ledger, why.sm) for ledger, why in pairs if why.sm and why.sm.sm_coverage is not None), None)
    if known is None:
        return None
    ledger, use = known
    bars = Bars(tuple(_bar(title, getattr(use, name)) for title, name in _FIGURES))
    whose = f" of {ledger_label(analysis, ledger)}" if len(analysis.ledgers) > 1 else ""
    return Figure(
        name="gpu_use",
        section="gpu_use",
        caption=f"The window{whose}: time with a kernel, and how much of the GPU kernels fill, by their grids",
        alt="; ".join(bar.in_words for bar in bars.bars),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def _bar(title: str, ratio: float) -> Bar:
    used = round(ratio * _WHOLE)
    return Bar(title, (Segment("computing", "used", used), Segment("host", "not used", _WHOLE - used)))
