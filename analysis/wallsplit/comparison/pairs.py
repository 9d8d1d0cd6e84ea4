"""Sides against each other: the whole comparison as one value."""

from collections.abc import Mapping, Sequence

from wallsplit.comparison.confidence import Confidence, Figure, confidence
from wallsplit.comparison.decomposition import Row, decomposition
from wallsplit.comparison.repeats import KINDS, Measured, Total
from wallsplit.comparison.sides import Side
from wallsplit.comparison.units import AUTO, RUN, STEP, choose
from wallsplit.comparison.waterfall import Waterfall, scale, waterfall
from wallsplit.frozen import dataclass

SAME_WORK: float = 0.02
"""By how much the launches of two windows may differ that hold the same work."""


@dataclass(frozen=True, eq=False)
class Pair:
    """One side against another, per unit."""

    before: Side
    after: Side
    waterfall: Waterfall
    work_differs: tuple[float, float] | None
    """Kernels launched in either window, where these may hold different amounts of work."""
    confidence: Confidence
    rows: dict[str, tuple[Row, ...]]
    """By the keys of KINDS; those that have any."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more sides, the first being the baseline."""

    per: str
    why: str
    """Why it is per that."""
    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]


def compare(
    measured: Mapping[str, Sequence[Measured]],
    per: str = AUTO,
    *,
    chain: bool = False,
    figure: Figure = "median",
    level: float = 0.95,
) -> Comparison:
    """Return the comparison of sides, each given as its traces measured; against the first, or in a `chain`.

    Raises:
        LedgerError: changes do not add up.
    """
    traces = [trace for side in measured.values() for trace in side]
    why = "as asked"
    if per == AUTO:
        per = choose(lambda one: all(one in trace for trace in traces) and _is_fair(one, traces))
        why = _why(per, traces)
    sides = tuple(Side(label, tuple(trace[per] for trace in side)) for label, side in measured.items())
    unit = scale(per, sides[0])
    befores = sides[:-1] if chain else (sides[0],) * (len(sides) - 1)
    pairs = []
    for before, after in zip(befores, sides[1:], strict=True):
        rows = {kind.key: decomposition(before.totals(kind.key), after.totals(kind.key)) for kind in KINDS}
        pairs.append(
            Pair(
                before=before,
                after=after,
                waterfall=waterfall(before, after, unit),
                work_differs=_work_differs(before, after) if per == RUN else None,
                confidence=confidence(before, after, figure, level),
                rows={key: found for key, found in rows.items() if found},
            )
        )
    return Comparison(per, why, sides, tuple(pairs))


def launches(side: Side) -> float:
    """Return how many kernels a unit launches per ledger."""
    return float(sum(side.totals("kernels").values(), Total()).count)


def _work_differs(before: Side, after: Side) -> tuple[float, float] | None:
    counts = launches(before), launches(after)
    differs = min(counts) > 0 and abs(counts[1] / counts[0] - 1) > SAME_WORK
    return counts if differs else None


def _is_fair(per: str, traces: Sequence[Measured]) -> bool:
    """Return whether `auto` may compare per that: steps that nobody marked count where they launch equally much."""
    if per != STEP or all(trace[per].units.marked for trace in traces):
        return True
    counts = [launches(Side("", (trace[per],))) for trace in traces]
    return max(counts) <= min(counts) * (1 + SAME_WORK) and min(counts) > 0


def _why(per: str, traces: Sequence[Measured]) -> str:
    if per == RUN:
        return "no unit of work is known in every trace"
    counts = sorted({float(trace[per].units.count) for trace in traces})
    listed = ", ".join(f"{count:,.0f}" for count in counts[:8])
    differ = f", and their numbers differ ({listed})" if len(counts) > 1 else ""
    if per == STEP:
        is_marked = all(trace[per].units.marked for trace in traces)
        told = "every trace marks its steps" if is_marked else "the launches of every trace repeat in steps alike"
        return f"{told}{differ}"
    return f"the manifests say on how many samples each run was trained{differ}"
