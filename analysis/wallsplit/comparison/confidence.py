"""Whether a change is more than noise: intervals between runs, and between the steps of single runs."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from wallsplit.comparison.sides import Side
from wallsplit.frozen import dataclass

Figure = Literal["median", "p05", "mean"]
Verdict = Literal[
    "slower", "faster", "within noise", "differs between these two runs", "no difference seen", "no interval"
]
Floats = npt.NDArray[np.float64]

ENOUGH_RUNS: Final = 3
"""Of each side, for a verdict: intervals of fewer say nothing of what another run would give."""
ENOUGH_STEPS: Final = 20
"""Of each side, for an interval between the steps of single runs."""
DRAWS: Final = 1_000
_SEED: Final = 20_240_501
_AT_ONCE: Final = 1 << 21
"""Values resampled at a time: 16 MiB."""

STATISTICS: dict[Figure, Callable[[Floats], Floats]] = {
    "median": lambda values: np.median(values, axis=-1),
    "p05": lambda values: np.quantile(values, 0.05, axis=-1),
    "mean": lambda values: np.mean(values, axis=-1),
}
WORDS: dict[Figure, str] = {"median": "median step", "p05": "5th percentile of steps", "mean": "mean step"}


@dataclass(frozen=True)
class Confidence:
    """How sure the change of one figure is. Times in ns per unit; ratios are changes: 0.1 is a tenth more."""

    figure: str
    before_ns: float
    """Geometric mean over the runs."""
    after_ns: float
    ratio: float
    low: float | None
    high: float | None
    level: float
    method: str | None
    covers: str | None
    runs: tuple[int, int]
    verdict: Verdict


def confidence(before: Side, after: Side, figure: Figure = "median", level: float = 0.95) -> Confidence:
    """Return how sure it is that two sides differ.

    With ENOUGH_RUNS on both sides, Welch's t on the logarithms of each run's figure. With fewer, where steps are known,
    a bootstrap of blocks of steps, which only tells these runs apart. Else nothing.
    """
    steps = [_strides(side) for side in (before, after)]
    if all(steps):
        name, statistic = WORDS[figure], STATISTICS[figure]
        values = [[float(statistic(run)) for run in side] for side in steps]
    else:
        name = "wall time"
        values = [[float(repeat.wall) for repeat in side.repeats] for side in (before, after)]
    means = [_geometric_mean(side) for side in values]
    runs = len(before.repeats), len(after.repeats)
    known = means[0] > 0 and means[1] > 0
    ratio = means[1] / means[0] - 1 if known else 0.0
    interval, method, covers = None, None, None
    if known and min(runs) >= ENOUGH_RUNS:
        interval = welch(values[0], values[1], level)
        method, covers = "Welch's t on the logarithm of each run's figure", "differences between runs"
    elif known and all(steps) and min(sum(map(len, side)) for side in steps) >= ENOUGH_STEPS:
        series = [np.concatenate(side) for side in steps]
        interval = bootstrap(series[0], series[1], STATISTICS[figure], level)
        blocks = " and ".join(str(block_length(lengths)) for lengths in series)
        method = f"circular bootstrap of steps in blocks of {blocks}"
        covers = "differences between steps of these runs only: another run may differ more"
    low, high = interval or (None, None)
    verdict = _verdict(low, high, are_runs=min(runs) >= ENOUGH_RUNS)
    return Confidence(name, means[0], means[1], ratio, low, high, level, method, covers, runs, verdict)


def _verdict(low: float | None, high: float | None, *, are_runs: bool) -> Verdict:
    if low is None or high is None:
        return "no interval"
    if low <= 0 <= high:
        return "within noise" if are_runs else "no difference seen"
    if not are_runs:
        return "differs between these two runs"
    return "slower" if low > 0 else "faster"


def _strides(side: Side) -> list[Floats]:
    """Return the strides of each run in ns per unit; nothing where some run has none."""
    found = [
        repeat.units.strides / float(repeat.units.units_per_stride)
        for repeat in side.repeats
        if repeat.units.strides is not None
    ]
    return found if len(found) == len(side.repeats) else []


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0


def welch(before: Sequence[float], after: Sequence[float], level: float) -> tuple[float, float]:
    """Return the interval of the ratio of geometric means, as a change, by Welch's t; at least 2 runs a side.

    B. L. Welch, The generalization of "Student's" problem (Biometrika 34, 1947).
    """
    logs = [np.log(values) for values in (before, after)]
    errors = [float(values.var(ddof=1)) / len(values) for values in logs]
    change, error = float(logs[1].mean() - logs[0].mean()), sum(errors)
    if error == 0:
        return math.expm1(change), math.expm1(change)
    freedom = error**2 / sum(own**2 / (len(values) - 1) for own, values in zip(errors, logs, strict=True))
    half = student_quantile((1 + level) / 2, freedom) * math.sqrt(error)
    return math.expm1(change - half), math.expm1(change + half)


def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t for a probability of at least 0.5, by Newton's method.

    From below, where the distribution is concave: no step goes too far.
    """
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = max(NormalDist().inv_cdf(probability), 0.0)
    for _ in range(100):
        missing = probability - 1 + incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
        step = missing / (scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2))
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function for 0 ≤ x ≤ 1, by its continued fraction (DLMF 8.17.22)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 400):  # Lentz's method: an even and an odd term at a time
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = 1 + term / c, 1 / (1 + term * d)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logs) * fraction / a


def bootstrap(
    before: Floats, after: Floats, statistic: Callable[[Floats], Floats], level: float
) -> tuple[float, float]:
    """Return the percentile interval of the change of a statistic, both sides resampled in blocks of steps."""
    random = np.random.default_rng(_SEED)
    drawn = [_resampled(values, statistic, random) for values in (before, after)]
    change = drawn[1] / np.maximum(drawn[0], np.finfo(np.float64).tiny) - 1
    low, high = np.quantile(change, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled(values: Floats, statistic: Callable[[Floats], Floats], random: np.random.Generator) -> Floats:
    """Return the statistic of DRAWS series as long as this one, each of blocks of it; its end meets its beginning."""
    count, length = len(values), block_length(values)
    starts = random.integers(0, count, (DRAWS, -(-count // length)))
    at_once = max(1, _AT_ONCE // count)
    results = []
    for first in range(0, DRAWS, at_once):
        places = starts[first : first + at_once, :, None] + np.arange(length)
        results.append(statistic(values[places.reshape(len(places), -1)[:, :count] % count]))
    return np.concatenate(results)


def block_length(values: Floats) -> int:
    """Return the length of blocks that keep the dependence between neighbours, for the circular bootstrap.

    D. N. Politis and H. White, Automatic block-length selection for the dependent bootstrap (Econometric Reviews 23,
    2004), as corrected by A. Patton, D. N. Politis and H. White (28, 2009).
    """
    count = len(values)
    if count < 8 or not values.std():
        return 1
    bandwidth = max(5, math.isqrt(math.floor(math.log10(count))))
    lags = min(count - 2, math.ceil(math.sqrt(count)) + bandwidth)
    covariance = _autocovariance(values, lags)
    is_small = np.abs(covariance / covariance[0]) < 2 * math.sqrt(math.log10(count) / count)
    half = _first_quiet(is_small, bandwidth, lags)
    window = min(2 * max(half, 1), lags)
    lag = np.arange(-window, window + 1)
    weight = np.clip(2 * (1 - np.abs(lag / window)), 0, 1)
    weighted = weight * covariance[np.abs(lag)]
    bias, variance = float((np.abs(lag) * weighted).sum()), 4 / 3 * float(weighted.sum()) ** 2
    if variance <= 0:
        return 1
    longest = math.ceil(min(3 * math.sqrt(count), count / 3))
    return min(longest, max(1, round(math.cbrt(2 * bias**2 / variance * count))))


def _first_quiet(is_small: npt.NDArray[np.bool_], bandwidth: int, lags: int) -> int:
    """Return the lag after which `bandwidth` autocorrelations in a row are small, else the last that is not."""
    for lag in range(1, lags - bandwidth + 1):
        if is_small[lag : lag + bandwidth].all():
            return lag - 1
    loud = np.flatnonzero(~is_small[1:])
    return int(loud[-1]) + 1 if len(loud) else 1


def _autocovariance(values: Floats, lags: int) -> Floats:
    centred = values - values.mean()
    spectrum = np.fft.rfft(centred, 2 * len(values))
    found: Floats = np.fft.irfft(spectrum * spectrum.conj())[: lags + 1] / len(values)
    return found
