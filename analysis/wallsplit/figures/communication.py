"""Communication of each ledger: hidden and exposed."""

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.words.labels import ledger_label

MOST = 16


def communication(analysis: Analysis) -> Figure | None:
    """Return a bar per ledger that communicates; None without one."""
    explained = analysis.explained.ledgers if analysis.explained else ()
    pairs = [(ledger, why.comm) for ledger, why in zip(analysis.ledgers, explained, strict=False) if why.comm]
    if not pairs:
        return None
    rows = tuple(
        Bar(
            ledger_label(analysis, ledger),
            (
                Segment("exposed", "exposed: nothing computes meanwhile", comm.exposed_ns),
                Segment("hidden", "hidden: the GPU computes meanwhile", comm.hidden_ns),
            ),
        )
        for ledger, comm in pairs[:MOST]
    )
    bars = Bars(rows, max(row.total_ns for row in rows))
    return Figure(
        name="communication",
        section="communication",
        caption="Communication kernels: what nothing hides, and what the GPU computes beside",
        alt="; ".join(row.in_words for row in rows),
        draw=lambda: stacked(bars),
        bars=bars,
    )
