"""What a kind of steps takes: warm-up, median, spread, drift."""

import math

import numpy as np
import numpy.typing as npt

from wallsplit.accounts import ACCOUNTS
from wallsplit.frozen import dataclass
from wallsplit.why.steps.units import Ints

NEAR = 0.1
STALLED = 5
"""A step that takes over so many times the median stalled: no usual variation."""
ROBUST_DEVIATIONS = 3 * 1.4826
"""Three standard deviations, estimated by the median absolute deviation of normally distributed values."""


@dataclass(frozen=True)
class StepKind:
    """The steps of one kind. Times in ns; but for `count` and `total_ns` the figures are of the steady steps."""

    role: str | None
    """`train` or `validation`, where two kinds relate like that."""
    name: str | None
    """The words of the ranges that name the steps."""
    count: int
    warmup_count: int | None
    """Leading steps that are slower than what comes; None where that cannot be told."""
    steady_count: int
    total_ns: int
    med_ns: float
    p95_ns: int
    p99_ns: int
    min_ns: int
    max_ns: int
    jitter_ratio: float | None
    """(95th percentile - median) ÷ median; None where the median is 0."""
    drift_ratio: float | None
    """Median of the last quarter ÷ median of the first; None below 8 steps."""
    stalled_count: int
    """Steps that take over five times the median."""
    stalled_ns: float
    """What they take beyond the median, together."""
    accounts_med_ns: dict[str, float] | None
    """Median ns of each account; None where accounts are not measured."""


def step_kind(
    ns: Ints, accounts: Ints | None, warmup_count: int | None, role: str | None, name: str | None
) -> StepKind:
    """Return the figures of steps of one kind: ns of each step, and of each account in it, in order."""
    steady = slice(warmup_count or 0, None)
    ordered = np.sort(ns[steady])
    middle = median(ordered)
    p95 = nearest_rank(ordered, 0.95)
    stalled = ordered[ordered > STALLED * middle]
    return StepKind(
        role=role,
        name=name,
        count=len(ns),
        warmup_count=warmup_count,
        steady_count=len(ordered),
        total_ns=int(ns.sum()),
        med_ns=middle,
        p95_ns=p95,
        p99_ns=nearest_rank(ordered, 0.99),
        min_ns=int(ordered[0]),
        max_ns=int(ordered[-1]),
        jitter_ratio=(p95 - middle) / middle if middle else None,
        drift_ratio=drift(ns[steady]),
        stalled_count=len(stalled),
        stalled_ns=float((stalled - middle).sum()),
        accounts_med_ns=None if accounts is None else dict(zip(ACCOUNTS, _medians(accounts[steady]), strict=True)),
    )


def median(ordered: npt.NDArray[np.integer] | npt.NDArray[np.floating]) -> float:
    """Return the mean of the middle two of ascending values, of an odd number the middle one."""
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def nearest_rank(ordered: Ints, share: float) -> int:
    """Return the smallest of ascending values with at least this share of all at or below it."""
    return int(ordered[max(0, math.ceil(share * len(ordered)) - 1)])


def warm_up(ns: Ints) -> int | None:
    """Return how many leading steps are warm-up: those before the first three in a row that are no slower than later.

    That is within a tenth, or three robust deviations, of the median of the second half. None: fewer than 4 steps, or
    more than ten and more than a fifth of them would be warm-up: that is a drift.
    """
    if len(ns) < 4:
        return None
    half = np.sort(ns[len(ns) // 2 :])
    middle = median(half)
    limit = middle + max(NEAR * middle, ROBUST_DEVIATIONS * median(np.sort(np.abs(half - middle))))
    is_steady = ns <= limit
    runs = np.flatnonzero(is_steady[:-2] & is_steady[1:-1] & is_steady[2:])
    return int(runs[0]) if len(runs) and runs[0] <= max(10, len(ns) // 5) else None


def drift(ns: Ints) -> float | None:
    """Return the median of the last quarter of the steps over that of the first; None below 8."""
    quarter = len(ns) // 4
    if quarter < 2:
        return None
    return median(np.sort(ns[-quarter:])) / max(1, median(np.sort(ns[:quarter])))


def _medians(accounts: Ints) -> list[float]:
    ordered = np.sort(accounts, axis=0)
    return ((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2).tolist()  # type: ignore[no-any-return]
