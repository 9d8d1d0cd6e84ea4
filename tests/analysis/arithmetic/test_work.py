"""Peaks, modelled times, and the interval that overhead is known as; the published slips of the study recomputed."""

from dataclasses import replace

import pytest

from wallsplit.arithmetic.work import (
    LANES_PER_SM,
    Peak,
    Work,
    cpu_peak,
    given_peak,
    gpu_peak,
    impossible,
    modelled_ns,
    together,
)
from wallsplit.run.manifest import Cpu

RTX_5000 = Peak(48 * 64 * 2 * 1_800_000_000, "48 SMs × 64 lanes × 2 × 1.8 GHz")
MULTIPLY_ADDS = 32 * 784 * 128  # (32, 784) @ (784, 128)
MS = 1_000_000


def test_the_studys_matrix_product_takes_0_58_us_at_peak_and_not_half_of_it() -> None:
    assert RTX_5000.flops_per_s == pytest.approx(11.06e12, rel=1e-3)
    assert round(2 * MULTIPLY_ADDS / 1e6, 1) == 6.4
    assert modelled_ns(2 * MULTIPLY_ADDS, RTX_5000) == 581


def test_the_studys_0_06_percent_is_0_11_percent_of_peak() -> None:
    """It divided 0.3 µs by the 541 µs of X @ W1 + b1."""
    flops = 2 * MULTIPLY_ADDS
    product = Work("window", 1, 541_000, flops, modelled_ns(flops, RTX_5000))
    assert product.flop_utilisation == pytest.approx(0.00107, rel=0.01)


def test_a_modelled_time_is_rounded_to_the_nearest_nanosecond() -> None:
    one_per_ns = Peak(10**9, "")
    assert [modelled_ns(flops, one_per_ns) for flops in (0, 1, 7)] == [0, 1, 7]
    assert [modelled_ns(flops, Peak(2 * 10**9, "")) for flops in (0, 1, 2, 3)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("capability", "lanes"), [("6.0", 64), ("6.1", 128), ("7.5", 64), ("8.0", 64), ("8.6", 128), ("9.0", 128)]
)
def test_lanes_per_sm_are_those_of_the_programming_guide(capability: str, lanes: int) -> None:
    assert LANES_PER_SM[capability] == lanes


def test_a_gpus_peak_is_sms_times_lanes_times_two_times_clock_and_says_so() -> None:
    peak = gpu_peak(48, 64, 1_815_000_000, "the trace", "7.5")
    assert peak is not None
    assert peak.flops_per_s == 11_151_360_000_000
    assert peak.source.startswith("48 SMs × 64 fp32 lanes × 2 × 1.815 GHz (the trace; ")
    assert "Programming Guide for compute capability 7.5" in peak.source


@pytest.mark.parametrize("factors", [(None, 64, 1), (48, None, 1), (48, 64, None), (0, 64, 1), (48, 64, -1)])
def test_without_every_factor_there_is_no_peak(factors: tuple[int | None, int | None, int | None]) -> None:
    assert gpu_peak(*factors, "the trace") is None


def test_a_cpus_peak_is_what_its_manifest_could_read_or_nothing() -> None:
    assert cpu_peak(Cpu(peak_flops=64, peak_source="1 core × 32 × 2 GHz")) == Peak(64, "1 core × 32 × 2 GHz")
    assert cpu_peak(Cpu(model="unknown")) is None
    assert cpu_peak(None) is None


def test_several_gpus_work_at_the_sum_of_their_peaks() -> None:
    both = together([replace(RTX_5000), RTX_5000])
    assert both is not None
    assert both.flops_per_s == 2 * RTX_5000.flops_per_s
    assert both.source == f"2 GPUs: {RTX_5000.source}"
    assert together([]) is None


def test_overhead_is_the_interval_that_measured_and_modelled_arithmetic_give() -> None:
    work = Work("epoch", 1, 6_500 * MS, 1, modelled_ns=2 * MS, measured_ns=25 * MS, measured_at_most_ns=30 * MS)
    assert (work.overhead_at_least_ns, work.overhead_at_most_ns) == (6_470 * MS, 6_498 * MS)


@pytest.mark.parametrize(
    ("change", "interval"),
    [
        ({"measured_ns": None, "measured_at_most_ns": None}, (None, 90)),  # a CPU
        ({"modelled_ns": None}, (70, None)),  # no peak
        ({"measured_is_whole": False}, (None, 90)),  # GPU rows are missing: they may be more
        ({"modelled_ns": 40}, (60, 60)),  # a step's work that ran after it
        ({"modelled_ns": 101}, (0, None)),
    ],
)
def test_what_is_not_known_leaves_the_interval_open(
    change: dict[str, int | None], interval: tuple[int | None, int | None]
) -> None:
    whole = Work("step", 1, 100, 1, modelled_ns=10, measured_ns=20, measured_at_most_ns=30)
    work = replace(whole, **change)  # type: ignore[arg-type]
    assert (work.overhead_at_least_ns, work.overhead_at_most_ns) == interval


def test_utilisation_never_exceeds_one() -> None:
    assert Work("step", 1, 100, 1, modelled_ns=100).flop_utilisation == 1
    assert Work("step", 1, 100, 1, modelled_ns=101).flop_utilisation is None
    assert Work("step", 1, 0, 0, modelled_ns=0).flop_utilisation is None


def test_more_than_the_peak_is_impossible_and_the_cause_is_named() -> None:
    peak = given_peak(10**9)
    at_peak = Work("window", 1, 100, 50, modelled_ns=50, measured_ns=50, measured_at_most_ns=50)
    assert impossible(at_peak, peak, within_gpu_work=True) is None
    above = impossible(replace(at_peak, flops=60, modelled_ns=60), peak, within_gpu_work=True)
    assert above is not None
    assert above.startswith("60 FLOP in 50 ns of measured GPU work are 120.0 % of the peak of 1.00 GFLOP/s")
    assert "tensor cores" in above
    assert "\n" not in above


def test_the_wall_is_the_limit_where_gpu_work_is_not_or_not_wholly_known() -> None:
    peak = given_peak(10**9)
    work = Work("window", 1, 100, 60, modelled_ns=60, measured_ns=50, measured_at_most_ns=50)
    assert impossible(work, peak, within_gpu_work=False) is None
    assert impossible(replace(work, measured_is_whole=False), peak, within_gpu_work=True) is None
    assert impossible(replace(work, measured_ns=None, measured_at_most_ns=None), peak, within_gpu_work=True) is None
    assert "of wall time" in (impossible(replace(work, modelled_ns=101), peak, within_gpu_work=False) or "")
