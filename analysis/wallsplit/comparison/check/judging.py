"""Whether traces keep a budget: kept, broken, or unknown where what was recorded proves neither."""

from collections.abc import Sequence
from fractions import Fraction
from statistics import median
from typing import Literal

from wallsplit import units
from wallsplit.comparison.check.baseline import Baseline, machine_of
from wallsplit.comparison.check.budgets import LESS_IS_WORSE, Budget, Limit
from wallsplit.comparison.check.figures import Bound, Value, value
from wallsplit.comparison.confidence import ENOUGH_RUNS, welch
from wallsplit.comparison.repeats import Repeat
from wallsplit.frozen import dataclass

Status = Literal["kept", "broken", "unknown", "skipped"]
SINGLE_RUNS = Fraction(1, 10)
"""Without enough runs for an interval, only a larger change counts as a regression."""
LEVEL = 0.95


@dataclass(frozen=True)
class Judgement:
    """What became of a budget, and why, in a sentence."""

    budget: Budget
    status: Status
    text: str
    values: tuple[float, ...] | None
    """The figure of each trace, per unit; None = not measured."""

    @property
    def is_failure(self) -> bool:
        """Whether it breaks the check."""
        return self.status == "broken" and self.budget.severity == "error"


@dataclass(frozen=True)
class _Part:
    """What became of one limit of a budget."""

    status: Literal["kept", "broken", "unknown"]
    text: str


def judge(budget: Budget, repeats: Sequence[Repeat], earlier: Baseline | None) -> Judgement:
    """Return whether the traces, repeats of one program, keep a budget. One broken limit breaks it, whatever others."""
    every = [value(repeat, budget.figure) for repeat in repeats]
    values = [amount for amount in every if amount is not None]
    if len(values) < len(every):
        parts = [_unmeasured(budget)]
    else:
        limits = (("max", budget.max), ("min", budget.min))
        parts = [_limit(budget, which, limit, values) for which, limit in limits if limit]
        parts += [_regression(budget, budget.regression, values, earlier)] if budget.regression else []
    statuses = {part.status for part in parts}
    status: Status = "broken" if "broken" in statuses else "unknown" if "unknown" in statuses else "kept"
    if status == "unknown" and budget.when_unknown == "skip":
        status = "skipped"
    numbers = tuple(float(amount.exact) for amount in values) if len(values) == len(every) else None
    return Judgement(budget, status, "; ".join(part.text for part in parts), numbers)


def other_machine(repeats: Sequence[Repeat], earlier: Baseline) -> str | None:
    """Return the warning that the baseline is of another machine; None where it is of this one, or nobody knows."""
    here, there = machine_of(repeats), earlier.machine
    differ = [
        f"{what} {', '.join(old)} there, {', '.join(new)} here"
        for what, old, new in (
            ("GPU", there.gpus, here.gpus),
            ("CPU", (there.cpu,) if there.cpu else (), (here.cpu,) if here.cpu else ()),
        )
        if old and new and old != new
    ]
    if not differ:
        return None
    return f"the baseline is of another machine ({'; '.join(differ)}): what differs may be the machine"


def _unmeasured(budget: Budget) -> _Part:
    before, _, pattern = budget.figure.partition(":")
    if budget.max and not budget.max.exact and pattern:
        return _Part("kept", f"nothing matches {pattern}")
    return _Part("unknown", f"nothing matches {pattern} in a trace" if pattern else f"{before} was not measured")


def _limit(budget: Budget, which: str, limit: Limit, values: Sequence[Value]) -> _Part:
    """Judge the median of the traces; a bound only where it proves something."""
    as_ratio = limit.kind == "ratio" and budget.kind == "ns"
    figure = median(amount.of_wall if as_ratio else amount.exact for amount in values)
    bound: Bound = next((amount.bound for amount in values if amount.bound), "")
    text = f"{bound} {shown(figure, limit.kind)}".lstrip()
    is_above, is_below = figure > limit.exact, figure < limit.exact
    is_broken = is_above if which == "max" else is_below
    if bound and not _proves(bound, which, is_broken=is_broken):
        return _Part("unknown", f"{text}, with {which} {limit.text}: GPU work is missing, so this does not tell")
    if is_broken:
        return _Part("broken", f"{text}, {'above the' if which == 'max' else 'below the'} {limit.text} allowed")
    return _Part("kept", f"{text}, {which} {limit.text}")


def _proves(bound: Bound, which: str, *, is_broken: bool) -> bool:
    """Return whether a bound settles it: what is at least so much breaks a max, and keeps a min."""
    return is_broken == ((bound == "at least") == (which == "max"))


def _regression(budget: Budget, limit: Limit, values: Sequence[Value], earlier: Baseline | None) -> _Part:
    old = earlier.figures.get(budget.figure) if earlier else None
    if old is None:
        return _Part("unknown", f"the baseline has no {budget.figure}; write it with --write-baseline")
    if any(amount.bound for amount in values):
        return _Part("unknown", "GPU work is missing, so a change of this figure does not tell")
    new = [float(amount.exact) for amount in values]
    before, after = median(old), median(new)
    worse = before - after if budget.figure in LESS_IS_WORSE else after - before
    floor = float(budget.floor.exact) if budget.floor else 0.0
    is_beyond, why = _is_beyond(budget, float(limit.exact), list(old), new)
    ratio = f"{units.signed_ratio(after / before - 1)}, " if before else ""
    text = f"{shown(before, budget.kind)} → {shown(after, budget.kind)} ({ratio}{why})"
    if not is_beyond:
        return _Part("kept", text)
    if worse <= floor:
        small = f", within the floor of {budget.floor.text}" if budget.floor else ""
        return _Part("kept", f"{text}{small}")
    return _Part("broken", f"{text}: worse by more than the {limit.text} allowed")


def _is_beyond(budget: Budget, limit: float, old: list[float], new: list[float]) -> tuple[bool, str]:
    """Return whether the change exceeds the limit, with certainty where there are runs enough, and what told it."""
    sign = -1 if budget.figure in LESS_IS_WORSE else 1
    if min(len(old), len(new)) >= ENOUGH_RUNS and min(*old, *new) > 0:
        low, high = welch(old, new, LEVEL)
        least = low if sign > 0 else -high
        interval = f"[{units.signed_ratio(low)}, {units.signed_ratio(high)}] over {len(old)} and {len(new)} runs"
        return least > limit, interval
    least_counted = max(limit, float(SINGLE_RUNS))
    before, after = median(old), median(new)
    text = f"single runs: only more than {least_counted * 100:g} % counts"
    return sign * (after - before) > before * least_counted, text


def shown(figure: float | Fraction, kind: str) -> str:
    """Return a figure as people read it."""
    number = float(figure)
    return units.ns(number) if kind == "ns" else units.ratio(number) if kind == "ratio" else f"{number:,.6g}"
