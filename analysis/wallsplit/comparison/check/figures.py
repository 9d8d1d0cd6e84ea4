"""The figures that budgets are about: an account, a part, the wall time, kernels, calls, ranges, counts."""

from fractions import Fraction
from typing import Literal

from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS, PARTS
from wallsplit.comparison.repeats import Repeat
from wallsplit.comparison.units import matching
from wallsplit.frozen import dataclass
from wallsplit.model.api_classes import RULES, api_class

Kind = Literal["ns", "ratio", "count"]
Bound = Literal["", "at least", "at most"]

WALL, BUSY = "wall", "busy_ratio"
PATTERNS = {"kernel": "kernels", "api": "api", "nvtx": "nvtx"}
"""What goes before a pattern of names, and the rows it is of."""
COUNT = "count"
CLASSES = (*(name for name, _ in RULES), "other")
NAMED = {WALL: (), BUSY: GPU_ACCOUNTS} | {name: (name,) for name in ACCOUNTS} | {x.key: x.accounts for x in PARTS}
"""Figures with a name of their own, and the accounts they are the sum of. `host` is both account and part."""
CHOICES = (
    f"wall, busy_ratio, an account ({', '.join(ACCOUNTS)}), a part ({', '.join(part.key for part in PARTS)}), "
    f"kernel:GLOB, api:GLOB, nvtx:GLOB or count:CLASS ({', '.join(CLASSES)})"
)


@dataclass(frozen=True)
class Value:
    """A figure of one trace, per unit: ns, a ratio 0-1, or a number of calls."""

    exact: Fraction
    of_wall: Fraction
    """The same as a part of the wall time: of times only."""
    bound: Bound
    """What the figure is, where GPU work is missing from the trace."""


def kind(figure: str) -> Kind | None:
    """Return what the figure is told in; None where there is no such figure."""
    if figure in NAMED:
        return "ratio" if figure == BUSY else "ns"
    before, _, after = figure.partition(":")
    if before in PATTERNS and after:
        return "ns"
    return "count" if before == COUNT and after in CLASSES else None


def value(repeat: Repeat, figure: str) -> Value | None:
    """Return the figure of a trace; None where it was not measured, or no name matches the pattern."""
    if figure == WALL:
        return _time(repeat, repeat.wall, "")
    if figure in NAMED:
        times = [repeat.accounts[account] for account in NAMED[figure]]
        if None in times:
            return None
        total = sum((time or Fraction(0) for time in times), Fraction(0))
        is_gpu = set(NAMED[figure]) <= set(GPU_ACCOUNTS)
        bound: Bound = "" if repeat.gpu_complete else "at least" if is_gpu else "at most"
        return _ratio(repeat, total, bound) if figure == BUSY else _time(repeat, total, bound)
    before, _, after = figure.partition(":")
    if before == COUNT:
        calls = [total.count for name, total in repeat.totals["api"].items() if api_class(name) == after]
        return Value(sum(calls, Fraction(0)), Fraction(0), "") if repeat.totals["api"] else None
    rows = repeat.totals[PATTERNS[before]]
    matched = [total.ns for total, is_wanted in zip(rows.values(), matching(rows, after), strict=True) if is_wanted]
    bound = "at least" if before == "kernel" and not repeat.gpu_complete else ""
    return _time(repeat, sum(matched, Fraction(0)), bound) if matched else None


def _time(repeat: Repeat, ns: Fraction, bound: Bound) -> Value:
    return Value(ns, ns / repeat.wall if repeat.wall else Fraction(0), bound)


def _ratio(repeat: Repeat, ns: Fraction, bound: Bound) -> Value | None:
    return Value(ns / repeat.wall, Fraction(0), bound) if repeat.wall else None
