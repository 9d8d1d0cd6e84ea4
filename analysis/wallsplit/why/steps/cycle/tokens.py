"""A sequence of tokens prepared for cutting: any part of it is told from any other in constant time."""

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass
from wallsplit.ranks import distinct, ranked
from wallsplit.why.steps.units import Codes, Ints, Units

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a sequence and what is known of each place in it."""

    numbers: Ints
    kind: Codes
    is_exchange: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, units: Units) -> "Tokens":
        """Return the tokens of some units."""
        return cls(units.token, units.kind, units.is_exchange)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def hashes(self) -> Hashes:
        """Return the sums of the tokens' hashes before each place, modulo 2^64.

        The difference of two is the hash of the part between, whatever the order of its tokens.
        """
        return np.append(np.uint64(0), np.cumsum(splitmix64(self.numbers.astype(np.uint64)), dtype=np.uint64))

    @cached_property
    def exchanges(self) -> Ints:
        """Return how many exchanges with the host there are before each place."""
        return np.append(0, np.cumsum(self.is_exchange))

    @cached_property
    def bits(self) -> float:
        """Return what one token costs to write down, in bits."""
        return math.log2(len(distinct(self.numbers)) + 1)


def splitmix64(x: Hashes) -> Hashes:
    """Return a fixed pseudo-random 64-bit value for each x.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def spans(first: Ints, length: Ints) -> Ints:
    """Return the places first[i], first[i] + 1 … of all spans, one span after the other."""
    before = np.cumsum(length) - length
    places: Ints = np.arange(int(length.sum())) + np.repeat(first - before, length)
    return places


def choice_bits(counts: Ints, group: Ints, groups: int) -> npt.NDArray[np.float64]:
    """Return Σ c·log2(N/c) over the counts c of each group, N their sum: what it costs to say which body comes when.

    Counts are to descend inside a group: terms are added in that order, and cuts that cost the same must do so to the
    last bit. That is also why the logarithm is the C library's, not NumPy's, whose last bit depends on the processor.
    """
    whole = np.bincount(group, counts, groups)
    ratios, row = ranked(whole[group] / counts)
    logarithms = np.array([math.log2(ratio) for ratio in ratios.tolist()])
    return np.bincount(group, counts * logarithms[row], groups).astype(np.float64)
