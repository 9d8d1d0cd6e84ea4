"""Promises of the page's generated blocks: each is made from the cells alone, and says where nothing was measured."""

from dataclasses import replace

import pytest

from studies import IDENTITY, absent, cell, place, run
from wallsplit.errors import ReportError
from wallsplit_study.breakdown import frame
from wallsplit_study.cells import Outcome, measured
from wallsplit_study.page.blocks import BLOCKS, rewritten
from wallsplit_study.page.text import WIDTH, Study

NOTHING = Study((), frame(()))


def page(*names: str) -> str:
    return "Ours\n" + "".join(f"<!-- measured: {name} -->\nold\n<!-- end -->\ntext\n" for name in names)


def iris(program: str, every: int, calls: int) -> Outcome:
    timed = run(5_000_000_000 + 9_000 * calls, parameters={"item_every": every, "epochs": 20_000}, item_calls=calls)
    return measured(cell(f"iris-cpu, {program}", 1, "item", "iris-cpu", item_every=str(every)), IDENTITY, timed)


def test_every_block_is_made_anew_and_the_words_around_them_stay() -> None:
    made = rewritten(page(*BLOCKS), NOTHING)
    assert "old" not in made
    assert made.count("text\n") == len(BLOCKS)
    assert rewritten(made, NOTHING) == made


@pytest.mark.parametrize("names", [list(BLOCKS)[1:], [*BLOCKS, "grid"], [*BLOCKS, "epochs"]])
def test_a_page_that_lacks_a_block_or_has_another_is_refused(names: list[str]) -> None:
    with pytest.raises(ReportError, match="its measured blocks are not those of"):
        rewritten(page(*names), NOTHING)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_a_study_that_measured_nothing_has_no_number_of_ours(name: str) -> None:
    made = BLOCKS[name](NOTHING)
    assert made
    assert "nan" not in made.lower().replace("nano", "")
    assert "None" not in made


def test_times_per_epoch_stand_in_their_column_and_the_published_ones_beside_them() -> None:
    outcomes = [*place("keras-cpu", 32, 2_186_000_000), *place("keras-cpu", 128, 813_000_000), absent("cupy", 32)]
    lines = BLOCKS["epochs"](Study(outcomes, frame(()))).splitlines()
    assert (
        "| Keras on the CPU | 2.186\xa0s | 813\xa0ms | 4.4 s at 32; 11.3 s at its smallest batch; 1.4 s at best |"
        in lines
    )
    assert "| CuPy | no GPU here | not measured | – |" in lines


def test_the_cost_of_a_call_is_told_for_both_programs() -> None:
    outcomes = [iris("printing", *place) for place in ((1, 20_200), (100, 400), (2_000, 210))]
    outcomes += [iris("no printing", *place) for place in ((1, 20_000), (100, 200), (2_000, 10))]
    made = " ".join(BLOCKS["item-cost"](Study(outcomes, frame(()))).split())
    assert "9.00 µs ± 0 ns a call with printing; 9.00 µs ± 0 ns a call with no printing, of 5.000 s and 5.000 s" in made
    assert "46.5 µs ± 15.8 µs a call" in made


def test_an_epoch_step_shorter_than_the_step_alone_is_explained_on_the_page_too() -> None:
    alone = replace(run(1, back_to_back_step_wall_ns=900_000), step_wall_ns=(1_100_000,))
    outcomes = [
        measured(cell("jax", 1, "ops", "train-step"), IDENTITY, alone),
        *place("jax-cpu", 32, 1_500_000_000),
    ]
    made = " ".join(BLOCKS["steps"](Study(outcomes, frame(()))).split())
    assert (
        "In jax a step of an epoch is shorter than the step alone. Steps overlap: an epoch waits at its end only"
        in made
    )


def test_the_break_even_of_a_model_stands_beside_the_rule() -> None:
    """The CPU takes 1 ms for a step at batch 8 and 100 ms at 800: with a floor of 2.24 ms they meet in between."""
    points = [
        {"parameters": 1_000, "batch": batch, "flops": 8_000, "median_ns": ns, "steps": 3}
        for batch, ns in ((8, 10**6), (800, 10**8))
    ]
    swept = measured(cell("numpy", 1, "break-even"), IDENTITY, run(7, points=points))
    lines = BLOCKS["break-even"](Study([swept], frame(()))).splitlines()
    assert "| 1,000 | 18 | at every batch | 256 |" in lines
    assert "| modelled GPU, floor 2.24 ms | 2 | 2 | 0 | 0 |" in [line.replace("\xa0", " ") for line in lines]


def test_paragraphs_are_as_wide_as_the_page() -> None:
    words = BLOCKS["item-cost"](NOTHING).splitlines()
    assert all(len(line) <= WIDTH for line in words)
