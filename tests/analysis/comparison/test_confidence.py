"""Whether a change is more than noise: what is claimed, how often that is wrong, and what is never claimed."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from comparisons import comparison, of_steps, repeat, steps
from wallsplit.comparison.confidence import (
    STATISTICS,
    block_length,
    bootstrap,
    confidence,
    incomplete_beta,
    student_quantile,
    welch,
)
from wallsplit.comparison.sides import Side


@pytest.mark.parametrize(
    ("probability", "freedom", "expected"),
    [(0.975, 1, 12.7062), (0.975, 2, 4.30265), (0.975, 4, 2.77645), (0.95, 10, 1.81246), (0.9995, 5, 6.86883)],
)
def test_students_quantiles_are_those_of_the_tables(probability: float, freedom: float, expected: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-5)


def test_students_quantile_of_many_degrees_of_freedom_is_the_normal_one() -> None:
    assert student_quantile(0.975, 1e7) == pytest.approx(1.959964, rel=1e-5)
    assert student_quantile(0.5, 3.3) == 0


def test_the_incomplete_beta_function_has_its_closed_forms() -> None:
    for x in (0.0, 0.2, 0.5, 0.9, 1.0):
        assert incomplete_beta(x, 1, 1) == pytest.approx(x)
        assert incomplete_beta(x, 2, 1) == pytest.approx(x * x)
        assert incomplete_beta(x, 1, 3) == pytest.approx(1 - (1 - x) ** 3)


def runs(figures: list[float]) -> list[list[int]]:
    """Return runs of 30 equal steps of so many ns."""
    return [[round(figure)] * 30 for figure in figures]


def test_three_runs_a_side_and_more_bear_a_verdict() -> None:
    slow = of_steps(runs([1000, 1010, 990]), runs([1200, 1210, 1195])).pairs[0].confidence
    assert (slow.verdict, slow.runs, slow.covers) == ("slower", (3, 3), "differences between runs")
    assert slow.low is not None
    assert slow.high is not None
    assert 0 < slow.low < slow.ratio < slow.high
    fast = of_steps(runs([1200, 1210, 1195]), runs([1000, 1010, 990])).pairs[0].confidence
    assert fast.verdict == "faster"
    assert fast.low == pytest.approx(1 / (1 + slow.high) - 1)
    assert of_steps(runs([1000, 1010, 990]), runs([1005, 985, 1012])).pairs[0].confidence.verdict == "within noise"


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 9), (2, 9), (2, 2)])
def test_fewer_runs_never_bear_a_verdict_whatever_the_difference(before: int, after: int) -> None:
    found = of_steps(runs([1000] * before), runs([5000] * after)).pairs[0].confidence
    assert found.verdict == "differs between these two runs"
    assert found.covers is not None
    assert found.covers.startswith("differences between steps of these runs only")


@pytest.mark.parametrize("count", [1, 2])
def test_without_steps_there_is_no_interval_below_three_runs_a_side(count: int) -> None:
    found = comparison(a=[repeat({"host": 10})] * count, b=[repeat({"host": 90})] * 5).pairs[0].confidence
    assert (found.figure, found.verdict, found.low, found.method) == ("wall time", "no interval", None, None)
    few = of_steps([[10] * 19], [[90] * 40]).pairs[0].confidence
    assert (few.figure, few.verdict) == ("median step", "no interval")


def test_without_steps_three_runs_a_side_are_judged_by_their_wall_times() -> None:
    fast, slow = ([repeat({"host": ns + i}) for i in range(3)] for ns in (1000, 1500))
    found = comparison(a=fast, b=slow).pairs[0].confidence
    assert (found.figure, found.verdict) == ("wall time", "slower")


def test_runs_of_no_length_have_no_ratio() -> None:
    found = comparison(a=[repeat({"host": 0})] * 3, b=[repeat({"host": 5})] * 3).pairs[0].confidence
    assert (found.ratio, found.verdict) == (0.0, "no interval")


def test_the_figure_of_a_run_is_the_typical_step_that_stalls_do_not_move() -> None:
    stalled = [[100] * 25 + [100_000] * 5] * 3
    side, other = Side("a", tuple(steps(runs([100] * 3)))), Side("b", tuple(steps(stalled)))
    assert confidence(side, other, "median").ratio == 0
    assert confidence(side, other, "p05").ratio == 0
    assert confidence(side, other, "mean").ratio > 100


def test_per_sample_the_typical_step_is_divided_by_its_samples() -> None:
    one = repeat({"host": 10}, strides=[3200] * 20)
    object.__setattr__(one.units, "units_per_stride", Fraction(32))
    assert confidence(Side("a", (one,)), Side("b", (one,))).before_ns == pytest.approx(100)


# How often verdicts are wrong. Thresholds: what is allowed, and three standard errors of so many trials.


def noisy(random: np.random.Generator, spread: float, count: int) -> npt.NDArray[np.float64]:
    return np.exp(random.normal(0, spread, count)) * 1e6


@pytest.mark.parametrize(("count", "spread"), [(3, 0.05), (3, 0.3), (4, 0.1), (6, 0.1)])
def test_equal_programs_are_called_different_in_5_per_cent_of_trials_at_most(count: int, spread: float) -> None:
    random, trials = np.random.default_rng(count), 2_000
    alarms = 0
    for _ in range(trials):
        low, high = welch(noisy(random, spread, count).tolist(), noisy(random, spread, count).tolist(), 0.95)
        alarms += low > 0 or high < 0
    assert alarms / trials <= 0.05 + 3 * (0.05 * 0.95 / trials) ** 0.5


@pytest.mark.parametrize(("count", "spread", "at_least"), [(3, 0.02, 0.85), (6, 0.02, 0.99), (6, 0.05, 0.7)])
def test_ten_per_cent_more_is_found_where_the_runs_are_steadier_than_that(
    count: int, spread: float, at_least: float
) -> None:
    random, trials = np.random.default_rng(7), 500
    found = sum(
        welch(noisy(random, spread, count).tolist(), (1.1 * noisy(random, spread, count)).tolist(), 0.95)[0] > 0
        for _ in range(trials)
    )
    assert found / trials >= at_least


def dependent(random: np.random.Generator, count: int, kept: float) -> npt.NDArray[np.float64]:
    """Return steps that take after the one before: an autoregressive series."""
    noise = random.normal(0, 1, count)
    series = np.empty(count)
    state = 0.0
    for i in range(count):
        state = kept * state + noise[i]
        series[i] = state
    return 1e6 * np.exp(0.05 * series)


@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_steps_of_one_process_are_called_different_about_as_rarely(kept: float) -> None:
    random, trials = np.random.default_rng(3), 200
    alarms = 0
    for _ in range(trials):
        low, high = bootstrap(dependent(random, 300, kept), dependent(random, 300, kept), STATISTICS["median"], 0.95)
        alarms += low > 0 or high < 0
    assert alarms / trials <= 0.06 + 3 * (0.06 * 0.94 / trials) ** 0.5


def test_blocks_are_longer_where_steps_take_after_each_other() -> None:
    random = np.random.default_rng(5)
    lengths = [block_length(dependent(random, 2_000, kept)) for kept in (0.0, 0.5, 0.95)]
    assert lengths[0] < lengths[1] < lengths[2]
    assert block_length(np.ones(100)) == 1


def test_a_bootstrap_is_the_same_on_every_run() -> None:
    random = np.random.default_rng(1)
    one, other = dependent(random, 100, 0.2), dependent(random, 150, 0.2)
    assert bootstrap(one, other, STATISTICS["p05"], 0.9) == bootstrap(one, other, STATISTICS["p05"], 0.9)
