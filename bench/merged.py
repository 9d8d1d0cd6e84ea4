"""Statistics of parts of a column that merge to those of the whole."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from wallsplit.ledger.timeline import summed
from wallsplit.ranks import ranked

Ints = npt.NDArray[np.int64]
_DIGITS = 8
"""Leading binary digits of a length that its bucket keeps: the middle of a bucket is off by 1 ÷ 2⁸ at most."""
LARGEST_ERROR = 2.0**-_DIGITS


@dataclass(frozen=True)
class Statistics:
    """Of the lengths of some rows: at least one."""

    count: int
    total: int
    least: int
    greatest: int
    squares: float
    """The sum of squares of what each is off the mean."""
    buckets: Counter[int]
    """How many are in each bucket: `bucket_of`."""

    def __add__(self, other: "Statistics") -> "Statistics":
        """Return those of both; all but `squares` exactly, and that as Chan, Golub and LeVeque (1983) merge it."""
        count = self.count + other.count
        apart = self.total / self.count - other.total / other.count
        return Statistics(
            count,
            self.total + other.total,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
            self.squares + other.squares + apart * apart * self.count * other.count / count,
            self.buckets + other.buckets,
        )

    @property
    def deviation(self) -> float:
        """Return the sample's standard deviation, 0 of one value."""
        return sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    @property
    def median(self) -> float:
        """Return the median, off by LARGEST_ERROR of itself at most."""
        wanted = ((self.count - 1) // 2, self.count // 2)
        found, below = [], 0
        for bucket, count in sorted(self.buckets.items()):
            found += [_middle(bucket) for rank in wanted if below <= rank < below + count]
            below += count
        return sum(found) / 2


def of_names(names: Ints, lengths: Ints) -> dict[int, Statistics]:
    """Return the statistics of the lengths of each name."""
    distinct, place = ranked(names)
    size = len(distinct)
    count, total = np.bincount(place, minlength=size), summed(place, lengths, size)
    least, greatest = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(least, place, lengths)
    np.maximum.at(greatest, place, lengths)
    squares = np.bincount(place, weights=(lengths - (total / count)[place]) ** 2, minlength=size)
    buckets: dict[int, Counter[int]] = {number: Counter() for number in range(size)}
    codes, each = np.unique(place << 16 | bucket_of(lengths), return_counts=True)
    for code, rows in zip(codes.tolist(), each.tolist(), strict=True):
        buckets[code >> 16][code & 0xFFFF] = rows
    columns = (column.tolist() for column in (distinct, count, total, least, greatest, squares))
    every = zip(*columns, buckets.values(), strict=True)
    return {name: Statistics(*figures) for name, *figures in every}


def added(one: Mapping[int, Statistics], other: Mapping[int, Statistics]) -> dict[int, Statistics]:
    """Return the statistics of the names of both."""
    return {**one, **{name: one[name] + its if name in one else its for name, its in other.items()}}


def bucket_of(lengths: Ints) -> Ints:
    """Return the bucket of each length: its leading binary digits, and how many follow them."""
    digits = np.frexp(lengths.astype(np.float64))[1]
    dropped = np.maximum(digits.astype(np.int64) - _DIGITS, 0)
    leading = np.minimum(lengths >> dropped, (1 << _DIGITS) - 1)
    return np.asarray(dropped << _DIGITS | leading, np.int64)


def _middle(bucket: int) -> float:
    dropped, leading = bucket >> _DIGITS, bucket & ((1 << _DIGITS) - 1)
    return leading * 2.0**dropped + (2.0**dropped - 1) / 2
