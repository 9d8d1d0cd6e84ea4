"""Shares and their intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.why.samples.shares import BATCHES, tally, wilson

A, B = 0, 1
codes = st.lists(st.sampled_from([A, B]), min_size=1, max_size=300).map(lambda values: np.array(values, np.uint8))


def equal(values: np.ndarray) -> np.ndarray:
    return np.ones(len(values))


def test_wilsons_interval_is_the_published_one() -> None:
    assert wilson(0.5, 100) == pytest.approx((0.403832, 0.596168), abs=1e-6)
    assert wilson(0.0, 29) == pytest.approx((0.0, 0.116970), abs=1e-6)
    assert wilson(1.0, 29) == pytest.approx((1 - 0.116970, 1.0), abs=1e-6)


@pytest.mark.parametrize("count", range(1, 200))
def test_an_interval_of_all_samples_ends_at_one(count: int) -> None:
    assert tally(np.zeros(count, np.int64), np.ones(count), 2).interval(0)[1] == 1.0


@given(codes)
def test_an_interval_holds_the_share_it_was_made_from(values: np.ndarray) -> None:
    found = tally(values, equal(values), 2)
    for code in set(values.tolist()):
        low, high = found.interval(code)
        assert 0 <= low <= found.share(code) <= high <= 1


@given(codes, st.data())
def test_shares_are_by_weight_and_the_effective_number_is_kishs(values: np.ndarray, data: st.DataObject) -> None:
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values))), np.float64)
    found = tally(values, weights, 2)
    of_a = sum(weight for code, weight in zip(values, weights, strict=True) if code == A)
    assert found.share(A) == pytest.approx(of_a / sum(weights))
    assert found.effective == pytest.approx(sum(weights) ** 2 / sum(weight**2 for weight in weights))
    assert 1 - 1e-9 <= found.effective <= len(values) + 1e-9


@given(st.lists(st.sampled_from([A, B]), min_size=100, max_size=400))
def test_the_design_effect_is_the_variance_of_twenty_batches_over_that_of_independent_samples(
    values: list[int],
) -> None:
    found = tally(np.array(values, np.uint8), np.ones(len(values)), 2)
    p = values.count(A) / len(values)
    means = [1 - batch.mean() for batch in np.array_split(np.array(values), BATCHES)]
    effect = found.design_effect(A)
    if p in (0, 1):
        assert effect is None
    else:
        assert effect == pytest.approx(np.var(means, ddof=1) / BATCHES / (p * (1 - p) / len(values)))


def test_samples_in_clusters_widen_the_interval_and_regular_ones_never_narrow_it() -> None:
    independent = wilson(0.5, 400)
    clustered = tally(np.repeat([A, B], 200).astype(np.uint8), np.ones(400), 2)
    regular = tally(np.tile([A, B], 200).astype(np.uint8), np.ones(400), 2)
    assert clustered.interval(A)[0] < independent[0]
    assert (regular.design_effect(A) or 0) < 1
    assert regular.interval(A) == pytest.approx(independent)


def test_with_less_than_a_hundred_samples_nothing_is_known_about_clusters() -> None:
    assert tally(np.repeat([A, B], 49).astype(np.uint8), np.ones(98), 2).design_effect(A) is None
