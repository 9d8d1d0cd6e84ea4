from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies import IDENTITY, absent, cell, failed, place, run
from wallsplit.errors import ManifestError
from wallsplit_study.cells import (
    LONGEST,
    epoch_ns,
    first_epoch_ns,
    from_line,
    latest,
    measured,
    samples_per_s,
    to_line,
    value_ns,
)

texts = st.text(st.characters(codec="utf-8"))


@given(approach=texts, message=texts, settings=st.dictionaries(texts, texts))
def test_any_outcome_is_one_line_that_reads_back_equal(approach: str, message: str, settings: dict[str, str]) -> None:
    outcome = replace(failed(approach, 32, message), cell=replace(cell(approach), settings=settings))
    line = to_line(outcome)
    assert line.count("\n") == 1
    assert line.isascii()
    assert from_line(line) == outcome


def test_a_measured_outcome_reads_back_equal() -> None:
    (outcome,) = place("numpy", 32, 7)
    assert from_line(to_line(outcome)) == outcome


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"{}", b'{"cell":1}', b"\xff", b"[" * 100_000, b'"\\ud800"'])
def test_a_line_that_is_no_outcome_is_refused(line: bytes) -> None:
    with pytest.raises(ManifestError):
        from_line(line)


@pytest.mark.parametrize("wall_ns", [-1, 2**53])
def test_a_time_that_cannot_be_one_is_refused(wall_ns: int) -> None:
    (outcome,) = place("numpy", 32, 7)
    with pytest.raises(ManifestError, match="no time or count"):
        from_line(to_line(replace(outcome, epochs_wall_ns=wall_ns)))


def test_the_first_epoch_is_kept_apart_and_the_later_ones_give_the_median() -> None:
    outcome = measured(cell("numpy"), IDENTITY, run(100, 9, 7, 8))
    assert (epoch_ns(outcome), first_epoch_ns(outcome)) == (8, 100)


def test_a_single_epoch_stands_for_itself() -> None:
    outcome = measured(cell("numpy"), IDENTITY, run(100))
    assert (epoch_ns(outcome), first_epoch_ns(outcome)) == (100, None)


def test_samples_per_second_leave_the_first_epoch_out() -> None:
    assert samples_per_s(measured(cell("numpy"), IDENTITY, run(10**12, 10**9, 10**9))) == 48_000


def test_a_run_without_epochs_has_no_time_per_epoch_and_no_rate() -> None:
    outcome = measured(cell("pool"), IDENTITY, run())
    assert (epoch_ns(outcome), samples_per_s(outcome), value_ns(outcome)) == (None, None, None)


def test_of_very_many_epochs_only_the_sum_is_kept() -> None:
    outcome = measured(cell("iris-cpu", part="item"), IDENTITY, run(*[3] * 20_000))
    assert outcome.run is not None
    assert outcome.run.epochs == ()
    assert value_ns(outcome) == 60_000


def test_a_long_curve_is_thinned_and_keeps_its_last_point() -> None:
    curve = [[epoch, 0.5] for epoch in range(20_000)]
    outcome = measured(cell("iris-cpu", part="item"), IDENTITY, run(1, loss_curve=curve))
    assert outcome.run is not None
    kept = outcome.run.results["loss_curve"]
    assert isinstance(kept, list)
    assert len(kept) <= LONGEST
    assert kept[-1] == [19_999, 0.5]


def test_single_steps_are_not_kept_but_their_median_is() -> None:
    outcome = measured(cell("numpy", part="ops"), IDENTITY, replace(run(9), step_wall_ns=(5, 1, 3)))
    assert outcome.run is not None
    assert outcome.run.step_wall_ns is None
    assert value_ns(outcome) == 3


@given(walls=st.lists(st.integers(0, 10**9), min_size=1, max_size=300))
def test_percentiles_of_the_steps_are_those_of_the_nearest_rank(walls: list[int]) -> None:
    """The smallest step that so many per cent of all steps do not exceed."""
    outcome = measured(cell("numpy"), IDENTITY, replace(run(9), step_wall_ns=tuple(walls)))
    for percent, found in ((95, outcome.step_p95_ns), (99, outcome.step_p99_ns)):
        least = min(wall for wall in walls if sum(other <= wall for other in walls) * 100 >= percent * len(walls))
        assert found == least


def test_a_failed_cell_that_was_measured_later_counts_as_measured() -> None:
    (good,) = place("numpy", 32, 7)
    assert latest([replace(failed("numpy", 32, "crash"), cell=good.cell), good]) == [good]


def test_measurements_under_other_versions_than_the_newest_do_not_count() -> None:
    old = [replace(outcome, identity={"python": "3.10"}) for outcome in place("numpy", 32, 1, 2, 3)]
    new = place("numpy", 32, 7)
    assert latest([*old, *new]) == new


def test_what_fails_after_a_measurement_does_not_displace_it() -> None:
    good = place("numpy", 32, 7)
    bad = failed("numpy", 32, "crash", repeat=2)
    bad = replace(bad, identity={"python": "3.12"})
    assert latest([*good, bad]) == good


def test_a_place_this_machine_lacks_stays_in_the_list() -> None:
    lack = absent("keras-gpu", 32)
    assert latest([lack, lack]) == [lack]
