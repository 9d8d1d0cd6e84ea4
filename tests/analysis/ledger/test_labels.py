"""Timelines of labels against painting tick by tick."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.intervals import Intervals
from wallsplit.ledger.labels import NONE, Labels, constant, latest_begun, paint

LAST = 40
FAR = 2**62

strokes = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST), st.integers(NONE, 4)), max_size=30)
begun = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, 12), st.integers(0, 4), st.integers(1, 3)), max_size=30)


def painted(rows: list[tuple[int, int, int]]) -> Labels:
    starts, ends, codes = np.array(rows, np.int64).reshape(-1, 3).T
    return paint(starts, ends, codes.astype(np.int32))


def latest(rows: list[tuple[int, int, int, int]]) -> Labels:
    starts, lengths, codes, threads = np.array(rows, np.int64).reshape(-1, 4).T
    return latest_begun(starts, starts + lengths, codes.astype(np.int32), threads)


def by_ticks(labels: Labels, first: int = -2, last: int = 2 * LAST) -> list[int]:
    return [int(code) for code in labels.at(np.arange(first, last))]


@given(strokes)
def test_each_interval_paints_over_those_before_it(rows: list[tuple[int, int, int]]) -> None:
    canvas = [NONE] * (2 * LAST + 2)
    for start, end, code in rows:
        for tick in range(start, end):
            canvas[tick + 2] = code
    assert by_ticks(painted(rows)) == canvas


@given(begun)
def test_the_label_is_that_of_the_open_interval_that_began_last(rows: list[tuple[int, int, int, int]]) -> None:
    expected = []
    for tick in range(-2, 2 * LAST):
        inside = [
            (-start, length, thread, row, code)
            for row, (start, length, code, thread) in enumerate(rows)
            if start <= tick < start + length
        ]
        expected.append(min(inside)[-1] if inside else NONE)
    assert by_ticks(latest(rows)) == expected


@given(strokes)
def test_a_timeline_changes_at_each_of_its_times_and_ends_without_a_label(rows: list[tuple[int, int, int]]) -> None:
    labels = painted(rows)
    assert (np.diff(labels.times) > 0).all()
    before = np.append(NONE, labels.codes[:-1])
    assert (labels.codes != before).all()
    assert not len(labels.codes) or labels.codes[-1] == NONE


def test_ranges_that_cross_on_two_threads_take_turns() -> None:
    labels = latest([(0, 10, 1, 7), (5, 10, 2, 8), (12, 1, 3, 7)])
    assert (labels.times.tolist(), labels.codes.tolist()) == ([0, 5, 12, 13, 15], [1, 2, 3, 2, NONE])


def test_a_range_comes_back_when_those_inside_it_are_over() -> None:
    labels = latest([(0, 100, 1, 7), *((start, 5, 2, 7) for start in range(10, 90, 10))])
    assert labels.codes.tolist() == [1, *([2, 1] * 8), NONE]


@pytest.mark.parametrize("shift", [-FAR + 1, 0, FAR - 15])
def test_times_may_lie_anywhere_that_a_trace_allows(shift: int) -> None:
    labels = latest([(shift, 10, 1, 7), (shift, 15, 2, 7), (shift + 3, 2, 3, 7)])
    assert [time - shift for time in labels.times.tolist()] == [0, 3, 5, 10, 15]
    assert labels.codes.tolist() == [1, 3, 1, 2, NONE]


def test_a_set_of_instants_is_a_timeline_of_one_label() -> None:
    labels = constant(Intervals(np.array([2, 8]), np.array([5, 9])), 4)
    assert by_ticks(labels, 0, 10) == [NONE, NONE, 4, 4, 4, NONE, NONE, NONE, 4, NONE]


def test_nothing_is_a_timeline_without_labels() -> None:
    assert by_ticks(painted([(3, 3, 1)]), 0, 5) == [NONE] * 5


def test_a_million_nested_and_following_ranges_are_one_sweep() -> None:
    """A stack as deep as the trace is long, and one range after another: no depth or length costs more than another."""
    count = 500_000
    starts = np.concatenate([np.arange(count), np.arange(2 * count, 3 * count)])
    ends = np.concatenate([2 * count - np.arange(count), np.arange(2 * count, 3 * count) + 1])
    codes = np.arange(2 * count, dtype=np.int32)
    labels = latest_begun(starts, ends, codes, np.zeros_like(starts))
    assert len(labels.times) == 3 * count
    assert labels.at(np.array([0, count - 1, 2 * count - 1, 2 * count, 3 * count - 1])).tolist() == [
        *(0, count - 1, 0, count, 2 * count - 1)
    ]
