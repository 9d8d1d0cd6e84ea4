"""Many steps: what each takes, its causes stacked, the slowest marked."""

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from wallsplit import units
from wallsplit.accounts import ACCOUNTS, HOST, PARTS
from wallsplit.analysis import Analysis
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.inline import Kind
from wallsplit.figures.strip import clock
from wallsplit.figures.svg_paths import number, percentage, stacked
from wallsplit.frozen import dataclass
from wallsplit.why.steps import Steps
from wallsplit.words.amounts import duration
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import speakers

LEAST = 8
"""Fewer steps are no chart of the first screen."""
FEWEST = 3
MOST = 240
"""Bars; of more steps neighbours share one, at their mean."""
HEADROOM = 1.6
"""Times the 95th percentile, up to which the chart reaches: what is taller is cut, or warm-up would hide the rest."""
MARKED = 3
HEIGHT = 64


@dataclass(frozen=True, eq=False)
class StepChart:
    """Bars in the order of the steps."""

    noun: str
    """What each is: step, window."""
    label: str
    """Whose they are; empty where there is but one ledger."""
    kinds: tuple[Kind, ...]
    ns: npt.NDArray[np.float64]
    """A row per bar, a column per kind: the mean of its steps."""
    edges: npt.NDArray[np.int64]
    """Bar i is the steps from edges[i], counted from 0, to before edges[i + 1]."""
    slowest: tuple[tuple[int, int, int], ...]
    """Steps that take longest: which, when it begins and what it takes, the slowest first."""
    med_ns: float
    p95_ns: int

    @property
    def count(self) -> int:
        """How many steps there are."""
        return int(self.edges[-1])

    @property
    def top_ns(self) -> float:
        """What the height of the drawing stands for."""
        return max(1.0, HEADROOM * self.p95_ns)

    @property
    def in_words(self) -> str:
        """What it shows, for those who do not see it."""
        slow = ", ".join(f"{self.noun} {i + 1:,} {units.ns(ns)}" for i, _, ns in self.slowest)
        whose = f"{self.label}: " if self.label else ""
        slowest = f"; the slowest: {slow}" if slow else ""
        return (
            f"{whose}{self.count:,} {self.noun}s, median {units.ns(self.med_ns)}, 95th percentile "
            f"{units.ns(self.p95_ns)}{slowest}"
        )


def step_chart(analysis: Analysis) -> StepChart | None:
    """Return the chart of the steps of the first GPU, or of many windows; None where there are few."""
    if analysis.explained is None:
        ledgers = [ledger for ledger in analysis.ledgers if ledger.window is not None]
        if len(ledgers) < LEAST:
            return None
        table = np.array([[ledger.accounts[account] or 0 for account in ACCOUNTS] for ledger in ledgers])
        starts = [ledger.window.start_ns for ledger in ledgers if ledger.window]
        return _chart("window", "", table, starts)
    every = speakers(analysis)
    speaker = every[0] if every else None
    if speaker is None or speaker.why.steps.count < LEAST:
        return None
    if speaker.ledger.device is not None and (not speaker.is_steady or speaker.why.steps.accounts is None):
        return None
    return chart_of(speaker.why.steps, ledger_label(analysis, speaker.ledger) if len(every) > 1 else "")


def chart_of(steps: Steps, label: str = "") -> StepChart:
    """Return the chart of steps, of which there are some; where accounts are not measured, all is host code."""
    starts = steps.rows["start"].to_list()
    if steps.accounts is None:
        table = np.zeros((steps.count, len(ACCOUNTS)), np.int64)
        table[:, ACCOUNTS.index(HOST)] = (steps.rows["end"] - steps.rows["start"]).to_numpy()
    else:
        table = steps.accounts.to_numpy()
    usual = steps.kinds[0].med_ns if steps.kinds else 0
    slower = [step for step in steps.slowest or () if step.ns > usual]
    slowest = tuple((step.index, step.start_ns, step.ns) for step in slower[:MARKED])
    return _chart("step", label, table, starts, slowest)


Slowest = tuple[tuple[int, int, int], ...]


def _chart(
    noun: str, label: str, accounts: npt.NDArray[np.int64], starts: Sequence[int], slowest: Slowest | None = None
) -> StepChart:
    parts = np.column_stack([accounts[:, [ACCOUNTS.index(a) for a in part.accounts]].sum(axis=1) for part in PARTS])
    used, whole = parts.sum(axis=0) > 0, parts.sum(axis=1)
    edges = np.unique(np.linspace(0, len(parts), min(len(parts), MOST) + 1).astype(np.int64))
    slow = np.argsort(-whole, kind="stable")[:MARKED].tolist()
    ordered = np.sort(whole)
    return StepChart(
        noun=noun,
        label=label,
        kinds=tuple(Kind(part.key, part.title) for part, is_used in zip(PARTS, used.tolist(), strict=True) if is_used),
        ns=np.add.reduceat(parts[:, used].astype(np.float64), edges[:-1], axis=0) / np.diff(edges)[:, None],
        edges=edges,
        slowest=tuple((i, int(starts[i]), int(whole[i])) for i in slow) if slowest is None else slowest,
        med_ns=float(np.median(whole)),
        p95_ns=int(ordered[max(0, -(-95 * len(ordered) // 100) - 1)]),
    )


def svg(chart: StepChart) -> str:
    """Return the drawing as inline SVG; its width is that of what it stands in."""
    bars = len(chart.ns)
    heights = chart.ns / chart.top_ns
    marks = [*_marks(chart)]
    median = number(HEIGHT * (1 - min(1.0, chart.med_ns / chart.top_ns)))
    return "".join(
        [
            f'<svg class="steps" role="img" width="100%" height="{HEIGHT}" aria-label="{escape(chart.in_words)}">',
            f'<svg width="100%" height="{HEIGHT}" viewBox="0 0 {bars} 100" preserveAspectRatio="none">',
            *stacked([kind.key for kind in chart.kinds], heights, COLOURS),
            '<g class="hover" fill="#ffffff" fill-opacity="0">',
            *(_hover(chart, i) for i in range(bars)),
            "</g></svg>",
            (
                f'<line class="median" stroke="currentColor" stroke-dasharray="2 3" x2="100%" '
                f'y1="{median}" y2="{median}"/>'
            ),
            *marks,
            "</svg>",
        ]
    )


def _hover(chart: StepChart, bar: int) -> str:
    first, last = chart.edges[bar : bar + 2].tolist()
    whole = float(chart.ns[bar].sum())
    which = f"{chart.noun} {first + 1:,}" if last - first == 1 else f"{chart.noun}s {first + 1:,}–{last:,}, mean"
    return f'<rect x="{bar}" width="1" height="100"><title>{which}: {units.ns(whole)}</title></rect>'


def _marks(chart: StepChart) -> list[str]:
    """Return a triangle at the top of each of the slowest."""
    places = np.searchsorted(chart.edges, [i for i, _, _ in chart.slowest], side="right") - 1
    return [
        f'<svg x="{percentage((place + 0.5) / len(chart.ns))}" y="0" width="10" height="8" overflow="visible">'
        f'<path class="slow" fill="#b3261e" d="M-4 0h8l-4 7z"><title>{chart.noun} {i + 1:,} at {clock(start)}: '
        f"{duration(ns)}</title></path></svg>"
        for place, (i, start, ns) in zip(places.tolist(), chart.slowest, strict=True)
    ]
