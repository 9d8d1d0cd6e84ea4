"""The interval algebra against a tick-by-tick oracle: a set of intervals is a set of integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.intervals import (
    Intervals,
    clip,
    covers,
    elapsed,
    gaps,
    holding,
    intersect,
    merge,
    of_others,
    subtract,
    total_ns,
    union,
)

LIMIT = 24
pairs = st.lists(st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)).map(sorted), max_size=8)
window = st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)).map(sorted)


def make(rows: list[list[int]]) -> Intervals:
    array = np.array(rows, np.int64).reshape(-1, 2)
    return union(array[:, 0], array[:, 1])


def ticks(rows: list[list[int]]) -> set[int]:
    return {t for start, end in rows for t in range(start, end)}


def ticks_of(intervals: Intervals) -> set[int]:
    """Read a result back, insisting that it is in normal form: sorted, disjoint, not touching, none empty."""
    assert (intervals.starts < intervals.ends).all()
    assert (intervals.ends[:-1] < intervals.starts[1:]).all()
    return ticks(np.column_stack(intervals).tolist())


@given(pairs)
def test_a_union_covers_what_any_of_its_intervals_covers(rows: list[list[int]]) -> None:
    assert ticks_of(make(rows)) == ticks(rows)
    assert total_ns(make(rows)) == len(ticks(rows))


@given(pairs, pairs)
def test_merge_intersect_and_subtract_are_the_set_operations(a: list[list[int]], b: list[list[int]]) -> None:
    assert ticks_of(merge([make(a), make(b)])) == ticks(a) | ticks(b)
    assert ticks_of(intersect(make(a), make(b))) == ticks(a) & ticks(b)
    assert ticks_of(subtract(make(a), make(b))) == ticks(a) - ticks(b)


@given(st.lists(pairs, max_size=5))
def test_the_others_of_each_set_are_all_but_itself(sets: list[list[list[int]]]) -> None:
    found = [ticks_of(others) for others in of_others([make(rows) for rows in sets])]
    assert found == [set().union(*(ticks(b) for j, b in enumerate(sets) if j != i)) for i in range(len(sets))]


@given(pairs, st.lists(st.integers(-5, 60)))
def test_elapsed_counts_the_ticks_of_the_set_before_each_time(a: list[list[int]], times: list[int]) -> None:
    expected = [sum(tick < time for tick in ticks(a)) for time in times]
    assert elapsed(make(a), np.array(times, np.int64)).tolist() == expected


@given(pairs, window)
def test_clip_and_gaps_share_a_window_out_between_them(rows: list[list[int]], ends: list[int]) -> None:
    start, end = ends
    inside = ticks(rows) & set(range(start, end))
    assert ticks_of(clip(make(rows), start, end)) == inside
    assert ticks_of(gaps(make(rows), start, end)) == set(range(start, end)) - inside


@given(st.lists(st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)).map(sorted), min_size=1, max_size=8))
def test_covers_keep_the_place_of_zero_length_intervals(rows: list[list[int]]) -> None:
    """On a doubled clock, where instants are even, a zero-length interval at t is the tick 2t and nothing else."""
    doubled = {t for start, end in rows for t in range(2 * start, 2 * end + 1)}
    array = np.array(rows, np.int64)
    found = covers(array[:, 0], array[:, 1])
    assert {t for start, end in np.column_stack(found).tolist() for t in range(2 * start, 2 * end + 1)} == doubled


@given(pairs, st.lists(st.integers(-1, LIMIT + 1), max_size=6))
def test_the_interval_that_holds_a_time_is_told_by_position(rows: list[list[int]], times: list[int]) -> None:
    intervals = make(rows)
    spans = list(zip(intervals.starts.tolist(), intervals.ends.tolist(), strict=True))
    expected = [next((i for i, (start, end) in enumerate(spans) if start <= t < end), -1) for t in times]
    assert holding(intervals, np.array(times, np.int64)).tolist() == expected
