"""What a cut costs: how long a description of the sequence is that writes each distinct body between two cuts once."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from wallsplit import native
from wallsplit.frozen import dataclass
from wallsplit.ranks import ranked
from wallsplit.why.steps.cycle.anchors import Anchors
from wallsplit.why.steps.cycle.tokens import Hashes, Tokens, choice_bits, splitmix64
from wallsplit.why.steps.units import Ints

Floats = npt.NDArray[np.float64]
WIDER_COST = 0.002
"""Per further token of an anchor: the plainer one, where two cut alike."""
MOST_BITS = 20
"""A table of so many bits stays in the processor's cache."""
BLOCK = 1 << 18
"""Places cut at a time: bounds the memory, and the block stays in the processor's cache."""


@dataclass(frozen=True)
class Bodies:
    """The distinct bodies of some cuts, one entry each, in no order. Bodies are told apart by length and hash."""

    cut: Ints
    count: Ints
    length: Ints
    sample: Ints
    """Where the first of them begins: no two of a cut begin at the same place."""
    hash_: Hashes

    def commonest(self, rows: Ints) -> Ints:
        """Return of `rows` the one of each cut that occurs most often; of those, that which occurs first."""
        most = np.zeros(int(self.cut.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, self.cut[rows], self.count[rows])
        rows = rows[self.count[rows] == most[self.cut[rows]]]
        earliest = np.full(len(most), np.iinfo(np.int64).max)
        np.minimum.at(earliest, self.cut[rows], self.sample[rows])
        first: Ints = rows[self.sample[rows] == earliest[self.cut[rows]]]
        return first


@dataclass(frozen=True)
class Cuts:
    """A sequence cut in several ways, one entry per way; a cut is made before each of its places."""

    start: Ints
    """Where the first segment begins: at the first place, or a body before it (`before`)."""
    end: Ints
    """Where the last complete segment ends."""
    complete: Ints
    """Number of complete segments."""
    cost: Floats
    """Bits of the description ÷ bits of the sequence."""
    bodies: Bodies
    between: Ints
    """The body, an entry of `bodies`, of each segment between two places of a cut."""
    before: Ints
    """The body before the first place: the commonest, where it stands there, else -1. A loop's first turn may lack what
    an anchor looks for before it."""
    after: Ints
    """The body behind the last place: the commonest of those that stand there, else -1: not complete."""


def cut(tokens: Tokens, places: Ints, offsets: Ints) -> Cuts:
    """Return a sequence cut at places[offsets[k] : offsets[k + 1]], two or more and ascending, for each k."""
    first, last = places[offsets[:-1]], places[offsets[1:] - 1]
    bodies, between = _bodies(tokens, places, offsets)
    after = bodies.commonest(_standing(tokens, bodies, np.arange(len(bodies.cut)), last[bodies.cut]))
    bodies.count[after] += 1
    commonest = bodies.commonest(np.arange(len(bodies.cut)))
    before = _standing(tokens, bodies, commonest, first[bodies.cut[commonest]] - bodies.length[commonest])
    bodies.count[before] += 1
    bodies.sample[before] = first[bodies.cut[before]] - bodies.length[before]
    start, end, complete = first.copy(), last.copy(), np.diff(offsets) - 1
    end[bodies.cut[after]] += bodies.length[after]
    start[bodies.cut[before]] -= bodies.length[before]
    complete[bodies.cut[after]] += 1
    complete[bodies.cut[before]] += 1
    written = np.bincount(bodies.cut, bodies.length, len(first)).astype(np.float64)
    cost = description(tokens, start, end, bodies.cut, bodies.count, written)
    return Cuts(
        start, end, complete, cost, bodies, between, _per_cut(before, bodies, first), _per_cut(after, bodies, first)
    )


def description(tokens: Tokens, start: Ints, end: Ints, group: Ints, counts: Ints, written: Floats) -> Floats:
    """Return the cost of descriptions: bits ÷ bits of the whole sequence.

    A description writes down what lies outside [start, end), `written` tokens of bodies, and which body comes when:
    `counts`, by `group`, are how often each does.
    """
    most = int(counts.max(initial=0))
    key = np.sort(group * (most + 1) + most - counts)
    group, counts = key // (most + 1), most - key % (most + 1)
    bodies = np.bincount(group, minlength=len(start))
    bits, n = tokens.bits, len(tokens)
    return ((start + n - end + written) * bits + choice_bits(counts, group, len(start)) + bodies * bits) / (n * bits)


def blocks(anchors: Anchors, cuts: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield (rows of `cuts`, places, offsets) of the cuts of some anchors, about BLOCK places at a time."""
    length = anchors.offsets[cuts + 1] - anchors.offsets[cuts]
    block = (np.cumsum(length) - 1) // BLOCK
    for rows in np.split(np.arange(len(cuts)), np.flatnonzero(np.diff(block)) + 1):
        if len(rows):
            yield rows, *anchors.of_cuts(cuts[rows])


def _bodies(tokens: Tokens, places: Ints, offsets: Ints) -> tuple[Bodies, Ints]:
    compiled = native.bodies(tokens.hashes, places, offsets)
    if compiled is not None:
        return Bodies(*compiled[:-1]), compiled.between
    is_inner = np.ones(len(places), np.bool_)
    is_inner[offsets[1:] - 1] = False
    inner = np.flatnonzero(is_inner)
    begin, end = places[inner], places[inner + 1]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets) - 1)
    hash_, length = tokens.hashes[end] - tokens.hashes[begin], end - begin
    key = splitmix64(hash_ + (length.astype(np.uint64) << np.uint64(32)) + owner.astype(np.uint64))
    count, between = _numbered(key)
    some = np.empty(count, np.int64)
    some[between[::-1]] = np.arange(len(between))[::-1]  # of equal bodies the last one stays: the first
    return Bodies(
        owner[some], np.bincount(between, minlength=len(some)), length[some], begin[some], hash_[some]
    ), between


def _numbered(keys: Hashes) -> tuple[int, Ints]:
    """Return how many distinct hashes there are, and a number for each: by a table, where no two meet in it."""
    bits = min(len(keys).bit_length() + 2, MOST_BITS)
    slot = (keys >> np.uint64(64 - bits)).astype(np.int64)
    table = np.zeros(1 << bits, np.uint64)
    table[slot] = keys
    if (table[slot] != keys).any():
        values, numbers = ranked(keys)
        return len(values), numbers
    occurs = np.zeros(1 << bits, np.bool_)
    occurs[slot] = True
    return int(np.count_nonzero(occurs)), (np.cumsum(occurs) - 1)[slot]


def _standing(tokens: Tokens, bodies: Bodies, rows: Ints, at: Ints) -> Ints:
    """Return those of `rows` whose body stands in the sequence at `at`, a place for each row."""
    end = at + bodies.length[rows]
    inside = np.flatnonzero((at >= 0) & (end <= len(tokens)))
    rows, at, end = rows[inside], at[inside], end[inside]
    standing: Ints = rows[tokens.hashes[end] - tokens.hashes[at] == bodies.hash_[rows]]
    return standing


def _per_cut(rows: Ints, bodies: Bodies, cuts: Ints) -> Ints:
    result = np.full(len(cuts), -1)
    result[bodies.cut[rows]] = rows
    return result
