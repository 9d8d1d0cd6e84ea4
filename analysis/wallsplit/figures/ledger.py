"""Where each ledger's wall time went, as one stacked bar per ledger."""

from typing import Literal

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import HEADLINE, Figure, stacked
from wallsplit.ledger.ledger import Ledger
from wallsplit.words.headline import Share, shares
from wallsplit.words.labels import ledger_label

MOST = 16
"""Bars of one figure: more say less."""


def ledger(analysis: Analysis) -> Figure | None:
    """Return the bars of the ledgers, on one scale; None without a ledger."""
    shown = analysis.ledgers[:MOST]
    if not shown:
        return None
    bars = Bars(tuple(bar(ledger_label(analysis, x), x) for x in shown), max(x.wall_ns for x in shown))
    left_out = f" (the first {MOST} of {len(analysis.ledgers)})" if len(analysis.ledgers) > MOST else ""
    return Figure(
        name="ledger",
        section=HEADLINE,
        caption=f"Where the wall time went{left_out}",
        alt="; ".join(one.in_words for one in bars.bars),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def bar(label: str, ledger: Ledger) -> Bar:
    """Return a ledger as a bar of the headline's parts."""
    return Bar(label, tuple(_segment(ledger, share) for share in shares([ledger])))


def _segment(ledger: Ledger, share: Share) -> Segment:
    title = share.part.title if ledger.device is not None else share.part.without_device or share.part.title
    return Segment(share.part.key, title, share.time_ns, _bound(ledger, share))


def _bound(ledger: Ledger, share: Share) -> Literal["", "≥ ", "≤ "]:
    if ledger.device is None or ledger.gpu_complete is not False:
        return ""
    return "≥ " if share.part.on_gpu else "≤ "
