"""The figures."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyses import (
    analysis,
    cpu_run,
    explained_gpus,
    explained_run,
    hostile,
    incomplete,
    ledger,
    two_gpus,
    usual,
)
from variants import analysed, sampled
from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.colours import COLOURS
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.figures.launches import launches
from wallsplit.figures.ledger import ledger as ledger_figure
from wallsplit.figures.strip import strips
from wallsplit.report.build import report


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("make", [usual, two_gpus, hostile, explained_run, explained_gpus])
def test_a_figure_is_valid_svg_and_the_same_each_time(
    draw: Callable[[Analysis], Figure | None], make: Callable[[], Analysis]
) -> None:
    once, again = draw(make()), draw(make())
    if once is None or again is None:
        assert once is again
        return
    assert once.svg == again.svg
    assert ET.fromstring(once.svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<!-- generator: wallsplit " in once.svg[:200]
    assert "<script" not in once.svg


def test_a_dollar_in_a_name_starts_no_formula() -> None:
    figure = launches(analysis(*usual().ledgers, names=("$x^2$ cost $5",)))
    assert figure is not None
    assert "$x^2$ cost $5" in figure.svg


def test_many_ledgers_are_cut_for_people() -> None:
    many = analysis(*(ledger(device, gpu_kernel=1, host=1) for device in range(40)))
    figure = report(many).figure
    assert figure is not None
    assert "the first 16 of 40" in figure.caption


def test_unrecorded_work_is_a_lower_bound_in_words() -> None:
    figure = report(incomplete()).figure
    assert figure is not None
    assert "GPU computing ≥ 30.0 %" in figure.alt
    assert "host code with the GPU idle ≤ " in figure.alt


def test_a_cpu_run_is_drawn_without_a_word_on_the_gpu() -> None:
    figure = report(cpu_run()).figure
    assert figure is not None
    assert "GPU" not in figure.alt


@given(st.lists(st.lists(st.integers(0, 10**12), min_size=5, max_size=5), min_size=1, max_size=4))
def test_bars_stay_within_their_scale(times: list[list[int]]) -> None:
    bars = tuple(Bar("b", tuple(Segment(k, k, t) for k, t in zip(COLOURS, row, strict=False))) for row in times)
    for scale_ns in (None, max(bar.total_ns for bar in bars)):
        for bar in bars:
            assert sum(Bars(bars, scale_ns).widths(bar)) <= 1 + 1e-9


def test_every_kind_of_segment_can_be_drawn() -> None:
    bars = Bars((Bar("$all$", tuple(Segment(key, key, 1) for key in COLOURS)),))
    svg = Figure("x", "x", "x", "x", lambda: stacked(bars), bars).svg
    assert all(f">{key}</text>" in svg for key in COLOURS)
    assert ">$all$</text>" in svg


def test_without_cuda_strip_and_bar_show_what_the_cpu_was_sampled_in_and_say_so() -> None:
    found = analysed(sampled)
    (strip,) = strips(found)
    assert strip.totals[0][0].title == "python, sampled"
    assert [round(share, 2) for _, share in strip.totals] == [0.5, 0.3, 0.2]
    figure = ledger_figure(found)
    assert figure
    assert figure.bars
    (bar,) = figure.bars.bars
    shown = {segment.title: segment.value_ns for segment in bar.segments if segment.value_ns}
    assert shown == {"python, sampled": 60_000_000, "arithmetic, sampled": 36_000_000 - 1, "step": 24_000_001}
