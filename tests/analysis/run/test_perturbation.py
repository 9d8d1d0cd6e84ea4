"""Promises of the perturbation verdict: it never says more than the runs bear out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.run.manifest import Baseline, Epoch, Generator, RunManifest
from wallsplit.run.perturbation import Verdict, comparable, perturbation


@pytest.mark.parametrize(
    ("plain", "profiled", "verdict", "reason"),
    [
        ((100, 101, 102), (120, 121, 122), "perturbed", "every profiled run was slower"),
        ((100, 101, 102), (103, 104, 105), "not perturbed", "scatter by 2.0% at most"),
        ((100, 101, 102), (90, 91, 92), "not perturbed", "scatter by"),
        ((100, 100, 130), (115, 120, 125), "cannot tell", "the two kinds of run overlap"),
        ((100, 100, 140), (101, 102, 103), "cannot tell", "scatter by 40%"),
        ((100, 101), (120, 121), "cannot tell", "2 unprofiled and 2 profiled runs are too few"),
        ((100, 101), (120, 121, 122, 123, 124), "perturbed", "every profiled run was slower"),
        ((100,), (200,), "cannot tell", "with one run of each kind the noise is unknown"),
        ((), (200,), "cannot tell", "no run without the profiler"),
        ((100,), (), "cannot tell", "no run without the profiler"),
        ((0, 0, 0), (1, 1, 1), "cannot tell", "no run without the profiler"),
    ],
)
def test_the_verdict_follows_from_medians_spread_and_number_of_runs(
    plain: tuple[int, ...], profiled: tuple[int, ...], verdict: Verdict, reason: str
) -> None:
    found = perturbation(Baseline("sum of epochs", plain, profiled))
    assert found.verdict == verdict
    assert reason in found.reason


def test_slowdown_is_of_medians_and_its_bounds_are_of_the_extreme_runs() -> None:
    found = perturbation(Baseline("sum of epochs", (100, 110, 200), (100, 121, 150)))
    assert found.slowdown_ratio == pytest.approx(0.10)
    assert found.lowest_ratio == pytest.approx(-0.50)
    assert found.highest_ratio == pytest.approx(0.50)


def test_runs_are_compared_by_their_epochs_where_they_have_any() -> None:
    writer = Generator("w", "0")
    assert comparable(RunManifest(writer, wall_ns=9, epochs=(Epoch(3), Epoch(4)))) == ("sum of epochs", 7)
    assert comparable(RunManifest(writer, wall_ns=9)) == ("whole run", 9)
    assert comparable(RunManifest(writer)) is None


runs = st.lists(st.integers(1, 10**12), min_size=1, max_size=6).map(tuple)


@given(runs, runs)
def test_a_slowdown_is_claimed_only_where_no_unprofiled_run_was_as_slow(
    plain: tuple[int, ...], profiled: tuple[int, ...]
) -> None:
    found = perturbation(Baseline("whole program", plain, profiled))
    if found.verdict == "perturbed":
        assert min(profiled) > max(plain)
    assert found.lowest_ratio is not None
    assert found.slowdown_ratio is not None
    assert found.highest_ratio is not None
    assert found.lowest_ratio <= found.slowdown_ratio <= found.highest_ratio
