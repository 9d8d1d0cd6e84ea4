"""Numbers as people read them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit import units


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "0 ns"),
        (578, "578 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (12_400_000, "12.4 ms"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (999_500_000, "1.000 s"),
        (3_360_651_881, "3.361 s"),
        (5_400_000_000_000, "5,400.0 s"),
        (2.4, "2 ns"),
    ],
)
def test_a_time_has_the_unit_that_suits_it(time_ns: float, text: str) -> None:
    assert units.ns(time_ns) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (812, "812 B"), (1_048_576, "1.05 MB"), (94_500_000_000, "94.5 GB")]
)
def test_a_size_is_in_decimal_units(size: int, text: str) -> None:
    assert units.size(size) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0, "0.0 %"),
        (0.516, "51.6 %"),
        (1, "100.0 %"),
        (0.0053, "0.53 %"),
        (0.000306, "0.031 %"),
        (3e-7, "0.000030 %"),
        (-0.02, "-2.0 %"),
        (71.6, "7,160.0 %"),
    ],
)
def test_a_small_ratio_keeps_two_digits(ratio: float, text: str) -> None:
    assert units.fine_ratio(ratio) == text


@pytest.mark.parametrize(
    ("flops", "text"),
    [(0, "0 FLOP"), (6_422_528, "6.42 MFLOP"), (22_075_392_000, "22.1 GFLOP"), (11_059_200_000_000, "11.1 TFLOP")],
)
def test_operations_have_decimal_units(flops: int, text: str) -> None:
    assert units.flops(flops) == text


parts = st.lists(st.integers(0, 10**13), min_size=1, max_size=16)


@given(parts, st.integers(0, 3))
def test_percentages_of_a_whole_add_up_to_exactly_100(times: list[int], decimals: int) -> None:
    percents = units.largest_remainders(times, sum(times), decimals)
    assert sum(percents) == (100 if any(times) else 0)


@given(parts)
def test_a_percentage_is_less_than_one_digit_off(times: list[int]) -> None:
    total = sum(times) or 1
    for time, percent in zip(times, units.largest_remainders(times, sum(times)), strict=True):
        assert abs(percent - Decimal(time) * 100 / total) < Decimal("0.1")


@given(parts, st.integers(0, 10**13))
def test_parts_of_a_larger_total_add_up_to_their_sum(times: list[int], rest: int) -> None:
    total = sum(times) + rest
    exact = Decimal(sum(times)) * 100 / total if total else Decimal(0)
    assert abs(sum(units.largest_remainders(times, total)) - exact) <= Decimal("0.05")


@pytest.mark.parametrize(
    ("value", "text"), [(1_150_000, "+1.15 ms"), (-578, "−578 ns"), (0, "±0"), (-0.2, "±0"), (0.6, "+1 ns")]
)
def test_a_change_of_a_time_has_its_sign(value: float, text: str) -> None:
    assert units.signed_ns(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.131, "+13.1 %"), (-0.002, "−0.2 %"), (0.0001, "±0"), (0, "±0")])
def test_a_change_in_per_cent_has_its_sign(value: float, text: str) -> None:
    assert units.signed_ratio(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (1, "1"), (0.971, "0.97"), (53.06, "53.1"), (1875.4, "1,875")])
def test_a_mean_count_is_whole_or_has_three_digits(value: float, text: str) -> None:
    assert units.mean_count(value) == text
