"""The innermost range, against looking at every tick."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.why.samples.innermost import innermost

LIMIT = 24
Pair = tuple[int, int]
ranges = st.lists(st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)).map(lambda p: (min(p), max(p))), max_size=9)


def stretches(pairs: list[Pair]) -> list[tuple[int, int, int]]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    found = innermost(array[:, 0], array[:, 1], np.arange(len(pairs)))
    return list(zip(found.starts.tolist(), found.ends.tolist(), found.row.tolist(), strict=True))


def top(pairs: list[Pair], tick: int) -> int | None:
    """Return the open range that began last; of equal starts the shorter, then the later in the list."""
    is_open = [i for i, (start, end) in enumerate(pairs) if start <= tick < end]
    return max(is_open, key=lambda i: (pairs[i][0], -pairs[i][1], i), default=None)


@given(ranges)
def test_at_every_instant_the_open_range_that_began_last_is_the_innermost(pairs: list[Pair]) -> None:
    told = {tick: row for start, end, row in stretches(pairs) for tick in range(start, end)}
    assert told == {tick: row for tick in range(LIMIT) if (row := top(pairs, tick)) is not None}


@given(ranges)
def test_stretches_ascend_are_not_empty_and_a_range_that_begins_ends_the_one_before(pairs: list[Pair]) -> None:
    found = stretches(pairs)
    assert all(start < end for start, end, _ in found)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(found))
    assert not [(s, e, begun) for s, e, _ in found for begun, _ in pairs if s < begun < e]


def test_an_outer_range_goes_on_after_an_inner_one() -> None:
    assert stretches([(0, 10), (2, 4), (6, 7)]) == [(0, 2, 0), (2, 4, 1), (4, 6, 0), (6, 7, 2), (7, 10, 0)]


@given(ranges, st.integers(0, LIMIT))
def test_a_time_is_looked_up_in_the_stretch_that_holds_it(pairs: list[Pair], tick: int) -> None:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    found = innermost(array[:, 0], array[:, 1], np.arange(len(pairs)))
    (place,) = found.at(np.array([tick])).tolist()
    assert (found.row[place] if place >= 0 else None) == top(pairs, tick)
