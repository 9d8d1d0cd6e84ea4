"""Where each ledger's wall time went, as one stacked bar per ledger."""

from typing import Literal

import numpy as np

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import HEADLINE, Figure, stacked
from wallsplit.figures.strip import by_phase
from wallsplit.ledger.ledger import Ledger
from wallsplit.why.course import Course
from wallsplit.words.headline import Share, shares
from wallsplit.words.labels import ledger_label

MOST = 16
"""Bars of one figure: more say less."""


def ledger(analysis: Analysis) -> Figure | None:
    """Return the bars of the ledgers, on one scale; None without a ledger."""
    shown = analysis.ledgers[:MOST]
    if not shown:
        return None
    courses = courses_of(analysis)
    bars = Bars(
        tuple(bar(ledger_label(analysis, x), x, course) for x, course in zip(shown, courses, strict=False)),
        max(x.wall_ns for x in shown),
    )
    left_out = f" (the first {MOST} of {len(analysis.ledgers)})" if len(analysis.ledgers) > MOST else ""
    return Figure(
        name="ledger",
        section=HEADLINE,
        caption=f"Where the wall time went{left_out}",
        alt="; ".join(each.in_words for each in bars.bars),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def courses_of(analysis: Analysis) -> tuple[Course | None, ...]:
    """Return the course of each ledger, where it is known."""
    known = tuple(why.course for why in analysis.explained.ledgers) if analysis.explained else ()
    return known + (None,) * (len(analysis.ledgers) - len(known))


def bar(label: str, ledger: Ledger, course: Course | None = None) -> Bar:
    """Return a ledger as a bar of the headline's parts; without any CUDA row, of the parts of host code.

    Of these the course tells more, where the CPU was sampled.
    """
    if ledger.device is None and ledger.host_parts and ledger.accounts["cuda.launch"] is None:
        parts = dict(zip(course.labels, course.ns.sum(axis=0).tolist(), strict=True)) if course else ledger.host_parts
        kinds, sums = by_phase(tuple(parts), np.array([list(parts.values())], np.int64))
        return Bar(label, tuple(Segment(k.key, k.title, ns) for k, ns in zip(kinds, sums[0].tolist(), strict=True)))
    return Bar(label, tuple(_segment(ledger, share) for share in shares([ledger])))


def _segment(ledger: Ledger, share: Share) -> Segment:
    title = share.part.title if ledger.device is not None else share.part.without_device or share.part.title
    return Segment(share.part.key, title, share.time_ns, _bound(ledger, share))


def _bound(ledger: Ledger, share: Share) -> Literal["", "≥ ", "≤ "]:
    if ledger.device is None or ledger.gpu_complete is not False:
        return ""
    return "≥ " if share.part.on_gpu else "≤ "
