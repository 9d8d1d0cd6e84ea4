"""What a sample stands for."""

import numpy as np
import polars as pl
import pytest

from wallsplit.model.samples import SamplingSettings
from wallsplit.schema import THREAD_SWITCHES
from wallsplit.why.samples.on_cpu import OnCpu, on_cpu
from wallsplit.why.samples.weights import Weights, weights

THREAD = 7
NOT_SAID = SamplingSettings(None, None, None)
EVEN = [100 * i for i in range(1, 42)]
UNEVEN = [10 * i * i for i in range(1, 42)]


def running(*stretches: tuple[int, int]) -> dict[int, OnCpu]:
    rows = [(time, 1, THREAD, is_in) for pair in stretches for time, is_in in zip(pair, (True, False), strict=True)]
    return dict(on_cpu(pl.DataFrame(rows, THREAD_SWITCHES, orient="row"), 10**6))


def weigh(starts: list[int], settings: SamplingSettings, *stretches: tuple[int, int]) -> Weights:
    return weights(np.full(len(starts), THREAD), np.array(starts, np.int64), running(*stretches), settings)


def test_a_sample_of_a_clock_stands_for_its_period() -> None:
    found = weigh(UNEVEN, SamplingSettings(2_000, "software", 4))
    assert (found.ns == 2_000).all()
    assert (found.is_clock, found.period_ns, found.period_source) == (True, 2_000, "capture option")


def test_a_clock_that_was_not_recorded_is_known_by_its_even_ticks() -> None:
    found = weigh(EVEN, NOT_SAID, (0, 10_000))
    assert (found.trigger, found.period_ns, found.is_clock) == ("software (inferred)", 100, True)
    assert weigh(UNEVEN, NOT_SAID, (0, 100_000)).trigger is None


def test_gaps_in_which_the_thread_left_the_cpu_are_no_ticks() -> None:
    ticks = [start + 37 * i for i, start in enumerate(EVEN)]  # away for a while between any two of them
    away = [(start - 1, start + 1) for start in ticks]
    assert weigh(ticks, NOT_SAID, *away).period_ns is None


def test_a_sample_of_a_counter_stands_for_the_cpu_time_since_the_one_before_and_its_period_is_no_time() -> None:
    found = weigh([50, 60, 400], SamplingSettings(2_450_000, "hardware", 4), (0, 100), (300, 500))
    assert found.ns.tolist() == [0, 10, 40 + 100]  # so few gaps tell nothing of what the first one stands for
    assert found.period_ns is None
    assert not found.is_clock


def test_a_counters_first_sample_stands_for_the_median_gap_at_most() -> None:
    starts = [5_000, *(5_000 + 10 * i for i in range(1, 40))]
    found = weigh(starts, SamplingSettings(1, "hardware", None), (0, 10_000))
    assert set(found.ns.tolist()) == {10}


def test_without_scheduling_samples_of_a_counter_weigh_alike_and_say_so() -> None:
    found = weigh(UNEVEN, SamplingSettings(2_450_000, "hardware", None))
    assert set(found.ns.tolist()) == {found.period_ns}
    assert found.source == "median gap (equal weights)"


def test_with_too_few_samples_and_no_clock_they_stand_for_no_time() -> None:
    found = weigh([1, 2, 3], NOT_SAID)
    assert (found.source, found.ns.tolist()) == (None, [1, 1, 1])


@pytest.mark.parametrize("trigger", ["software", "hardware", None])
def test_a_thread_that_was_never_scheduled_is_weighed_too(trigger: str | None) -> None:
    found = weights(np.array([THREAD, 8]), np.array([10, 20]), running((0, 100)), SamplingSettings(5, trigger, None))
    assert np.isfinite(found.ns).all()
