from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from studies import IDENTITY, absent, cell, failed, place
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary

times = st.lists(st.integers(1, 10**12), min_size=1, max_size=6)


@given(places=st.dictionaries(st.tuples(st.sampled_from(["numpy", "jax-cpu"]), st.integers(1, 4096)), times))
def test_median_extremes_and_spread_are_those_of_the_repeats(places: dict[tuple[str, int], list[int]]) -> None:
    outcomes = [one for (approach, batch), walls in places.items() for one in place(approach, batch, *walls)]
    frame = summary(outcomes, "grid")
    assert frame.select("approach", "batch").rows() == list(places)
    for row, walls in zip(frame.iter_rows(named=True), places.values(), strict=True):
        assert (row["min_ns"], row["max_ns"], row["n"]) == (min(walls), max(walls), len(walls))
        assert abs(row["median_ns"] - median(walls)) <= 0.5
        assert row["spread_ratio"] == (max(walls) - min(walls)) / median(walls)


def test_a_place_without_a_gpu_has_a_status_and_no_number() -> None:
    (row,) = summary([absent("keras-gpu", 32)], "grid").iter_rows(named=True)
    assert (row["approach"], row["batch"], row["status"], row["n"]) == ("keras-gpu", 32, "no GPU here", 0)
    assert [row[name] for name in ("median_ns", "min_ns", "max_ns", "spread_ratio", "samples_per_s")] == [None] * 5


def test_a_repeat_that_failed_leaves_the_others_their_median() -> None:
    outcomes = [*place("numpy", 32, 4, 6), failed("numpy", 32, "crash", repeat=3)]
    rows = summary(outcomes, "grid").filter(n=2).rows(named=True)
    assert [(row["median_ns"], row["status"]) for row in rows] == [(5, "measured")]


def test_parts_do_not_mix() -> None:
    other = Outcome(cell("numpy", part="causes", batch="32"), "measured", IDENTITY)
    assert summary([other], "grid").is_empty()


def test_a_setting_that_is_no_number_makes_no_number() -> None:
    strange = Outcome(cell("numpy", batch="9" * 40), "failed", IDENTITY, "x")
    assert summary([strange], "grid")["batch"].to_list() == [None]
