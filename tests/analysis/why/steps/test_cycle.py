"""Steps by period: loops planted in sequences of launches, and what must not be taken for one."""

import numpy as np
import pytest

from launch_loops import units
from wallsplit.why.steps.cycle.layers import NO_MARKS, LayerMarks
from wallsplit.why.steps.cycle.loops import loops

TRAIN = "<abcdefgh" + "HGFEDCBA" + "uuuu"
VALIDATE = "<abcdefgh" + "m"


def turns(sequence: str, pauses: dict[str, int] | None = None, marks: LayerMarks = NO_MARKS) -> list[str]:
    """Return what each turn of the loops found in a sequence launches."""
    found, reason = loops(units(sequence, pauses), marks)
    assert (reason is None) == (len(found) > 0)
    return [sequence[a:b] for a, b in zip(found.first.tolist(), found.last.tolist(), strict=True)]


def kinds(sequence: str) -> list[int]:
    found, _ = loops(units(sequence), NO_MARKS)
    return [int(kind) for kind in found.kind]


def reason(sequence: str, marks: LayerMarks = NO_MARKS) -> str | None:
    return loops(units(sequence), marks)[1]


def test_a_loop_is_cut_into_its_turns() -> None:
    assert turns("xyz" + "<abcd|" * 5) == ["<abcd|"] * 5


def test_a_step_begins_where_the_host_pauses_longest() -> None:
    sequence = "abcdefghi|" * 5 + "abcde"
    assert turns(sequence, pauses={"a": 9_000}) == ["abcdefghi|"] * 5
    assert turns(sequence, pauses={"c": 9_000}) == ["cdefghi|ab"] * 5


def test_a_cut_that_completes_more_turns_comes_before_one_at_a_longer_pause() -> None:
    assert turns("abcdefghi|" * 5 + "abcde", pauses={"h": 9_000, "a": 500}) == ["abcdefghi|"] * 5


def test_a_kernel_that_a_turn_launches_often_does_not_split_it() -> None:
    assert turns("<" + "ab" * 6 + "c|" + "<" + "ab" * 6 + "c|" + "<" + "ab" * 6 + "c|") == ["<" + "ab" * 6 + "c|"] * 3


def test_validation_is_a_second_kind_of_step() -> None:
    epoch = TRAIN * 12 + VALIDATE * 4 + ">"
    found = turns(epoch * 3)
    assert next(turn for turn in found if "u" in turn) == TRAIN
    assert sum("u" in turn for turn in found) == 36
    assert sum("m" in turn for turn in found) == 12
    of_epoch = [0] * 12 + [1] * 4
    assert kinds(epoch * 3) == of_epoch * 3


def test_a_turn_with_a_launch_more_or_less_is_of_the_same_kind() -> None:
    body = "<" + "abcdefghijklmnopqrst" + "|"
    sequence = body * 4 + body.replace("k", "kk") + body * 4 + body.replace("p", "") + body * 4
    assert len(turns(sequence)) == 14
    assert set(kinds(sequence)) == {0}


def test_a_first_turn_that_tunes_is_a_step_too() -> None:
    body = "<abcdefghijklmnopqrst|"
    assert turns(body.replace("b", "bTTTT") + body * 9) == [body.replace("b", "bTTTT")] + [body] * 9


def test_a_turn_that_the_capture_cut_short_is_none() -> None:
    assert turns("<abcdefgh|" * 6 + "<abc") == ["<abcdefgh|"] * 6


def test_the_last_turn_needs_no_turn_behind_it() -> None:
    assert turns("<abcd" * 8 + "xyz") == ["<abcd"] * 8


def test_graphs_are_the_work_of_a_step() -> None:
    epoch = "<1" * 12 + "<2" * 4 + ">"
    assert sorted(set(turns(epoch * 3))) == ["<1", "<2", "<2>"]


def test_two_loops_one_after_another_are_both_found() -> None:
    found = turns("<abcd|" * 20 + ">pqrstv=" * 16)
    assert found.count("<abcd|") >= 19
    assert sum(set("pqrstv") <= set(turn) for turn in found) >= 15


def test_the_layers_of_one_pass_are_no_steps() -> None:
    one_pass = "abcdef" * 12 + "abcdeg" * 6
    assert turns(one_pass * 2 + "hijk") == []
    assert "layers, not steps" in str(reason(one_pass * 2 + "hijk"))


def test_the_layers_of_every_step_are_gathered_into_steps() -> None:
    step = "<e" + "abcdabcd" * 6 + "l|"
    assert turns("x" + step * 5) == [step] * 5


def test_turns_named_after_layers_are_layers() -> None:
    sequence = "<abcd|" * 12
    host = units(sequence).host[::6]
    of_turn = LayerMarks(host, np.arange(12) % 4)
    in_every_turn = LayerMarks(np.repeat(host, 4) + np.tile(np.arange(4), 12), np.tile(np.arange(4), 12))
    assert reason(sequence, of_turn) == "the cycle of 6 launches is a layer, by the names of the NVTX ranges around it"
    assert len(turns(sequence, marks=in_every_turn)) == 12


def test_waits_and_copies_alone_are_no_steps() -> None:
    assert turns("<>" * 20) == []
    assert reason("<>" * 20) == "only copies repeat"


@pytest.mark.parametrize("seed", range(3))
def test_what_does_not_repeat_has_no_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    assert (
        reason("".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 400))) == "the launch sequence does not repeat"
    )


def test_a_handful_of_launches_is_too_few() -> None:
    assert reason("ababa") == "fewer than 6 launches"
    assert reason("") == "fewer than 6 launches"


def test_the_numbers_of_tokens_mean_nothing() -> None:
    sequence = "xy" + (TRAIN * 8 + VALIDATE * 4) * 2
    renamed = sequence.translate(str.maketrans("abcdefghuHm", "uHmabcdefgh"))
    assert kinds(sequence) == kinds(renamed)
    assert [len(turn) for turn in turns(sequence)] == [len(turn) for turn in turns(renamed)]
