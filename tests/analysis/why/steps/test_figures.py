"""Figures of one kind of steps, by hand."""

import numpy as np
import pytest

from wallsplit.why.steps.figures import drift, median, nearest_rank, step_kind, warm_up


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median(np.array([1, 2, 5, 9])) == 3.5
    assert median(np.array([1, 2, 9])) == 2.0


@pytest.mark.parametrize(("share", "rank"), [(0.95, 95), (0.99, 99), (1.0, 100), (0.001, 1)])
def test_a_quantile_is_the_smallest_value_with_that_share_at_or_below_it(share: float, rank: int) -> None:
    assert nearest_rank(np.arange(1, 101), share) == rank


@pytest.mark.parametrize(
    ("ns", "count"),
    [
        ([100] * 8, 0),
        ([900, 300, 100, 100, 100, 100, 100, 100], 2),
        ([900, 100, 100, 300, 100, 100, 100, 100], 4),  # three in a row must be quick
        ([110, 100, 100, 100, 100, 100], 0),  # within a tenth
        ([111, 100, 100, 100, 100, 100], 1),
        ([200, 100, 130, 70, 100, 140, 60], 1),  # within three robust deviations of what varies anyway
        ([900, 100, 100], None),  # too few to tell
        ([900] * 11 + [100] * 20, None),  # that is no warm-up but a drift
    ],
)
def test_warm_up_is_what_comes_before_three_steps_no_slower_than_the_later_half(
    ns: list[int], count: int | None
) -> None:
    assert warm_up(np.array(ns)) == count


def test_drift_is_the_last_quarter_over_the_first() -> None:
    assert drift(np.array([100, 100, 100, 100, 100, 100, 150, 150])) == 1.5
    assert drift(np.array([100] * 7)) is None


def test_a_kind_is_described_by_its_steady_steps() -> None:
    accounts = np.zeros((5, 17), np.int64)
    accounts[:, 0] = [900, 10, 20, 30, 40]
    kind = step_kind(np.array([1_000, 100, 100, 100, 120]), accounts, 1, "train", "step #")
    assert (kind.count, kind.warmup_count, kind.steady_count, kind.total_ns) == (5, 1, 4, 1_420)
    assert (kind.min_ns, kind.med_ns, kind.p95_ns, kind.max_ns) == (100, 100.0, 120, 120)
    assert kind.jitter_ratio == pytest.approx(0.2)
    assert kind.accounts_med_ns is not None
    assert kind.accounts_med_ns["gpu.kernel"] == 25.0


def test_a_step_stalls_beyond_five_times_the_median() -> None:
    kind = step_kind(np.array([100, 100, 100, 500, 501, 900]), None, 0, None, None)
    assert kind.med_ns == 300.0
    assert kind.stalled_count == 0
    kind = step_kind(np.array([100, 100, 100, 100, 500, 501, 900]), None, 0, None, None)
    assert (kind.med_ns, kind.stalled_count, kind.stalled_ns) == (100.0, 2, 401.0 + 800.0)


def test_steps_that_take_no_time_have_no_jitter() -> None:
    assert step_kind(np.zeros(4, np.int64), None, 0, None, None).jitter_ratio is None
