"""Where a sequence may be cut: where the same token, or the same two or four in a row, come again."""

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.ranks import in_order, ranked
from wallsplit.why.steps.cycle.tokens import Tokens, spans
from wallsplit.why.steps.units import SYNC, Ints

WIDTHS = (1, 2, 4)
"""Lengths of anchors, in tokens; each but the first is twice the one before it."""


@dataclass(frozen=True)
class Anchors:
    """Anchors that occur at least twice, one entry each, by width and then by where they occur first."""

    width: Ints
    count: Ints
    first: Ints
    """Place of the last token of the first occurrence."""
    cut: Ints
    """Which cut an anchor makes: one that occurs wherever its last half does makes the same."""
    places: Ints
    """Places of the last tokens, ascending in each cut: those of cut k are places[offsets[k] : offsets[k + 1]]."""
    offsets: Ints

    def of_cuts(self, cuts: Ints) -> tuple[Ints, Ints]:
        """Return (places, offsets) of some cuts only."""
        length = self.offsets[cuts + 1] - self.offsets[cuts]
        return self.places[spans(self.offsets[cuts], length)], np.append(0, np.cumsum(length))


@dataclass(frozen=True)
class _Grams:
    """The n-grams of one width, one entry each but in `rank`."""

    rank: Ints
    """Per place: the entry of the n-gram that ends there; 0 where none can."""
    count: Ints
    first: Ints
    cut: Ints
    """-1: none, as it occurs once or ends in a wait."""


def anchors(tokens: Tokens) -> Anchors:
    """Return the anchors of a sequence; none ends in a wait: waits come and go with what the host asks for."""
    every: list[_Grams] = []
    places: list[Ints] = []
    lengths: list[Ints] = []
    cuts = 0
    for width in WIDTHS:
        half = every[-1] if every else None
        grams, of_place = ranked(tokens.numbers if half is None else _joined(half, width))
        order = in_order(of_place, len(grams)) + width - 1
        count = np.bincount(of_place, minlength=len(grams))
        begins = np.cumsum(count) - count
        first = order[begins]
        rank = np.zeros(len(tokens), np.int64)
        rank[width - 1 :] = of_place
        cut = np.full(len(count), -1)
        if half is not None:
            like = half.rank[first]
            cut = np.where(half.count[like] == count, half.cut[like], -1)
        own = np.flatnonzero((cut < 0) & (count >= 2) & (tokens.kind[first] != SYNC))
        cut[own] = np.arange(cuts, cuts + len(own))
        cuts += len(own)
        places.append(order[spans(begins[own], count[own])])
        lengths.append(count[own])
        every.append(_Grams(rank, count, first, cut))
    rows = [np.flatnonzero(grams.cut >= 0) for grams in every]
    rows = [row[np.argsort(grams.first[row])] for row, grams in zip(rows, every, strict=True)]
    chosen = list(zip(every, rows, strict=True))
    return Anchors(
        width=np.repeat(WIDTHS, [len(row) for row in rows]),
        count=np.concatenate([grams.count[row] for grams, row in chosen]),
        first=np.concatenate([grams.first[row] for grams, row in chosen]),
        cut=np.concatenate([grams.cut[row] for grams, row in chosen]),
        places=np.concatenate(places),
        offsets=np.append(0, np.cumsum(np.concatenate(lengths))),
    )


def _joined(half: _Grams, width: int) -> Ints:
    """Return a number for each n-gram of a width, by the place of its last token from `width` - 1 on."""
    rank = half.rank[width // 2 - 1 :]
    return rank[: -(width // 2)] * len(half.count) + rank[width // 2 :]
