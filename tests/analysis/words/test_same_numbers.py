"""What the first screen says twice, it says alike: verdict, cards, strips and advice of every trace."""

import re
from functools import cache

import pytest

from shared_traces import CASES, TRACES, needs_shared_traces
from variants import analysed as variant
from variants import several_gpus
from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.figures.strip import fewer, strips
from wallsplit.pipeline import analyze
from wallsplit.report.cards import Card, cards
from wallsplit.words.advice import advice
from wallsplit.words.amounts import duration, some_of
from wallsplit.words.speakers import speakers, worst
from wallsplit.words.verdict import verdict

PATHS = {**TRACES, **CASES}
every_trace = pytest.mark.parametrize("name", PATHS)
pytestmark = needs_shared_traces


@cache
def analysed(name: str) -> Analysis:
    return analyze(PATHS[name])


def card_of_once(analysis: Analysis) -> Card | None:
    return next((card for card in cards(analysis) if "· once" in card.title), None)


@every_trace
def test_verdict_and_card_call_the_same_share_start_up(name: str) -> None:
    said, card = verdict(analysed(name)), card_of_once(analysed(name))
    share = re.match(r"(\S+ %) (?:of this recording is start-up|is start-up|is one first|of the time CUDA loads)", said)
    if share:
        assert card is not None
        assert card.of == f"{share[1]} of the recording"
    if "over half the recording is start-up" in said:
        assert card is not None
        assert float(card.of.split(" ")[0]) > 50


@every_trace
def test_what_is_paid_once_by_the_card_is_what_the_advice_can_win(name: str) -> None:
    for row in advice(analysed(name)):
        if row.at_most.endswith(", once"):
            speaker, card = worst(speakers(analysed(name))), card_of_once(analysed(name))
            once = speaker.paid_once
            assert once is not None
            assert card is not None
            assert row.at_most == f"{duration(once.prize_upper_ns)}, once"
            is_said = f"idle {duration(once.prize_upper_ns)} " in card.text
            assert card.figure == units.ns(speaker.start_up_ns)
            assert is_said or duration(speaker.start_up_ns) == duration(once.prize_upper_ns)


@every_trace
def test_the_parts_of_what_is_paid_once_add_up(name: str) -> None:
    for speaker in speakers(analysed(name)):
        once = speaker.paid_once
        if once:
            assert once.parts is not None
            assert sum(once.parts.values()) == once.prize_upper_ns
            assert once.share_ratio == once.prize_upper_ns / speaker.ledger.wall_ns


@every_trace
def test_steps_are_counted_alike_in_verdict_and_card(name: str) -> None:
    in_verdict = re.search(r"(?:in )(\S+ of )?(?:its )?(\S+ steps)", verdict(analysed(name)))
    in_card = next((card.title for card in cards(analysed(name)) if card.title.startswith("Steady · ")), "")
    if in_verdict:
        assert in_card.startswith(f"Steady · {in_verdict[1] or ''}{in_verdict[2]}")


@every_trace
def test_the_gpu_that_the_figures_are_of_keeps_its_strip(name: str) -> None:
    shown = strips(analysed(name))
    for card in cards(analysed(name)):
        whose = re.search(r" on (GPU \d+[^·]*?)(?: ·|$)", card.title)
        if whose:
            assert [strip.label for strip in shown if strip.is_subject] == [whose[1]]
            assert whose[1] in [strip.label for strip in fewer(shown, 1)]


def test_of_several_gpus_one_is_marked_as_that_of_the_figures() -> None:
    headings = [strip.heading for strip in strips(variant(several_gpus))]
    assert len([heading for heading in headings if heading.endswith("– the figures below are of it")]) == 1


@every_trace
def test_no_gpu_is_called_idle_and_unknown_at_once(name: str) -> None:
    gpu = next((card for card in cards(analysed(name)) if card.title == "GPU"), None)
    if gpu:
        is_known = bool(re.search("given no work|launched nothing", verdict(analysed(name))))
        assert (gpu.figure == "no work") == is_known


def test_some_of_the_steps_are_told_from_all_of_them() -> None:
    assert some_of(3, 5, "step") == "three of five steps"
    assert some_of(1220, 1221, "step", of="its") == "1,220 of its 1,221 steps"
    assert some_of(5, 5, "step", of="its") == "its five steps"
