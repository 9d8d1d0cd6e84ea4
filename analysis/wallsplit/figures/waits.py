"""Waits: how much of each is useful, and how much is idle."""

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.text import for_people
from wallsplit.why.sync import Waits

MOST = 8


def waits(analysis: Analysis) -> Figure | None:
    """Return a bar per wait of the only ledger with a device; None without a wait, or with several ledgers."""
    explained = analysis.explained.ledgers if analysis.explained else ()
    if len(explained) != 1 or analysis.ledgers[0].device is None or explained[0].sync is None:
        return None
    calls = [call for call in explained[0].sync.calls if call.total_ns][:MOST]
    if not calls:
        return None
    bars = Bars(tuple(map(_bar, calls)), calls[0].total_ns)
    return Figure(
        name="waits",
        section="waiting",
        caption="Waits: while the GPU works they are useful; what is idle inside them is lost",
        alt="; ".join(bar.in_words for bar in bars.bars),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def _bar(call: Waits) -> Bar:
    useful = call.useful_ns + call.elsewhere_ns
    name = for_people(call.name, 32) + (f", {call.phase}" if call.phase else "")
    return Bar(name, (Segment("hidden", "the GPU works", useful), Segment("exposed", "idle", call.total_ns - useful)))
