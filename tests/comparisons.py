"""Hand-made sides of comparisons: values a test can read, without traces behind them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.pairs import Comparison, compare
from wallsplit.comparison.repeats import KINDS, Measured, Repeat, Total, Totals
from wallsplit.comparison.units import STEP, Units
from wallsplit.ledger.ledger import Window


def repeat(
    times: Mapping[str, Fraction | int | None],
    rows: Mapping[str, Totals] | None = None,
    strides: Sequence[int] | None = None,
    *,
    path: str = "run.sqlite",
    complete: bool = True,
) -> Repeat:
    """Return one trace with these accounts in ns per unit, `gpu_kernel` for `gpu.kernel`; the others are 0."""
    given = {name.replace("_", ".", 1): time for name, time in times.items()}
    accounts = {name: None if (t := given.get(name, 0)) is None else Fraction(t) for name in ACCOUNTS}
    wall = sum((time or Fraction(0) for time in accounts.values()), Fraction(0))
    count = len(strides) if strides is not None else 1
    series = None if strides is None else np.array(strides, np.int64)
    units = Units(Fraction(count), Window("step", 0, round(wall * count)), series)
    totals = {kind.key: dict((rows or {}).get(kind.key, {})) for kind in KINDS}
    return Repeat(path, units, wall, accounts, totals, complete)


def total(count: int | Fraction, ns: int | Fraction) -> Total:
    """Return rows of one name."""
    return Total(Fraction(count), Fraction(ns))


def comparison(**sides: Sequence[Repeat] | Repeat) -> Comparison:
    """Return the comparison of sides by label, each of one repeat or several, per run."""
    return of_sides(sides)


def of_sides(sides: Mapping[str, Sequence[Repeat] | Repeat], per: str = "run", *, chain: bool = False) -> Comparison:
    """Return the comparison of sides by label, each of one repeat or several."""
    measured: dict[str, list[Measured]] = {
        label: [{per: one} for one in ([repeats] if isinstance(repeats, Repeat) else repeats)]
        for label, repeats in sides.items()
    }
    return compare(measured, per, chain=chain)


def steps(side: Sequence[Sequence[int]]) -> list[Repeat]:
    """Return repeats whose steps take these times in ns, all of it host code."""
    return [repeat({"host": Fraction(sum(strides), len(strides))}, strides=strides) for strides in side]


def of_steps(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> Comparison:
    """Return the comparison of two sides by the times of their steps."""
    return of_sides({"before": steps(before), "after": steps(after)}, STEP)


def usual_pair() -> Comparison:
    """Return a run before and after a change that made its host code slower, one trace each."""
    return comparison(
        before=repeat({"gpu_kernel": 7_500_000, "host": 575_000, "gpu_comm": 374_000}),
        after=repeat({"gpu_kernel": 7_580_000, "host": 1_090_000, "gpu_comm": 562_000}),
    )
