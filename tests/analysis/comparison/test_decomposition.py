"""What changed because there is more of it, and what because each takes longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparisons import total
from wallsplit.comparison.decomposition import decomposition, family, split
from wallsplit.comparison.repeats import Total

totals = st.builds(Total, st.fractions(0, 10**6, max_denominator=100), st.fractions(0, 10**12, max_denominator=100))


@given(totals, totals)
def test_count_and_mean_explain_the_change_without_remainder_and_mirror_when_sides_change_places(
    before: Total, after: Total
) -> None:
    by_count, by_mean = split(before, after)
    assert by_count + by_mean == after.ns - before.ns
    assert split(after, before) == (-by_count, -by_mean)


def test_twice_as_many_of_the_same_length_is_all_by_count_and_twice_as_long_all_by_mean() -> None:
    assert list(split(total(10, 100), total(20, 200))) == [100, 0]
    assert list(split(total(10, 100), total(10, 200))) == [0, 100]
    assert list(split(total(10, 100), total(20, 400))) == [150, 150]


def test_rows_say_whether_each_got_slower_and_the_largest_change_comes_first() -> None:
    before = {"same": total(1, 5), "slower": total(2, 10), "faster": total(2, 10), "gone": total(1, 7)}
    after = {"same": total(1, 5), "slower": total(1, 9), "faster": total(4, 12), "new": total(1, 7)}
    rows = decomposition(before, after)
    assert [(row.name, row.change, row.delta_ns) for row in rows] == [
        ("gone", "gone", -7),
        ("new", "new", 7),
        ("faster", "faster", 2),
        ("slower", "slower", -1),
        ("same", "same", 0),
    ]
    assert [(row.by_count_ns, row.by_mean_ns) for row in rows[:2]] == [(-7, 0), (7, 0)]
    assert rows[0].mean_ns == (7, None)


def test_a_new_kernel_names_one_of_its_family_that_is_gone_and_they_stay_two_rows() -> None:
    before = {"void flash::fwd<64, 128>(Params)": total(1, 7), "ampere_sgemm_128x64_tn": total(1, 5)}
    after = {
        "void flash::fwd<128, 128>(Params, int)": total(1, 6),
        "hopper_sgemm_32x32_tn": total(1, 4),
        "x": total(1, 1),
    }
    hints = {row.name: row.maybe_replaces for row in decomposition(before, after)}
    assert hints["void flash::fwd<128, 128>(Params, int)"] == "void flash::fwd<64, 128>(Params)"
    assert hints["hopper_sgemm_32x32_tn"] == "ampere_sgemm_128x64_tn"
    assert hints["x"] is None
    assert len(hints) == 5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("void at::native::(anonymous namespace)::softmax<float, 4>(float*)", "softmax"),
        ("sm80_xmma_gemm_f32f32_128x64_tn", "xmma_gemm_f#f#_#_tn"),
        ("k(int)", "k"),
    ],
)
def test_a_family_is_a_name_without_arguments_architecture_and_tiles(name: str, expected: str) -> None:
    assert family(name) == expected
