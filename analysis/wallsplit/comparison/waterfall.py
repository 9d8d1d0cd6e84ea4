"""The change of the wall time, account by account: exact, and in whole numbers that still add up."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Literal

from wallsplit.accounts import ACCOUNTS, OTHER_PROCESS, PART_OF, PARTS
from wallsplit.comparison.sides import Side
from wallsplit.comparison.units import RUN
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass

Scale = Literal["ns", "ps"]
PER_NS: dict[Scale, int] = {"ns": 1, "ps": 1000}
SHORT_UNIT_NS = 10_000_000
"""Below this, what is compared per unit is told in ps."""
OWN_ACCOUNTS = tuple(name for name in ACCOUNTS if name != OTHER_PROCESS)
"""What can be measured of the program itself; what other processes do is none of its figures."""
COMPUTING = PARTS[0]
"""Kernels and graphs: where kernels become graphs, only both together tell what changed."""


@dataclass(frozen=True)
class Line:
    """One bar of a waterfall: an account, or several as one. Times in ns per unit; None = not measured."""

    name: str
    account: str
    """Decides the colour."""
    before_ns: float | None
    after_ns: float | None
    delta_ns: float


@dataclass(frozen=True)
class Waterfall:
    """What changed between two sides, in whole `unit`s: the accounts' changes sum to the wall's."""

    unit: Scale
    wall_delta: int
    account_deltas: dict[str, int]
    not_measured_on_one_side: tuple[str, ...]
    lines: tuple[Line, ...]
    """The accounts that changed, by the size of the change."""
    graphed: tuple[Line, Line] | None
    """`gpu.kernel` and `gpu.graph`, where they are one line because the one became the other."""

    @property
    def wall_delta_ns(self) -> float:
        """Change of the wall time."""
        return self.wall_delta / PER_NS[self.unit]

    @property
    def part_deltas(self) -> dict[str, int]:
        """Changes of the parts, by their keys."""
        return {part.key: sum(self.account_deltas[name] for name in part.accounts) for part in PARTS}


def scale(per: str, baseline: Side) -> Scale:
    """Return what the changes are told in: ps where the baseline's unit is short."""
    return "ns" if per == RUN or baseline.wall >= SHORT_UNIT_NS else "ps"


def waterfall(before: Side, after: Side, unit: Scale) -> Waterfall:
    """Return what changed from one side to another.

    Raises:
        LedgerError: the changes of the accounts do not add up to that of the wall time.
    """
    exact = [(after.accounts[name] or Fraction(0)) - (before.accounts[name] or Fraction(0)) for name in ACCOUNTS]
    total = after.wall - before.wall
    if sum(exact) != total:
        raise LedgerError(
            f"{before.label} and {after.label}: the changes of the accounts miss that of the wall time by "
            f"{total - sum(exact)} ns; this is a defect of wallsplit, please report it"
        )
    whole = largest_remainders([delta * PER_NS[unit] for delta in exact])
    deltas = dict(zip(ACCOUNTS, whole, strict=True))
    lines = {name: _line(name, before, after, deltas[name] / PER_NS[unit]) for name in ACCOUNTS}
    graphed = (lines["gpu.kernel"], lines["gpu.graph"]) if _became_graphs(lines) else None
    if graphed:
        lines = {COMPUTING.key: _together(graphed), **{n: x for n, x in lines.items() if PART_OF[n] is not COMPUTING}}
    return Waterfall(
        unit=unit,
        wall_delta=sum(whole),
        account_deltas=deltas,
        not_measured_on_one_side=tuple(
            name for name in OWN_ACCOUNTS if (before.accounts[name] is None) != (after.accounts[name] is None)
        ),
        lines=tuple(sorted((x for x in lines.values() if x.delta_ns), key=lambda line: -abs(line.delta_ns))),
        graphed=graphed,
    )


def largest_remainders(parts: Sequence[Fraction]) -> list[int]:
    """Return whole numbers, each next to its part, that sum to the parts' sum as it rounds.

    All are rounded down; what is left goes to the largest remainders, of equal ones to the first.
    """
    floors = [floor(part) for part in parts]
    left = floor(sum(parts, Fraction(1, 2))) - sum(floors)
    lucky = sorted(range(len(parts)), key=lambda i: (floors[i] - parts[i], i))[:left]
    return [whole + (i in lucky) for i, whole in enumerate(floors)]


def _line(name: str, before: Side, after: Side, delta_ns: float) -> Line:
    return Line(name, name, _ns(before.accounts[name]), _ns(after.accounts[name]), delta_ns)


def _ns(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)


def _became_graphs(lines: dict[str, Line]) -> bool:
    """Return whether one side has whole graphs, the other none, and kernels moved the other way."""
    kernel, graph = lines["gpu.kernel"], lines["gpu.graph"]
    return bool(graph.before_ns) != bool(graph.after_ns) and kernel.delta_ns * graph.delta_ns < 0


def _together(lines: Sequence[Line]) -> Line:
    sides = zip(*((line.before_ns, line.after_ns) for line in lines), strict=True)
    before, after = (None if set(times) == {None} else sum(ns or 0 for ns in times) for times in sides)
    return Line(COMPUTING.title, lines[0].account, before, after, sum(line.delta_ns for line in lines))
