"""Aggregates over many slices, against a loop over each."""

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wallsplit.breakdowns.slices import Operation, prefix_aggregates, slice_extremes

LOOPS: dict[Operation, Callable[[Sequence[int]], int]] = {
    "sum": sum,
    "min": lambda values: min(values, default=2**63 - 1),
    "max": lambda values: max(values, default=-(2**63)),
}
VALUES = st.lists(st.integers(-50, 50), max_size=40)


@settings(deadline=None)
@given(VALUES.filter(bool), st.data())
def test_slice_extremes_are_those_of_each_slice(values: list[int], data: st.DataObject) -> None:
    cuts = st.tuples(st.integers(0, len(values)), st.integers(0, len(values))).filter(lambda cut: cut[0] < cut[1])
    slices = data.draw(st.lists(cuts, max_size=20))
    low, high = (np.array([cut[side] for cut in slices], np.int64) for side in (0, 1))
    assert slice_extremes(np.array(values), low, high, "min").tolist() == [min(values[a:b]) for a, b in slices]
    assert slice_extremes(np.array(values), low, high, "max").tolist() == [max(values[a:b]) for a, b in slices]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-50, 50)), max_size=40), st.data())
def test_prefix_aggregates_are_those_of_the_small_keys_in_each_prefix(
    points: list[tuple[int, int]], data: st.DataObject
) -> None:
    queries = data.draw(st.lists(st.tuples(st.integers(0, len(points)), st.integers(-11, 11)), max_size=20))
    keys, values = (np.array([point[side] for point in points], np.int64) for side in (0, 1))
    prefix, limit = (np.array([query[side] for query in queries], np.int64) for side in (0, 1))
    for operation, loop in LOOPS.items():
        found = prefix_aggregates(keys, values, prefix, limit, operation)
        assert found.tolist() == [loop([v for k, v in points[:p] if k <= most]) for p, most in queries]
