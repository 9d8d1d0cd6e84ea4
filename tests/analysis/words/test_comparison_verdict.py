"""The verdict of a comparison: short, of the comparison's own numbers, and no surer than the runs are."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparisons import comparison, of_sides, of_steps, repeat, total, usual_pair
from shared_traces import SHARED, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.pairs import Comparison, compare
from wallsplit.comparison.repeats import Repeat
from wallsplit.comparison.sides import named_paths
from wallsplit.pipeline import measure
from wallsplit.report.comparison_json import comparison_value
from wallsplit.report.comparison_report import comparison_report
from wallsplit.units import ns
from wallsplit.words.comparison_verdict import comparison_verdict
from wallsplit.words.gpu_verdict import MOST_WORDS, words

ORACLES = sorted((SHARED / "oracle_compare").glob("compare_*.json")) if SHARED else []
QUICK = [[1_790_000] * 30, [1_800_000] * 30, [1_810_000] * 30]
SLOW = [[2_390_000] * 30, [2_400_000] * 30, [2_410_000] * 30]


def value(found: Comparison) -> dict[str, Any]:
    return comparison_value(found, {side.label: [] for side in found.sides})


def check(found: Comparison) -> None:
    """Check that a verdict is short and that its times and its sign are those of the document."""
    said, document = comparison_verdict(found), value(found)
    assert words(said) <= MOST_WORDS, said
    assert said.endswith(".")
    assert said[0] == said[0].upper()
    if len(found.pairs) > 1:
        walls = [side["wall_ns"] for side in document["sides"]]
        assert f": {ns(min(walls))} to {ns(max(walls))} " in said or ns(min(walls)) == ns(max(walls))
        return
    before, after = (side["wall_ns"] for side in document["sides"])
    confidence = document["pairs"][0]["confidence"]
    if confidence["low"] is not None and not said.startswith(("Perhaps not the same work", "No difference: ")):
        before, after = confidence["before_ns"], confidence["after_ns"]
    if times := re.search(r"([\d.,]+ \w+) (?:instead of|against) ([\d.,]+ \w+)", said):
        assert times.groups() == (ns(after), ns(before))
    else:
        assert "stalls" in said or (f"{ns(after)} on both sides" in said and ns(after) == ns(before))
    if more := re.search(r": ([\d.,]+) % (more|less)", said):
        assert (more[2] == "more") == (after > before)
        assert float(more[1].replace(",", "")) == pytest.approx(abs(after / before - 1) * 100, abs=0.51)


@needs_shared_traces
@pytest.mark.parametrize("path", ORACLES, ids=[path.stem for path in ORACLES])
def test_verdicts_on_recorded_traces_are_short_and_of_the_documents_numbers(path: Any) -> None:
    assert SHARED is not None
    oracle = json.loads(path.read_text(encoding="utf-8"))
    named = named_paths([argument.replace("=", f"={SHARED / 'traces'}/") for argument in oracle["traces"]])
    check(compare({label: [measure(p, oracle["per"]) for p in paths] for label, paths in named.items()}, oracle["per"]))


repeats = st.lists(
    st.builds(
        repeat,
        st.dictionaries(
            st.sampled_from([name.replace(".", "_", 1) for name in ACCOUNTS]),
            st.none() | st.integers(0, 10**13),
            min_size=1,
        ),
        st.builds(lambda count: {"kernels": {"k": total(count, 9)}}, st.integers(0, 10**6)),
        complete=st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@given(
    st.dictionaries(st.text("ab \n%.", min_size=1, max_size=20), repeats, min_size=2, max_size=15),
    st.sampled_from(["run", "step", "sample", "nvtx:a range of many words *", "kernel:*"]),
)
def test_verdicts_are_short_and_of_the_documents_numbers(sides: Mapping[str, Sequence[Repeat]], per: str) -> None:
    check(of_sides(sides, per))


strides = st.lists(st.lists(st.integers(1, 10**11), min_size=1, max_size=30), min_size=1, max_size=4)


@given(strides, strides)
def test_verdicts_on_steps_are_short_and_of_the_documents_numbers(
    before: list[list[int]], after: list[list[int]]
) -> None:
    check(of_steps(before, after))


def test_with_three_runs_a_side_it_says_how_much_and_where() -> None:
    assert comparison_verdict(of_steps(SLOW, QUICK)) == (
        "The median step takes 1.80 ms instead of 2.40 ms: 25 % less, mostly host code."
    )
    waits = [repeat({"gpu_kernel": 100 + n, "cuda_launch": 300, "cuda_sync": 600}) for n in range(3)]
    sooner = [repeat({"gpu_kernel": 100 + n, "cuda_launch": 600}) for n in range(3)]
    assert comparison_verdict(comparison(a=waits, b=sooner)) == (
        "The run takes 701 ns instead of 1.00 µs: 30 % less, mostly CUDA calls."
    )


def test_where_gpu_work_is_missing_it_names_no_part() -> None:
    whole = [repeat({"gpu_kernel": 500, "host": 500 + n}) for n in range(3)]
    lacking = [repeat({"gpu_kernel": 100, "host": 1_900 + n}, complete=False) for n in range(3)]
    assert comparison_verdict(comparison(a=whole, b=lacking)) == "The run takes 2.00 µs instead of 1.00 µs: 100 % more."


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (of_steps(SLOW, SLOW), "No difference: 2.40 ms on both sides, per step."),
        (
            of_steps(
                [[100_000] * 30, [103_000] * 30, [101_000] * 30], [[100_000] * 30, [105_000] * 30, [103_000] * 30]
            ),
            "No difference to be told from noise: 103 µs against 101 µs, per step.",
        ),
        (
            of_steps([[95, 105, 100, 98, 103] * 6], [[96, 105, 100, 98, 104] * 6]),
            "No difference to be told from noise: 100 ns on both",
        ),
        (
            of_steps([[100_000] * 30] * 3, [[100_000] * 28 + [2_000_000] * 2] * 3),
            "No difference to be told from noise, but for stalls of a few steps.",
        ),
        (of_steps([[100_000] * 30], [[150_000] * 30]), "In these runs the median step took 150 µs instead of 100 µs"),
        (
            comparison(a=repeat({"host": 100}), b=repeat({"host": 90})),
            "The run took 90 ns instead of 100 ns: 10 % less; ",
        ),
        (
            comparison(a=repeat({"host": 100}), b=repeat({"gpu_kernel": 100})),
            "The run took 100 ns on both sides; noise",
        ),
    ],
    ids=["same", "within", "steps alike", "stalls", "one run a side", "no steps", "moved"],
)
def test_what_noise_may_have_made_is_no_improvement(found: Comparison, said: str) -> None:
    assert comparison_verdict(found).startswith(said)


def test_fewer_launches_may_be_less_work() -> None:
    many, few = ({"kernels": {"k": total(count, 10)}} for count in (100, 88))
    told = comparison_verdict(comparison(a=repeat({"host": 300}, many), b=repeat({"host": 270}, few)))
    assert told == "Perhaps not the same work: 270 ns instead of 300 ns; kernel launches 12 % down."


def test_of_several_sides_it_says_how_many_changes_exceed_noise() -> None:
    sides = {name: [repeat({"host": at + n}) for n in range(3)] for name, at in (("a", 900), ("b", 901), ("c", 500))}
    assert (
        comparison_verdict(of_sides(sides))
        == "Three sides: 501 ns to 902 ns per run; one of two changes exceeds noise."
    )
    alone = {name: runs[:1] for name, runs in sides.items()}
    assert comparison_verdict(of_sides(alone)) == "Three sides: 500 ns to 901 ns per run; noise between runs unknown."


def test_cards_tell_the_wall_time_the_largest_change_and_what_stayed() -> None:
    wall, largest, stayed = comparison_report(usual_pair(), 20).cards
    assert (wall.figure, wall.of) == ("8.45 ms → 9.23 ms", "+783 µs, +9.3 %")
    assert (largest.figure, largest.of) == ("+515 µs", "host")
    assert largest.text == "575 µs → 1.09 ms; then gpu.comm +188 µs, gpu.kernel +80.0 µs."
    assert (stayed.figure, stayed.text) == ("7.58 ms", "gpu.kernel 7.58 ms.")


@pytest.mark.parametrize(
    ("before", "after", "figure"), [(True, False, "≥ −45 ns"), (False, True, "≤ −45 ns"), (False, False, "−45 ns")]
)
def test_the_largest_change_is_a_bound_where_gpu_work_is_missing(before: bool, after: bool, figure: str) -> None:
    sides = (
        repeat({"gpu_kernel": 50, "host": 50}, complete=before),
        repeat({"gpu_kernel": 5, "host": 60}, complete=after),
    )
    card = comparison_report(comparison(a=sides[0], b=sides[1]), 20).cards[1]
    assert card.figure == figure
    assert card.of == ("gpu.kernel" if before or after else "gpu.kernel, as recorded")
