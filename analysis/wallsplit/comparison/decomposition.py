"""Which kernels, calls and ranges changed: because there are more of them, or because each takes longer."""

import re
from fractions import Fraction
from typing import Literal

from wallsplit.comparison.repeats import Total, Totals
from wallsplit.frozen import dataclass

Change = Literal["slower", "faster", "same", "new", "gone"]

_NOT_THE_FAMILY = (
    (re.compile(r"\(anonymous namespace\)::|^void "), ""),
    (re.compile(r"[<(].*"), ""),  # template arguments, parameters
    (re.compile(r"^.*::"), ""),
    (re.compile(r"(sm|ampere|ada|hopper|blackwell|turing|volta|pascal|maxwell)_?\d*_?"), ""),  # architecture
    (re.compile(r"\d+(x\d+)*"), "#"),  # tiles, stages, alignments
)


@dataclass(frozen=True)
class Row:
    """What rows of one name take on both sides, per unit and ledger; by_count_ns + by_mean_ns = delta_ns."""

    name: str
    change: Change
    """`slower` and `faster` by the mean alone."""
    count: tuple[float, float]
    mean_ns: tuple[float | None, float | None]
    total_ns: tuple[float, float]
    delta_ns: float
    by_count_ns: float
    """What the change of the count explains, at the mean of both means."""
    by_mean_ns: float
    """What the change of the mean explains, at the mean of both counts."""
    maybe_replaces: str | None = None
    """A name of the same family that is gone: a hint."""


def decomposition(before: Totals, after: Totals) -> tuple[Row, ...]:
    """Return a row per name of either side, the largest change first."""
    nothing = Total()
    both = {name: (before.get(name, nothing), after.get(name, nothing)) for name in {**before, **after}}
    order = sorted(both, key=lambda name: (-abs(both[name][1].ns - both[name][0].ns), name))
    gone: dict[str, str] = {}
    for name in order:
        if not both[name][1].count:
            gone.setdefault(family(name), name)
    return tuple(_row(name, *both[name], gone) for name in order)


def split(before: Total, after: Total) -> tuple[Fraction, Fraction]:
    """Return what the change of the total owes to the count and to the mean: exact, and they sum to it.

    Midpoint weights, so that the sides may change places. New and gone rows are all a matter of count.
    """
    if not before.count or not after.count:
        return after.ns - before.ns, Fraction(0)
    means = before.ns / before.count, after.ns / after.count
    by_count = (after.count - before.count) * (means[0] + means[1]) / 2
    return by_count, (means[1] - means[0]) * (before.count + after.count) / 2


def family(name: str) -> str:
    """Return a kernel's name without template arguments, parameters, architecture and tile numbers."""
    for pattern, put in _NOT_THE_FAMILY:
        name = pattern.sub(put, name)
    return name.strip("_ ")


def _row(name: str, before: Total, after: Total, gone: dict[str, str]) -> Row:
    by_count, by_mean = split(before, after)
    change = _change(before, after, by_mean)
    return Row(
        name=name,
        change=change,
        count=(float(before.count), float(after.count)),
        mean_ns=(_mean_ns(before), _mean_ns(after)),
        total_ns=(float(before.ns), float(after.ns)),
        delta_ns=float(after.ns - before.ns),
        by_count_ns=float(by_count),
        by_mean_ns=float(by_mean),
        maybe_replaces=gone.get(family(name)) if change == "new" else None,
    )


def _change(before: Total, after: Total, by_mean: Fraction) -> Change:
    if not before.count:
        return "new"
    if not after.count:
        return "gone"
    return "slower" if by_mean > 0 else "faster" if by_mean < 0 else "same"


def _mean_ns(total: Total) -> float | None:
    return float(total.ns / total.count) if total.count else None
