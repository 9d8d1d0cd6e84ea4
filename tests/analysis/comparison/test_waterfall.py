"""The changes of the accounts: exact, and in whole numbers that still add up."""

from fractions import Fraction
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from comparisons import comparison, repeat
from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.sides import Side
from wallsplit.comparison.waterfall import Waterfall, largest_remainders, scale, waterfall

fractions = st.fractions(-(10**12), 10**12, max_denominator=10**4)
ledgers = st.dictionaries(
    st.sampled_from([name.replace(".", "_", 1) for name in ACCOUNTS]),
    st.none() | st.fractions(0, 10**12, max_denominator=1_000),
)


@given(st.lists(fractions, max_size=17))
def test_whole_numbers_sum_to_the_rounded_sum_and_are_each_next_to_their_part(parts: list[Fraction]) -> None:
    whole = largest_remainders(parts)
    assert sum(whole) == floor(sum(parts, Fraction(1, 2)))
    assert all(abs(number - part) < 1 for number, part in zip(whole, parts, strict=True))


@given(ledgers, ledgers)
def test_changes_of_accounts_and_of_parts_sum_to_the_change_of_the_wall(
    one: dict[str, Fraction | None], other: dict[str, Fraction | None]
) -> None:
    before, after = Side("a", (repeat(one),)), Side("b", (repeat(other),))
    for unit in ("ns", "ps"):
        found = waterfall(before, after, unit)
        assert sum(found.account_deltas.values()) == found.wall_delta
        lines = sum(line.delta_ns for line in found.lines)
        assert abs(lines - found.wall_delta_ns) <= 1e-9 * sum(abs(line.delta_ns) for line in found.lines)


@given(ledgers, ledgers)
def test_sides_that_change_places_mirror_every_change(
    one: dict[str, Fraction | None], other: dict[str, Fraction | None]
) -> None:
    forth = comparison(a=repeat(one), b=repeat(other)).pairs[0].waterfall
    back = comparison(b=repeat(other), a=repeat(one)).pairs[0].waterfall
    assert forth.not_measured_on_one_side == back.not_measured_on_one_side
    for name in ACCOUNTS:  # whole numbers: each within 1 of the exact one, whose mirror is exact
        assert abs(forth.account_deltas[name] + back.account_deltas[name]) <= 1


def between(before: dict[str, int | None], after: dict[str, int | None]) -> Waterfall:
    return waterfall(Side("a", (repeat(before),)), Side("b", (repeat(after),)), "ns")


def test_kernels_that_became_graphs_are_one_line() -> None:
    found = between({"gpu_kernel": 100, "host": 50}, {"gpu_kernel": 10, "gpu_graph": 60, "host": 50})
    assert [(line.name, line.before_ns, line.after_ns, line.delta_ns) for line in found.lines] == [
        ("GPU computing", 100, 70, -30)
    ]
    assert found.graphed is not None
    assert [line.delta_ns for line in found.graphed] == [-90, 60]


def test_kernels_and_graphs_that_both_grow_are_two_lines() -> None:
    found = between({"gpu_kernel": 100}, {"gpu_kernel": 110, "gpu_graph": 60})
    assert [line.name for line in found.lines] == ["gpu.graph", "gpu.kernel"]
    assert found.graphed is None


def test_what_one_side_did_not_measure_is_listed() -> None:
    nothing: dict[str, int | None] = {name.replace(".", "_", 1): None for name in ACCOUNTS[:-1]}
    found = between({"gpu_kernel": 5, "host": 1}, {**nothing, "host": 9})
    assert "gpu.kernel" in found.not_measured_on_one_side
    assert "host" not in found.not_measured_on_one_side
    assert (found.account_deltas["gpu.kernel"], found.account_deltas["host"], found.wall_delta) == (-5, 8, 3)


def test_short_units_are_told_in_ps_and_runs_never() -> None:
    short, long = Side("a", (repeat({"host": 9_999_999}),)), Side("b", (repeat({"host": 10_000_000}),))
    assert [scale("step", short), scale("step", long), scale("run", short)] == ["ps", "ns", "ns"]
