"""Contenders that take turns: what each cost in each round, and how many times what another cost in the same one."""

import statistics
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from bench.measure import Cost


@dataclass(frozen=True)
class Readings:
    """What one contender cost, round by round; at least one round."""

    costs: tuple[Cost, ...]

    def median(self, quantity: Callable[[Cost], float]) -> float:
        """Return the median of a quantity over the rounds."""
        return statistics.median(map(quantity, self.costs))


@dataclass(frozen=True)
class Ratio:
    """How many times as much one contender took as another, over rounds in which both ran."""

    median: float
    least: float
    greatest: float
    rounds: int


def in_turns(
    rounds: int,
    contenders: Mapping[str, Callable[[], Cost]],
    *,
    at_most: Mapping[str, int] | None = None,
    may_fail: Container[str] = (),
) -> dict[str, Readings]:
    """Return what each contender cost in each round; they take turns, so that a busy moment meets all of them.

    Those named in `at_most` run in so many of the first rounds only. Those in `may_fail` are left out once they fail.

    Raises:
        RuntimeError: another one failed.
    """
    limits = at_most or {}
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name in [name for name in costs if number < limits.get(name, rounds)]:
            try:
                costs[name].append(contenders[name]())
            except RuntimeError:
                if name not in may_fail:
                    raise
                del costs[name]
    return {name: Readings(tuple(readings)) for name, readings in costs.items()}


def ratio(of: Readings, to: Readings, quantity: Callable[[Cost], float]) -> Ratio:
    """Return the median of the rounds' own ratios, with the least and the greatest: what a round slows, cancels out.

    Rounds that only one of the two ran in do not count.
    """
    both = zip(of.costs, to.costs, strict=False)
    ratios = [quantity(one) / quantity(other) for one, other in both]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), len(ratios))
