"""Distinct numbers and their places are what sorting gives, however the numbers lie."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.ranks import distinct, in_order, places_among, ranked, rows_of_each

CLUSTERS = st.lists(st.sampled_from([0, 5_000, 3_000_000, 3_004_095, 3_004_096, 10_000_000, 4_000_000_000]), max_size=4)
NUMBERS = st.lists(st.integers(0, 9000), max_size=40)
TYPES = [np.int8, np.uint8, np.int16, np.uint32, np.int32, np.int64, np.uint64]


@given(CLUSTERS, NUMBERS, st.sampled_from([0, -7_000_000_000, 2**62]), st.booleans())
def test_numbers_in_clusters_get_the_places_that_sorting_gives(
    clusters: list[int], numbers: list[int], shift: int, in_runs: bool
) -> None:
    given_numbers = np.array([shift + start + number for start in clusters for number in numbers], np.int64)
    agree(given_numbers, in_runs=in_runs)


@given(st.data())
@pytest.mark.parametrize("kind", TYPES)
def test_integers_of_every_type_get_the_places_that_sorting_gives(kind: type[np.integer], data: st.DataObject) -> None:
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    edges = st.sampled_from([least, most, most // 2])
    agree(np.array(data.draw(st.lists(edges | st.integers(least, most) | st.integers(0, 9))), kind))


@given(st.lists(st.floats(-9, 9)))
def test_reals_get_the_places_that_sorting_gives(numbers: list[float]) -> None:
    agree(np.array(numbers, np.float64))


def test_ids_of_recordings_in_turn_need_no_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table a page: what is sorted instead takes several times as long."""
    ids = np.concatenate([2_650_000 * k + np.arange(7_500) for k in range(40)])[::-1]
    monkeypatch.setattr("wallsplit.ranks.np.sort", None)
    agree(np.ascontiguousarray(ids))


@given(st.sets(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_what_is_not_there_has_no_place(there: set[int], asked: list[int]) -> None:
    values = np.array(sorted(there), np.int64)
    expected = [sorted(there).index(number) if number in there else -1 for number in asked]
    assert places_among(values, np.array(asked, np.int64)).tolist() == expected


@given(st.sampled_from([0, 1, 3, 7, 300]), st.data())
def test_rows_of_one_place_stay_in_order(size: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, size - 1)) if size else st.just([]))
    expected = sorted(range(len(numbers)), key=lambda row: numbers[row])
    places = np.array(numbers, np.int64)
    assert in_order(places, size).tolist() == expected
    each = [[row for row, number in enumerate(numbers) if number == place] for place in range(size)]
    assert [rows.tolist() for rows in rows_of_each(places, size)] == each


def agree(numbers: npt.NDArray[np.number], *, in_runs: bool = False) -> None:
    values, places = ranked(numbers, in_runs=in_runs)
    expected, inverse = np.unique(numbers, return_inverse=True)
    assert values.dtype == numbers.dtype
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(distinct(numbers), expected)
    np.testing.assert_array_equal(places, inverse.ravel())
