"""Why the GPU was idle: a bar per cause, split into the steady steps and what lies outside of them."""

from wallsplit.analysis import Analysis
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.words.findings import scope_name
from wallsplit.words.labels import ledger_label
from wallsplit.words.titles import TITLES

MOST = 10
_NOT_IDLE = ("work", "comm")


def idle_causes(analysis: Analysis) -> Figure | None:
    """Return the bars of the ledger with most idle time; None without a ledger with a device."""
    explained = analysis.explained.ledgers if analysis.explained else ()
    pairs = [(x, why) for x, why in zip(analysis.ledgers, explained, strict=False) if why.idle.causes]
    if not pairs:
        return None
    ledger, why = max(pairs, key=lambda pair: pair[1].idle.idle_ns)
    rows = _rows(why)
    if not rows:
        return None
    bars = Bars(rows, max(row.total_ns for row in rows))
    whose = f" of {ledger_label(analysis, ledger)}, the most idle" if len(pairs) > 1 else ""
    return Figure(
        name="idle_causes",
        section="idle",
        caption=f"Time without computing or communication{whose}, by cause",
        alt="; ".join(row.in_words for row in rows),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def _rows(why: Explanation) -> tuple[Bar, ...]:
    causes = [(cause, ns) for cause, ns in (why.idle.causes or {}).items() if ns and cause not in _NOT_IDLE]
    scope = why.diagnosis.scope
    inside = scope.causes if scope else {}
    rows = []
    for cause, ns in sorted(causes, key=lambda item: -item[1])[:MOST]:
        within = inside.get(cause, 0)
        segments = (
            Segment("exposed", f"in {scope_name(why)}", within),
            Segment("host", "outside of that", ns - within),
        )
        rows.append(Bar(TITLES[cause], segments))
    return tuple(rows)
