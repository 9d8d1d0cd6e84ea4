"""The surface and its curve: planted times, the break-even that follows by hand, and what stays marked as modelled."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from studies import IDENTITY, cell, run
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.break_even import (
    EVERY_BATCH,
    FLOORS,
    NO_BATCH,
    Step,
    agreement,
    break_even,
    crossing,
    crossings,
    measured_surface,
    opponents,
    rule_says_cpu,
)
from wallsplit_study.cells import Outcome, measured

ROOT = Path(__file__).resolve().parents[2]
SMALL, LARGE = 100_000, 1_000_000


def outcome(approach: str, walls: dict[tuple[int, int], int], device: Literal["cpu", "gpu"] = "cpu") -> Outcome:
    """Return a run of the sweep: the time of each size in ns, 4 FLOP per parameter and sample."""
    points = [
        {"parameters": parameters, "batch": batch, "flops": 4 * parameters * batch, "median_ns": ns, "steps": 3}
        for (parameters, batch), ns in walls.items()
    ]
    return measured(cell(approach, 1, "break-even"), IDENTITY, replace(run(7, points=points), device=device))


def surface(*walls_ns: int, parameters: int = SMALL) -> dict[tuple[int, int], Step]:
    """Return steps at batch 10, 100, 1,000 … that take so long."""
    return {(parameters, 10**i): Step(1, float(ns), "any") for i, ns in enumerate(walls_ns, 1)}


def tables(section: Section | None) -> dict[str, Table]:
    assert section is not None
    return {block.caption: block for block in section.blocks if isinstance(block, Table)}


def test_each_size_is_told_by_the_library_that_is_fastest_there() -> None:
    numpy = outcome("numpy", {(SMALL, 8): 10, (SMALL, 32): 400})
    jax = outcome("jax", {(SMALL, 8): 50, (SMALL, 32): 100})
    gpu = outcome("jax on a GPU", {(SMALL, 8): 1}, "gpu")
    found = measured_surface([numpy, jax, gpu], "cpu")
    assert {size: (step.approach, step.wall_ns) for size, step in found.items()} == {
        (SMALL, 8): ("numpy", 10),
        (SMALL, 32): ("jax", 100),
    }


def test_repeats_of_a_size_count_by_their_median() -> None:
    repeats = [outcome("numpy", {(SMALL, 8): ns}) for ns in (30, 10, 20)]
    assert measured_surface(repeats, "cpu")[SMALL, 8].wall_ns == 20


def test_the_curve_is_where_straight_lines_on_logarithmic_axes_meet() -> None:
    """The CPU grows tenfold with each batch, the GPU not at all: they meet half way from 10 to 100."""
    assert crossing(surface(1, 10, 100), surface(1, 10, 100), SMALL) == EVERY_BATCH
    met = crossing(surface(100, 1_000), {size: Step(1, 10**2.5, "any") for size in surface(1, 1)}, SMALL)
    assert met == pytest.approx(10**1.5)


def test_a_gpu_ahead_everywhere_or_nowhere_has_no_batch_of_its_own() -> None:
    slow, fast = surface(10, 20, 30), surface(1, 2, 3)
    assert crossing(slow, fast, SMALL) == EVERY_BATCH
    assert crossing(fast, slow, SMALL) == NO_BATCH
    assert crossing(fast, {}, SMALL) is None


def test_without_a_gpu_the_opponents_are_modelled_from_published_figures_and_say_so() -> None:
    cpu = measured_surface([outcome("numpy", {(SMALL, 32): 10**6})], "cpu")
    found = opponents(cpu, {})
    assert [gpu.modelled for gpu in found] == [True, True]
    assert all("modelled" in gpu.title for gpu in found)
    arithmetic_ns = 4 * SMALL * 32 / (48 * 64 * 2 * 1.8e9) * 1e9
    assert [gpu.surface[SMALL, 32].wall_ns for gpu in found] == [
        pytest.approx((6.5 - 2.3) / 1_875 * 1e9 + arithmetic_ns),
        pytest.approx(109_000 - 580.8 + arithmetic_ns, abs=1),
    ]
    section = break_even([outcome("numpy", {(SMALL, 32): 10**6})])
    assert section is not None
    (meaning,) = (block.text for block in section.blocks if isinstance(block, Paragraph))
    assert "No GPU was measured here: every GPU below is modelled." in meaning


def test_the_floors_are_the_published_ones() -> None:
    assert [round(floor * 1e6) for floor in FLOORS] == [round((6.5 - 2.3) / 1_875 * 1e6), round(109 - 0.58)]
    page = " ".join((ROOT / "docs" / "the-study.md").read_text(encoding="utf-8").split())
    assert "two published floors: 2.24 ms" in page
    assert "and 108 µs, one product launched" in page


def test_a_measured_gpu_comes_first_and_nothing_says_that_it_is_modelled() -> None:
    cpu, gpu = outcome("numpy", {(SMALL, 32): 10**6}), outcome("jax on a GPU", {(SMALL, 32): 10**5}, "gpu")
    section = break_even([cpu, gpu])
    assert section is not None
    (meaning,) = (block.text for block in section.blocks if isinstance(block, Paragraph))
    assert "No GPU was measured" not in meaning
    shown = tables(section)["Break-even: the batch from which on a GPU is as fast as the CPU"]
    assert shown.columns[1].title == "GPU here"
    assert shown.rows[0][1] == EVERY_BATCH


def test_the_published_rule_stands_beside_each_model() -> None:
    cpu = surface(1, 1) | surface(1, 1, parameters=LARGE)
    rows = crossings(cpu, opponents(cpu, {})).rows
    assert [(row[0], row[-1]) for row in rows] == [(SMALL, 256), (LARGE, EVERY_BATCH)]
    assert [rule_says_cpu(size) for size in ((499_999, 255), (500_000, 8), (8, 256))] == [True, False, False]
    assert (published.RULE_PARAMETERS, published.RULE_BATCH) == (500_000, 256)


def test_the_rule_is_counted_right_or_wrong_on_either_side() -> None:
    """Below 500,000 parameters: batch 10 and 100 are the CPU's by the rule, 1,000 is the GPU's."""
    cpu = surface(1, 9, 1)
    (row, *_) = agreement(cpu, opponents(cpu, surface(5, 5, 5))).rows
    assert row == ("GPU here", 3, 1, 1, 1)


def test_gflops_reached_are_operations_over_time() -> None:
    shown = tables(break_even([outcome("numpy", {(SMALL, 10): 2_000, (SMALL, 100): 4_000})]))
    assert shown["GFLOP/s that the CPU reaches"].rows == ((SMALL, 2_000.0, 10_000.0),)


def test_a_sweep_that_failed_everywhere_still_has_its_place_in_the_report() -> None:
    lack = Outcome(cell("jax on a GPU", 1, "break-even"), "no GPU here", IDENTITY, "no NVIDIA GPU")
    assert list(tables(break_even([lack]))) == ["Runs of the sweep"]


def test_the_figure_draws_marks_curves_and_the_rule() -> None:
    cpu = {(SMALL, 8): 10**5, (SMALL, 4096): 10**8, (LARGE, 8): 10**6, (LARGE, 4096): 10**9}
    section = break_even([outcome("numpy", cpu)])
    assert section is not None
    svg = next(block.svg for block in section.blocks if isinstance(block, Figure))
    for words in (
        "CPU faster",
        "GPU, modelled, faster",
        "published rule",
        "as fast as the modelled GPU, floor 2.24 ms",
    ):
        assert words in svg
