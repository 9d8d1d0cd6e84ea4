"""The timeline against a tick-by-tick oracle: what is active at each tick of a small clock."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.accounts import ACCOUNTS, LAYERS
from wallsplit.intervals import Intervals, union
from wallsplit.ledger.timeline import (
    MAX_LAYERS,
    NOTHING,
    Timeline,
    account_codes,
    accounts_between,
    booked,
    clipped,
    distinct,
    mask,
    timeline,
    where,
)

LIMIT = 24
pairs = st.lists(st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)).map(sorted), max_size=8)
layers_of = st.lists(pairs, max_size=5)
shifts = st.sampled_from([0, 10**9, 2**58, -(2**60)])


def make(rows: list[list[int]], shift: int = 0) -> Intervals:
    array = np.array(rows, np.int64).reshape(-1, 2) + shift
    return union(array[:, 0], array[:, 1])


def active_at(layers: list[list[list[int]]], tick: int) -> int:
    return sum(1 << i for i, rows in enumerate(layers) if any(start <= tick < end for start, end in rows))


def read(found: Timeline, tick: int) -> int:
    place = int(np.searchsorted(found.times, tick, side="right")) - 1
    return int(found.active[place]) if 0 <= place < len(found.active) else 0


@given(layers_of, shifts)
def test_a_timeline_says_at_every_tick_which_layers_are_active(layers: list[list[list[int]]], shift: int) -> None:
    found = timeline([make(rows, shift) for rows in layers])
    assert (np.diff(found.times) > 0).all()
    assert (found.active[1:] != found.active[:-1]).all()
    assert [read(found, t + shift) for t in range(-1, LIMIT + 2)] == [
        active_at(layers, t) for t in range(-1, LIMIT + 2)
    ]


@given(layers_of, shifts, st.lists(st.integers(-3, LIMIT + 3), min_size=2, max_size=6).map(sorted))
def test_time_booked_between_bounds_is_the_count_of_its_ticks(
    layers: list[list[list[int]]], shift: int, bounds: list[int]
) -> None:
    whole = timeline([make(rows, shift) for rows in layers])
    kinds, codes = distinct(whole.active)
    table = booked(whole.times, codes, len(kinds), np.array(bounds) + shift, outside=0)
    for row, (start, end) in zip(table, pairwise(bounds), strict=True):
        expected = Counter(active_at(layers, t) for t in range(start, end))
        assert {int(kind): int(ns) for kind, ns in zip(kinds, row, strict=True) if ns} == dict(expected)


@given(layers_of, st.integers(-3, LIMIT + 3), st.integers(-3, LIMIT + 3))
def test_a_clipped_timeline_spans_its_window_and_says_the_same_inside(
    layers: list[list[list[int]]], start: int, end: int
) -> None:
    part = clipped(timeline([make(rows) for rows in layers]), start, end)
    if start >= end:
        assert part is NOTHING
        return
    assert (part.times[0], part.times[-1], len(part.active)) == (start, end, len(part.times) - 1)
    assert [read(part, t) for t in range(start, end)] == [active_at(layers, t) for t in range(start, end)]


@given(st.lists(pairs, min_size=3, max_size=3))
def test_where_gives_the_instants_of_some_layers_without_others(layers: list[list[list[int]]]) -> None:
    found = where(timeline([make(rows) for rows in layers]), 0b011, never=0b100)
    expected = {t for t in range(LIMIT) if active_at(layers, t) & 0b011 and not active_at(layers, t) & 0b100}
    assert {t for start, end in np.column_stack(found).tolist() for t in range(start, end)} == expected


def test_time_of_a_very_long_window_is_exact() -> None:
    """Beyond 2**53 ns a sum in floating point would drop the last nanoseconds."""
    whole = timeline([make([[0, 2**60 + 1]])])
    assert booked(whole.times, whole.active, 2, np.array([0, 2**61 + 1]), outside=0).tolist() == [[2**60, 2**60 + 1]]


def test_a_timeline_takes_31_layers_and_no_more() -> None:
    layer = make([[0, 1]])
    assert timeline([layer] * MAX_LAYERS).active.tolist() == [2**MAX_LAYERS - 1]
    with pytest.raises(ValueError, match="at most 31 layers, got 32"):
        timeline([layer] * (MAX_LAYERS + 1))


@given(st.lists(st.sampled_from(LAYERS), unique=True))
def test_an_instant_goes_to_the_first_account_in_order_that_is_active(active: list[str]) -> None:
    expected = min((ACCOUNTS.index(name) for name in active), default=ACCOUNTS.index("host"))
    assert account_codes(np.array([mask(*active)], np.uint32)).tolist() == [expected]


def test_time_without_any_layer_is_the_hosts() -> None:
    assert accounts_between(NOTHING, np.array([5, 9])).tolist() == [[0] * len(LAYERS) + [4]]
