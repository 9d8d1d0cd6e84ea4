"""Where each ledger's wall time went, as one stacked bar per ledger."""

from typing import Literal

import numpy as np

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import HEADLINE, Figure, stacked
from wallsplit.figures.strip import by_phase
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
    """Return a ledger as a bar of the headline's parts; without any CUDA row, of the parts of host code."""
    if ledger.device is None and ledger.host_parts and ledger.accounts["cuda.launch"] is None:
        table = np.array([list(ledger.host_parts.values())], np.int64)
        kinds, sums = by_phase(tuple(ledger.host_parts), table)
        return Bar(label, tuple(Segment(k.key, k.title, ns) for k, ns in zip(kinds, sums[0].tolist(), strict=True)))
    return Bar(label, tuple(_segment(ledger, share) for share in shares([ledger])))


def _segment(ledger: Ledger, share: Share) -> Segment:
    title = share.part.title if ledger.device is not None else share.part.without_device or share.part.title
    return Segment(share.part.key, title, share.time_ns, _bound(ledger, share))


def _bound(ledger: Ledger, share: Share) -> Literal["", "≥ ", "≤ "]:
    if ledger.device is None or ledger.gpu_complete is not False:
        return ""
    return "≥ " if share.part.on_gpu else "≤ "
