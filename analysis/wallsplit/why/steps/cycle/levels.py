"""One way to cut a sequence into turns, with like turns gathered into kinds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.ranks import ranked
from wallsplit.why.steps.cycle.anchors import Anchors
from wallsplit.why.steps.cycle.cuts import WIDER_COST, Cuts, blocks, cut, description
from wallsplit.why.steps.cycle.kinds import BODIES, Kinds, gathered, is_like
from wallsplit.why.steps.cycle.tokens import Tokens
from wallsplit.why.steps.units import Ints

LAST_TURN_KINDS = 5
"""Kinds of which the last turn may be, cut short by the end of the capture or of the loop."""


@dataclass(frozen=True)
class Level:
    """A sequence cut before each occurrence of one anchor."""

    occurrences: int
    """Of its anchor."""
    starts: Ints
    """Where each segment begins: the complete ones, and that behind them which is not, where there is one."""
    end: int
    """Where the last complete segment ends."""
    kinds: Ints
    """The kind of each complete segment; kind 0 is the commonest, -1 none."""
    sizes: Ints
    """Units of the body that stands for each kind."""
    cost: float
    covered: float
    """Share of the sequence in segments whose kind occurs more than once."""
    exchanging: int
    """Complete segments with an exchange with the host."""
    anchor: int = -1
    """Entry of the anchors; the others that cut alike are dearer."""
    first: int = -1
    """Where the anchor ends first."""

    @property
    def complete(self) -> int:
        """Return the number of complete segments."""
        return len(self.kinds)

    @cached_property
    def bounds(self) -> Ints:
        """Return where each segment begins, and where the last ends."""
        return np.append(self.starts, self.end)

    @property
    def size(self) -> int:
        """Return the units of the body that stands for the commonest kind."""
        return int(self.sizes[0])

    @cached_property
    def like(self) -> Ints:
        """Return which segments are of the commonest kind."""
        return np.flatnonzero(self.kinds == 0)

    @property
    def like_share(self) -> float:
        """Return the share of the complete segments that are of the commonest kind."""
        return len(self.like) / self.complete

    @property
    def exchanges(self) -> bool:
        """Return whether its turns exchange with the host; one may lack it: a loop's last turn often does."""
        return self.exchanging >= 0.9 * self.complete - 1

    @property
    def run_length(self) -> float:
        """Return how many segments of the commonest kind follow one another, on average."""
        return len(self.like) / (1 + int((np.diff(self.like) != 1).sum()))


def levels(tokens: Tokens, anchors: Anchors, rows: Ints, untold: Sequence[bool] | None = None) -> list[Level]:
    """Return the levels that some anchors give, in their order.

    In those that are `untold`, by default none, a last turn cut short is a turn of no kind, -1.
    """
    is_untold = np.zeros(len(rows), np.bool_) if untold is None else np.array(untold, np.bool_)
    cuts, cut_of_row = ranked(anchors.cut[rows])
    cheapest: dict[tuple[int, bool], Level] = {}
    for some, places, offsets in blocks(anchors, cuts):
        for entry, segments in zip(
            some.tolist(), _segments(cut(tokens, places, offsets), places, offsets), strict=True
        ):
            for last_is_untold in sorted(set(is_untold[cut_of_row == entry].tolist())):
                cheapest[entry, last_is_untold] = _level(tokens, segments, is_untold=last_is_untold)
    keys = zip(cut_of_row.tolist(), is_untold.tolist(), strict=True)
    return [_anchored(cheapest[key], anchors, row) for row, key in zip(rows.tolist(), keys, strict=True)]


def _anchored(level: Level, anchors: Anchors, row: int) -> Level:
    """Return a level as that of one of the anchors that cut so."""
    cost = level.cost + WIDER_COST * int(anchors.width[row] - 1)
    return replace(level, anchor=row, first=int(anchors.first[row]), cost=cost)


@dataclass(frozen=True)
class _Segments:
    """One cut: its segments, and its distinct bodies, the most frequent first, then the earliest."""

    occurrences: int
    starts: Ints
    end: int
    body: Ints
    """The body of each complete segment."""
    count: Ints
    length: Ints
    sample: Ints


def _segments(cuts: Cuts, places: Ints, offsets: Ints) -> Iterator[_Segments]:
    bodies = cuts.bodies
    order = np.lexsort((bodies.sample, -bodies.count, bodies.cut))
    first = np.searchsorted(bodies.cut[order], np.arange(len(cuts.start) + 1))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    for k in range(len(cuts.start)):
        before, after = (array[k : k + 1][array[k : k + 1] >= 0] for array in (cuts.before, cuts.after))
        between = cuts.between[offsets[k] - k : offsets[k + 1] - k - 1]
        mine = order[first[k] : first[k + 1]]
        yield _Segments(
            occurrences=int(offsets[k + 1] - offsets[k]),
            starts=np.concatenate([cuts.start[k : k + 1][: len(before)], places[offsets[k] : offsets[k + 1]]]),
            end=int(cuts.end[k]),
            body=rank[np.concatenate([before, between, after])] - first[k],
            count=bodies.count[mine],
            length=bodies.length[mine],
            sample=bodies.sample[mine],
        )


def _level(tokens: Tokens, segments: _Segments, *, is_untold: bool) -> Level:
    kinds = gathered(tokens, segments.sample, segments.length)
    size, sample = segments.length[kinds.founders], segments.sample[kinds.founders]
    told, end, last = kinds.of_body[segments.body], segments.end, int(segments.starts[-1])
    kind = None if len(told) == len(segments.starts) else _last_turn(tokens, last, kinds, size, sample)
    if kind is not None:
        end = min(len(tokens), last + int(size[kind]))
        told = told if is_untold else np.append(told, kind)
    count = np.bincount(told, minlength=len(size))
    order = np.lexsort((sample, -count))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    of_turn = rank[told] if kind is None or not is_untold else np.append(rank[told], -1)
    bounds = np.append(segments.starts, end)[: len(of_turn) + 1]
    cost = description(
        tokens,
        start=segments.starts[:1],
        end=np.array([end]),
        group=np.zeros(len(count), np.int64),
        counts=count,
        written=np.array([_written(kinds, size)]),
    )
    return Level(
        occurrences=segments.occurrences,
        starts=segments.starts,
        end=end,
        kinds=of_turn,
        sizes=size[order],
        cost=float(cost[0]),
        covered=int(np.diff(bounds)[: len(told)][count[told] > 1].sum()) / len(tokens),
        exchanging=int((np.diff(tokens.exchanges[bounds]) > 0).sum()),
    )


def _last_turn(tokens: Tokens, start: int, kinds: Kinds, size: Ints, sample: Ints) -> int | None:
    """Return the first kind of which what begins at the last cut is a turn, though nothing follows it."""
    compared = np.flatnonzero(kinds.founders[:LAST_TURN_KINDS] < BODIES).tolist()
    return next((kind for kind in compared if is_like(tokens, start, int(size[kind]), int(sample[kind]))), None)


def _written(kinds: Kinds, size: Ints) -> float:
    """Return the tokens that a description writes down: a body per kind; of each further one what differs, and one."""
    joined = np.ones(len(kinds.of_body), np.bool_)
    joined[kinds.founders] = False
    return float(size.sum() + (kinds.differences[joined] + 1).sum())
