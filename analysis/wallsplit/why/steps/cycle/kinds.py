"""Which bodies are of one kind: their tokens, in any order, differ little; exchanges with the host do not count."""

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass
from wallsplit.ranks import ranked
from wallsplit.why.steps.cycle.tokens import Tokens, spans
from wallsplit.why.steps.units import Ints

BODIES = 400
"""Bodies looked at, the most frequent first; each further one is a kind of its own."""
KINDS = 16
"""Kinds a body is compared with."""


def tolerance(size: Ints) -> Ints:
    """Return by how many tokens a body of a size may differ and be of the same kind still."""
    return np.where(size >= 4, np.maximum(1, size // 10), 0)


@dataclass(frozen=True)
class Multisets:
    """How often each token occurs in each of some bodies, exchanges left out."""

    body: Ints
    token: Ints
    count: Ints
    """Three columns of a table, by body."""
    size: Ints
    """Tokens of each body."""

    @classmethod
    def of(cls, tokens: Tokens, start: Ints, length: Ints) -> "Multisets":
        """Return the multisets of the bodies that begin at `start`."""
        place = spans(start, length)
        body = np.repeat(np.arange(len(start)), length)
        counts = ~tokens.is_exchange[place]
        vocabulary = int(tokens.numbers.max()) + 1
        key = body[counts] * vocabulary + tokens.numbers[place[counts]]
        key, place = ranked(key)
        count = np.bincount(place, minlength=len(key))
        body, token = key // vocabulary, key % vocabulary
        return cls(body, token, count, np.bincount(body, count, len(start)).astype(np.int64))

    def differences(self, one: int) -> Ints:
        """Return by how many tokens each body differs from body `one`."""
        mine = slice(*np.searchsorted(self.body, [one, one + 1]))
        wanted = np.zeros(int(self.token.max(initial=0)) + 1, np.int64)
        wanted[self.token[mine]] = self.count[mine]
        shared = np.bincount(self.body, np.minimum(self.count, wanted[self.token]), len(self.size)).astype(np.int64)
        apart: Ints = self.size[one] + self.size - 2 * shared
        return apart


@dataclass(frozen=True)
class Kinds:
    """The kinds of some bodies, in the order given: the first body of a kind stands for it."""

    of_body: Ints
    """The kind of each body: numbers from 0 on, in the order of their first bodies."""
    founders: Ints
    """The first body of each kind."""
    differences: Ints
    """By how many tokens each body differs from that which stands for its kind."""


def gathered(tokens: Tokens, start: Ints, length: Ints) -> Kinds:
    """Return the kinds of bodies, given by how common they are, the commonest first."""
    looked_at = min(len(start), BODIES)
    founder, difference = np.arange(len(start)), np.zeros(len(start), np.int64)
    if looked_at > 1:
        founder[:looked_at], difference[:looked_at] = _nearest(tokens, start[:looked_at], length[:looked_at])
    founders, of_body = ranked(founder)
    return Kinds(of_body, founders, difference)


def _nearest(tokens: Tokens, start: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Return the body that stands for each body's kind, and by how much they differ.

    A body founds a kind where none of those founded before it is near; else it joins the nearest, then the earliest.
    """
    every = np.arange(len(start))
    multisets = Multisets.of(tokens, start, length)
    founder, nearest = np.full(len(start), -1), np.full(len(start), np.iinfo(np.int64).max)
    for _ in range(KINDS):
        new = int(np.argmax(founder < 0))
        if founder[new] >= 0:
            break
        founder[new], nearest[new] = new, 0
        apart = multisets.differences(new)
        as_long = np.abs(length - length[new]) <= 2 * tolerance(np.maximum(length, length[new])) + 4
        joins = (every > new) & as_long & (apart <= tolerance(multisets.size[new])) & (apart < nearest)
        founder[joins], nearest[joins] = new, apart[joins]
    alone = founder < 0
    return np.where(alone, every, founder), np.where(alone, 0, nearest)


def is_like(tokens: Tokens, start: int, length: int, body: int) -> npt.NDArray[np.bool_] | bool:
    """Return whether the body of a length at `start`, cut off where the sequence ends, is of the kind of `body`."""
    here = min(length, len(tokens) - start)
    if here < length - int(tolerance(np.array(length))):
        return False
    both = Multisets.of(tokens, np.array([body, start]), np.array([length, here]))
    return bool(both.differences(0)[1] <= tolerance(both.size[0]))
