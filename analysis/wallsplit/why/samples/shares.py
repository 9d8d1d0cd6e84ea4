"""Shares of classes among samples, and what a sample of that size can say about them.

Wilson's interval (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927) on the effective number of samples (L. Kish, Survey
Sampling, 1965), made wider where samples of a class come in clusters; systematic sampling never makes it narrower here.
"""

import math

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass

Z = 1.959963984540054
"""Of a two-sided 95 % interval."""
BATCHES = 20
FEWEST_IN_A_BATCH = 5


@dataclass(frozen=True)
class Tally:
    """How much of each class there is among n samples in the order of time."""

    count: npt.NDArray[np.int64]  # per class
    weight: npt.NDArray[np.float64]  # per class
    effective: float  # (Σ w)² ÷ Σ w², n for equal weights
    batch_share: npt.NDArray[np.float64] | None  # (BATCHES, classes), unweighted; None with too few samples

    @property
    def total(self) -> float:
        """The weight of all samples."""
        return float(self.weight.sum())

    def share(self, *classes: int) -> float:
        """Return the share of these classes together, by weight."""
        return min(1.0, float(self.weight[list(classes)].sum()) / self.total)

    def interval(self, *classes: int) -> tuple[float, float]:
        """Return the 95 % interval of their share."""
        effective = self.effective / max(1.0, self.design_effect(*classes) or 1.0)
        share = self.share(*classes)
        low, high = wilson(share, effective)
        return min(low, share), max(high, share)  # rounding must not leave the share outside its own interval

    def design_effect(self, *classes: int) -> float | None:
        """Return the variance of the batches' means, by what independent samples would have; None if not known."""
        n = int(self.count.sum())
        p = int(self.count[list(classes)].sum()) / n
        if self.batch_share is None or p in (0, 1):
            return None
        means = self.batch_share[:, list(classes)].sum(axis=1)
        return float(means.var(ddof=1)) / BATCHES / (p * (1 - p) / n)


def tally(codes: npt.NDArray[np.uint8], weights: npt.NDArray[np.float64], size: int) -> Tally:
    """Return the tally of samples in the order of time, `codes` below `size`."""
    n = len(codes)
    squares = float((weights**2).sum())
    batches = None
    if n >= BATCHES * FEWEST_IN_A_BATCH:
        long, extra = n // BATCHES + 1, n % BATCHES  # the first `extra` batches have one more
        lengths = np.where(np.arange(BATCHES) < extra, long, long - 1)
        cell = np.repeat(np.arange(BATCHES), lengths) * size + codes
        batches = np.bincount(cell, minlength=BATCHES * size).reshape(BATCHES, size) / lengths[:, None]
    return Tally(
        np.bincount(codes, minlength=size),
        np.bincount(codes, weights, size).astype(np.float64),  # of no samples it is one of integers
        float(weights.sum()) ** 2 / squares if squares else 0.0,
        batches,
    )


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a share seen among n samples, n above 0."""
    scale = 1 + Z * Z / n
    middle = (share + Z * Z / (2 * n)) / scale
    half = Z / scale * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
