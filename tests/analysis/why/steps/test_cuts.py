"""The arrays behind the search for a loop, against the same in plain Python."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from launch_loops import units
from wallsplit.why.steps.cycle.anchors import WIDTHS, Anchors, anchors
from wallsplit.why.steps.cycle.cuts import cut
from wallsplit.why.steps.cycle.kinds import Multisets, gathered
from wallsplit.why.steps.cycle.tokens import Tokens, spans

sequences = st.text("ab", min_size=4, max_size=12) | st.text("abc<|", min_size=4, max_size=60)
repeating = st.builds(lambda body, turns, rest: body * turns + rest, sequences, st.integers(2, 5), sequences)


def tokens(sequence: str) -> Tokens:
    return Tokens.of(units(sequence))


def places(every: Anchors, row: int) -> tuple[int, ...]:
    return tuple(every.of_cuts(every.cut[[row]])[0].tolist())


def grams(sequence: str) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the last places of each n-gram that occurs twice or more, by width and first of them."""
    result: dict[tuple[int, int], tuple[int, ...]] = {}
    for width in WIDTHS:
        ends: dict[str, list[int]] = {}
        for end in range(width - 1, len(sequence)):
            if sequence[end] != "|":
                ends.setdefault(sequence[end - width + 1 : end + 1], []).append(end)
        result |= {(width, where[0]): tuple(where) for where in ends.values() if len(where) > 1}
    return result


@given(sequences | repeating)
def test_anchors_are_the_runs_of_one_two_and_four_tokens_that_come_again(sequence: str) -> None:
    every = anchors(tokens(sequence))
    keys = list(zip(every.width.tolist(), every.first.tolist(), strict=True))
    assert keys == sorted(keys)
    assert {key: places(every, row) for row, key in enumerate(keys)} == grams(sequence)


@given(repeating)
def test_a_cut_costs_what_its_description_takes(sequence: str) -> None:
    every = anchors(tokens(sequence))
    cuts = cut(tokens(sequence), every.places, every.offsets)
    bits = math.log2(len(set(sequence)) + 1)
    for k in range(len(cuts.start)):
        bounds = every.places[every.offsets[k] : every.offsets[k + 1]].tolist()
        if cuts.before[k] >= 0:
            bounds.insert(0, int(cuts.start[k]))
        if cuts.after[k] >= 0:
            bounds.append(int(cuts.end[k]))
        assert [bounds[0], bounds[-1]] == [cuts.start[k], cuts.end[k]]
        # bodies are told apart by what they launch, in whatever order
        bodies = Counter("".join(sorted(sequence[a:b])) for a, b in pairwise(bounds))
        turns = sum(bodies.values())
        choices = sum(count * math.log2(turns / count) for count in bodies.values())
        outside = bounds[0] + len(sequence) - bounds[-1]
        described = (outside + sum(map(len, bodies)) + len(bodies)) * bits + choices
        assert cuts.complete[k] == turns
        assert cuts.cost[k] == pytest.approx(described / (len(sequence) * bits))


def test_what_follows_the_last_cut_is_a_turn_where_it_begins_like_one() -> None:
    every = tokens("abc" * 3 + "d")
    cuts = cut(every, np.array([0, 3, 6]), np.array([0, 3]))
    assert (cuts.start[0], cuts.end[0], cuts.complete[0]) == (0, 9, 3)


def test_what_stands_before_the_first_cut_is_a_turn_where_it_is_like_the_commonest() -> None:
    every = tokens("abc" * 4)
    cuts = cut(every, np.array([3, 6, 9]), np.array([0, 3]))
    assert (cuts.start[0], cuts.end[0], cuts.complete[0]) == (0, 12, 4)


@given(st.lists(st.text("abc<|", min_size=1, max_size=9), min_size=1, max_size=6))
def test_bodies_differ_by_the_tokens_that_only_one_has_exchanges_left_out(bodies: list[str]) -> None:
    length = np.array([len(body) for body in bodies])
    found = Multisets.of(tokens("".join(bodies)), np.cumsum(length) - length, length)
    counts = [Counter(body.replace("<", "").replace("|", "")) for body in bodies]
    for one in range(len(bodies)):
        apart = [((counts[one] - other) + (other - counts[one])).total() for other in counts]
        assert found.differences(one).tolist() == apart


def test_a_body_joins_the_nearest_kind_and_founds_one_where_none_is_near() -> None:
    bodies = ["abcdefghijklmnopqrst", "abcdefghijklmnopqrst".upper(), "abcdefghijklmnopqrsS", "<abcd"]
    length = np.array([len(body) for body in bodies])
    kinds = gathered(tokens("".join(bodies)), np.cumsum(length) - length, length)
    assert kinds.of_body.tolist() == [0, 1, 0, 2]
    assert kinds.founders.tolist() == [0, 1, 3]
    assert kinds.differences.tolist() == [0, 0, 2, 0]


def test_spans_are_written_one_after_the_other() -> None:
    assert spans(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
