"""Levels and children, against a comparison of every range with every other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wallsplit.breakdowns.nesting import nesting

Range = tuple[int, int, int]  # thread, start, end


@st.composite
def any_ranges(draw: st.DrawFn) -> list[Range]:
    """Return ranges that touch, cross, coincide and have length zero, on two threads."""
    rows = draw(st.lists(st.tuples(st.integers(7, 8), st.integers(0, 9), st.integers(0, 9)), max_size=14))
    return [(thread, min(a, b), max(a, b)) for thread, a, b in rows]


@st.composite
def pushed_and_popped(draw: st.DrawFn) -> list[Range]:
    """Return ranges that nest properly on each thread, in the order of their ends."""
    rows: list[Range] = []
    stack: list[tuple[int, int]] = []
    for now, push in enumerate(draw(st.lists(st.booleans(), max_size=30))):
        if push:
            stack.append((7, now))
        elif stack:
            rows.append((*stack.pop(), now))
    return rows + [(8, start, end) for _, start, end in rows[::2]]


def by_comparison(rows: list[Range]) -> list[tuple[int, int]]:
    def outer_first(i: int) -> tuple[int, int, int]:
        return rows[i][1], -rows[i][2], i

    def encloses(i: int, j: int) -> bool:
        (thread_i, start_i, end_i), (thread_j, start_j, end_j) = rows[i], rows[j]
        inside = thread_i == thread_j and start_i <= start_j and end_j <= end_i
        return inside and outer_first(i) < outer_first(j)

    enclosing = [[i for i in range(len(rows)) if encloses(i, j)] for j in range(len(rows))]
    parents = [
        min(around, key=lambda i: (rows[i][2] - rows[i][1], [-x for x in outer_first(i)]), default=-1)
        for around in enclosing
    ]
    return [(len(around), parents.count(i)) for i, around in enumerate(enclosing)]


def found(rows: list[Range]) -> list[tuple[int, int]]:
    thread, start, end = (np.array([row[side] for row in rows], np.int64) for side in range(3))
    level, children = nesting(thread, start, end, np.arange(len(rows)))
    return list(zip(level.tolist(), children.tolist(), strict=True))


def test_a_range_is_one_level_below_the_shortest_range_around_it() -> None:
    outer, middle, inner, beside = (1, 0, 100), (1, 10, 50), (1, 20, 30), (1, 60, 70)
    assert found([inner, outer, beside, middle]) == [(2, 0), (0, 2), (1, 0), (1, 1)]


def test_ranges_that_touch_do_not_enclose_each_other() -> None:
    assert found([(1, 0, 10), (1, 10, 20)]) == [(0, 0), (0, 0)]


def test_ranges_of_other_threads_enclose_nothing() -> None:
    assert found([(1, 0, 10), (2, 2, 3)]) == [(0, 0), (0, 0)]


def test_a_range_inside_two_crossing_ones_is_the_child_of_the_shorter() -> None:
    long, short, inside = (1, 0, 60), (1, 40, 70), (1, 45, 50)
    assert found([long, short, inside]) == [(0, 0), (0, 1), (2, 0)]


def test_ranges_of_length_zero_on_one_thread_leave_other_threads_alone() -> None:
    assert found([(7, 0, 1), (7, 0, 1), (8, 0, 0), (8, 0, 0)]) == [(0, 1), (1, 0), (0, 1), (1, 0)]


@settings(deadline=None)
@given(any_ranges() | pushed_and_popped())
def test_levels_and_children_equal_a_comparison_of_all_pairs(rows: list[Range]) -> None:
    assert found(rows) == by_comparison(rows)


@settings(deadline=None)
@given(pushed_and_popped(), st.integers(-(2**61), 2**61))
def test_times_far_apart_change_nothing(rows: list[Range], far: int) -> None:
    moved = [
        (thread, start + far if thread == 8 else start, end + far if thread == 8 else end)
        for thread, start, end in rows
    ]
    many_threads = moved + [(1000 + i, 2**62 - 1, 2**62) for i in range(9)]
    assert found(many_threads)[: len(rows)] == by_comparison(rows)
