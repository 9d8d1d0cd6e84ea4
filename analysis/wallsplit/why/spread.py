"""How a quantity spreads over its occurrences."""

import math

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """Times in ns; percentiles by nearest rank: the smallest value with at least that share at or below it."""

    count: int
    med_ns: float
    p95_ns: int
    p99_ns: int
    max_ns: int
    total_ns: int


def spread(values: Integers) -> Spread | None:
    """Return how the values spread, None without any."""
    count = len(values)
    if not count:
        return None
    p95, p99 = (math.ceil(share * count) - 1 for share in (0.95, 0.99))
    low, high = _middle(count)
    ordered = np.partition(values, sorted({low, high, p95, p99, count - 1}))
    return Spread(
        count=count,
        med_ns=(int(ordered[low]) + int(ordered[high])) / 2,
        p95_ns=int(ordered[p95]),
        p99_ns=int(ordered[p99]),
        max_ns=int(ordered[-1]),
        total_ns=int(values.sum()),
    )


def median(values: Integers) -> float | None:
    """Return the median, of an even number of values the mean of the middle two; None without any."""
    if not len(values):
        return None
    low, high = _middle(len(values))
    ordered = np.partition(values, sorted({low, high}))
    return (int(ordered[low]) + int(ordered[high])) / 2


def _middle(count: int) -> tuple[int, int]:
    return (count - 1) // 2, count // 2
