"""Steps by the names of NVTX ranges."""

import math
import re
from collections.abc import Callable
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import is_linear
from wallsplit.ledger.phases import PHASES, PhaseRule
from wallsplit.model.annotations import Annotations
from wallsplit.model.names import Names
from wallsplit.schema import NVTX_RANGES
from wallsplit.why.steps import named
from wallsplit.why.steps.named import NamedSteps, named_steps
from wallsplit.why.steps.ranges import layer_marks

Range = tuple[str, int, int]
PID, THREAD = 1, 7


def own(ranges: list[Range], threads: list[int] | None = None) -> tuple[Annotations, Names]:
    texts = list(dict.fromkeys(text for text, _, _ in ranges))
    rows = [
        (start, end, PID, thread, "PushPop", texts.index(text), texts.index(text), False, True)
        for (text, start, end), thread in zip(ranges, threads or [THREAD] * len(ranges), strict=True)
    ]
    frame = pl.DataFrame(rows, NVTX_RANGES, orient="row")
    return Annotations.of_frame(frame), Names(pl.Series("name", texts, dtype=pl.String))


def found(
    ranges: list[Range], threads: list[int] | None = None, rules: tuple[PhaseRule, ...] = PHASES
) -> tuple[NamedSteps, ...]:
    return named_steps(*own(ranges, threads), rules)


def every(name: str, period: int, length: int, count: int, at: int = 0) -> list[Range]:
    return [(name.replace("*", str(i)), at + i * period, at + i * period + length) for i in range(count)]


def test_ranges_named_like_steps_are_steps_whatever_their_number() -> None:
    (steps,) = found(every("train_step_*", 10, 9, 4))
    assert (steps.name, steps.start.tolist(), steps.end.tolist()) == ("train step #", [0, 10, 20, 30], [9, 19, 29, 39])


@pytest.mark.parametrize("name", ["Iteration *", "ProfilerStep#*", "batch:*", "globalStep=*", "token *", "iters *"])
def test_steps_have_many_names(name: str) -> None:
    assert len(found(every(name, 10, 9, 3))) == 1


@pytest.mark.parametrize("name", ["stepwise", "batched_gemm *", "literal", "tokenizer"])
def test_a_part_of_a_word_names_no_step(name: str) -> None:
    assert found(every(name, 10, 9, 3)) == ()


def test_two_ranges_are_no_loop() -> None:
    assert found(every("step *", 10, 9, 2)) == ()


def test_ranges_that_overlap_are_no_steps() -> None:
    assert found(every("step *", 10, 11, 5)) == ()


def test_the_steps_with_most_time_come_first_and_what_overlaps_them_is_left_out() -> None:
    train, validate = every("train step *", 10, 9, 5), every("test step *", 10, 8, 3, at=100)
    inner = every("batch *", 10, 5, 5)
    assert [steps.name for steps in found([*validate, *inner, *train])] == ["train step #", "test step #"]


def test_steps_of_another_thread_are_left_out() -> None:
    ranges = [*every("step *", 10, 9, 3), *every("batch *", 10, 8, 3)]
    assert [steps.name for steps in found(ranges, [1, 1, 1, 2, 2, 2])] == ["step #"]


PHASES_IN_TURNS = [
    *every("fetch", 100, 10, 4),
    *every("forward", 100, 30, 4, at=10),
    *every("backward", 100, 40, 4, at=40),
]


def test_phases_in_strict_turns_make_steps_that_nobody_named() -> None:
    (steps,) = found(PHASES_IN_TURNS)
    assert steps.name == "fetch + forward + backward"
    assert steps.start.tolist() == [0, 100, 200, 300]
    assert steps.end.tolist() == [100, 200, 300, 380]


def test_named_steps_come_before_phases_in_turns() -> None:
    assert [steps.name for steps in found([*PHASES_IN_TURNS, *every("step *", 100, 90, 4)])] == ["step #"]


def test_phases_that_do_not_take_turns_make_no_steps() -> None:
    assert found([*every("forward", 10, 9, 4), *every("backward", 10, 9, 4, at=40)]) == ()


def test_phases_without_forward_or_backward_make_no_steps() -> None:
    assert found([*every("fetch", 100, 10, 4), *every("loss", 100, 10, 4, at=20)]) == ()


def test_phases_named_like_layers_make_no_steps() -> None:
    assert found([*every("layer_* forward", 100, 10, 4), *every("layer_* backward", 100, 10, 4, at=20)]) == ()


def test_the_users_own_rules_say_what_a_phase_is() -> None:
    ranges = [*every("vorwärts", 100, 10, 4), *every("backward", 100, 10, 4, at=20)]
    rule = PhaseRule("forward", re.compile(r"\bvorw rts\b"))
    assert found(ranges) == ()
    assert [steps.name for steps in found(ranges, rules=(rule, *PHASES))] == ["vorw rts + backward"]


def test_layer_marks_are_told_apart_by_number_alone() -> None:
    ranges = [("blocks.07", 30, 40), ("Layer 7", 10, 20), ("layer_3", 20, 30), ("player 5", 40, 50), ("step 1", 0, 50)]
    marks = layer_marks(*own(ranges), PID)
    assert marks.start.tolist() == [10, 20, 30]
    assert marks.layer[0] == marks.layer[2] != marks.layer[1]


def test_a_layer_number_of_any_length_is_read() -> None:
    assert len(layer_marks(*own([("layer " + "9" * 10_000, 0, 1)]), PID).start) == 1


groups_of_ranges = st.lists(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)), min_size=3, max_size=5), min_size=1, max_size=5
)


@given(groups_of_ranges)
def test_kinds_of_steps_are_those_that_overlap_none_of_the_longer_ones(groups: list[list[tuple[int, int]]]) -> None:
    ranges = [(f"step {'abcde'[i]}x", at, at + ns) for i, group in enumerate(groups) for at, ns in group]

    def are_apart(some: list[Range], others: list[Range]) -> bool:
        """Return whether ranges of one, and of the other, can come one after the other."""
        in_turn = sorted((start, end) for _, start, end in [*some, *others])
        return all(end <= start for (_, end), (start, _) in pairwise(in_turn))

    by_name = [[r for r in ranges if r[0] == name] for name in dict.fromkeys(name for name, _, _ in ranges)]
    longest_first = sorted(by_name, key=lambda own: (-sum(end - at for _, at, end in own), min(at for _, at, _ in own)))
    chosen: list[list[Range]] = []
    for group in longest_first:
        if are_apart(group, []) and all(are_apart(group, other) for other in chosen):
            chosen.append(group)
    assert [steps.name for steps in found(ranges)] == [group[0][0] for group in chosen]


def test_many_wordings_are_merged_with_few_others_not_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "bcdfghjkmnpqrstvwxz"
    words = [f"step {a}{b}{c}" for a in letters for b in letters for c in letters[:4]]
    merged = 0
    merge = named._merged

    def counted(one: NamedSteps, other: NamedSteps) -> NamedSteps:
        nonlocal merged
        merged += len(one.start) + len(other.start)
        return merge(one, other)

    monkeypatch.setattr(named, "_merged", counted)
    ranges = [r for i, name in enumerate(words) for r in every(name, 10, 9, 3, at=30 * i)]
    assert len(found(ranges)) == len(words)
    assert merged <= len(ranges) * 2 * math.log2(len(ranges))


def test_many_phases_in_turns_are_each_compared_with_two() -> None:
    def work(size: int) -> Callable[[], object]:
        letters = "bcdfghjkmnpqrstvwxz"
        words = [f"forward {a}{b}{c}" for a in letters for b in letters for c in letters][:size]
        ranges, names = own(
            [
                (name, 10 * (size * turn + i), 10 * (size * turn + i) + 9)
                for turn in range(3)
                for i, name in enumerate(words)
            ]
        )
        return lambda: named_steps(ranges, names, PHASES)

    assert is_linear(work, 200)
