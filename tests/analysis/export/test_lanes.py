"""Lanes: what shares a line lies side by side or inside one another, and every edge is there once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.export.lanes import Lane, lanes
from wallsplit.export.slices import Slices

Pairs = list[tuple[int, int]]
INTERVALS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda x: (x[0], x[0] + x[1])), max_size=12)


def slices(pairs: Pairs) -> Slices:
    start, end = np.array(pairs, np.int64).reshape(-1, 2).T
    return Slices(start, end, np.zeros(len(pairs), np.int64), ["x"])


def on_lines(pairs: Pairs, *, nests: bool) -> list[Pairs]:
    return [[pairs[row] for row in lane.rows[lane.begins]] for lane in lanes(slices(pairs), nests=nests)]


def replayed(lane: Lane) -> list[tuple[int, int, int]]:
    """Return (slice, start, end) of a lane read as a viewer does: an end belongs to the last that began."""
    stack, result = [], []
    for time, row, begins in zip(lane.times.tolist(), lane.rows.tolist(), lane.begins.tolist(), strict=True):
        if begins:
            stack.append((row, time))
        else:
            begun, start = stack.pop()
            result.append((begun, start, time))
    assert stack == []
    return result


@pytest.mark.parametrize(
    ("pairs", "nested", "beside"),
    [
        ([(0, 9), (2, 5)], [[(0, 9), (2, 5)]], [[(0, 9)], [(2, 5)]]),
        ([(0, 5), (5, 9)], [[(0, 5), (5, 9)]], [[(0, 5), (5, 9)]]),
        ([(0, 5), (3, 9)], [[(0, 5)], [(3, 9)]], [[(0, 5)], [(3, 9)]]),
        ([(0, 4), (2, 8), (5, 9)], [[(0, 4), (5, 9)], [(2, 8)]], [[(0, 4), (5, 9)], [(2, 8)]]),
        ([(3, 3), (0, 3), (3, 6)], [[(0, 3), (3, 6), (3, 3)]], [[(0, 3), (3, 6)], [(3, 3)]]),
        ([], [], []),
    ],
)
def test_slices_go_to_the_first_line_they_fit_on(pairs: Pairs, nested: list[Pairs], beside: list[Pairs]) -> None:
    assert on_lines(pairs, nests=True) == nested
    assert on_lines(pairs, nests=False) == beside


@given(INTERVALS, st.booleans())
def test_every_slice_is_on_one_line_and_read_back_as_it_is(pairs: Pairs, nests: bool) -> None:
    lines = lanes(slices(pairs), nests=nests)
    for lane in lines:
        assert (np.diff(lane.times) >= 0).all()
    assert sorted(each for lane in lines for each in replayed(lane)) == [(i, *pair) for i, pair in enumerate(pairs)]


@given(INTERVALS)
def test_beside_one_another_nothing_on_a_line_overlaps(pairs: Pairs) -> None:
    for line in on_lines(pairs, nests=False):
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(line))


@given(INTERVALS)
def test_one_line_is_enough_where_no_two_cross(pairs: Pairs) -> None:
    crossing = any(a < c < b < d for a, b in pairs for c, d in pairs)
    if not crossing:
        assert len(lanes(slices(pairs), nests=True)) <= 1
