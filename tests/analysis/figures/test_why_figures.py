"""The figures of the sections that explain a ledger."""

from dataclasses import replace

import polars as pl
import pytest

from analyses import analysis, explained_gpus, explained_run, ledger, usual
from explanations import explained
from wallsplit import schema
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.drawing import Figure
from wallsplit.figures.gpu_use import gpu_use
from wallsplit.figures.idle_causes import idle_causes
from wallsplit.figures.step_chart import MOST
from wallsplit.figures.steps import steps
from wallsplit.report.sections import SECTIONS
from wallsplit.why.steps import SlowStep


def with_steps(lengths: list[int], slowest: tuple[int, ...] = ()) -> Analysis:
    """Return the explained run with steps of these lengths, all of it computing; `slowest` are their numbers."""
    found = explained_run()
    assert found.explained
    (why,) = found.explained.ledgers
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    rows = [(end - length, end, 0, end - length) for end, length in zip(ends, lengths, strict=True)]
    frame = pl.DataFrame(rows, schema.STEP_ROWS, orient="row")
    accounts = pl.DataFrame(
        {f"{a}_ns": lengths if a == "gpu.kernel" else [0] * len(lengths) for a in ACCOUNTS}, schema.STEP_ACCOUNTS
    )
    kind = replace((why.steps.kinds or ())[0], med_ns=float(sorted(lengths)[len(lengths) // 2]))
    told = replace(
        why.steps,
        count=len(lengths),
        rows=schema.StepRows(frame),
        accounts=schema.StepAccounts(accounts),
        kinds=(kind,),
        slowest=tuple(SlowStep(i, rows[i][0], lengths[i], "gpu.kernel") for i in slowest),
    )
    return replace(found, explained=replace(found.explained, ledgers=(replace(why, steps=told),)))


def drawn(found: Analysis) -> Figure:
    figure = steps(found)
    assert figure is not None
    return figure


def test_every_figure_opens_a_section_that_is_there() -> None:
    for found in (explained_run(), explained_gpus()):
        keys = {section.key for make in SECTIONS if (section := make(found, 20))} | {"headline"}
        assert {figure.section for draw in FIGURES if (figure := draw(found))} <= keys


def test_nothing_explained_is_nothing_drawn() -> None:
    names = {figure.name for draw in FIGURES if (figure := draw(usual()))}
    assert not names & {"steps", "idle_causes", "gpu_use", "waits", "communication", "memory_use"}


def test_a_warm_up_step_does_not_hide_the_others() -> None:
    assert "1 taller column cut" in drawn(with_steps([90_000] + [1_000] * 40)).caption
    assert "cut" not in drawn(with_steps([1_000] * 40)).caption


def test_many_steps_share_columns() -> None:
    assert f"the mean of about {4 * MOST // MOST} steps" in drawn(with_steps([1_000] * (4 * MOST))).caption
    assert "mean" not in drawn(with_steps([1_000] * MOST)).caption
    assert drawn(with_steps([1_000] * 100 * MOST)).svg


def test_only_a_step_slower_than_usual_is_marked() -> None:
    lengths = [1_000] * 9 + [1_400]
    assert "slowest steady step takes 1.40 µs" in drawn(with_steps(lengths, (9,))).alt
    assert "slowest" not in drawn(with_steps(lengths, (0,))).alt


def test_fewer_than_three_steps_are_no_chart() -> None:
    assert steps(with_steps([1_000, 1_000])) is None


def test_causes_of_idle_time_leave_out_what_computes() -> None:
    figure = idle_causes(explained_run())
    assert figure is not None and figure.bars is not None
    assert [bar.label for bar in figure.bars.bars] == ["launching", "host code"]


def test_of_several_ledgers_the_most_idle_is_drawn() -> None:
    busy, idle = ledger(0, gpu_kernel=900, host=100), ledger(1, gpu_kernel=100, host=900)
    figure = idle_causes(explained(analysis(busy, idle)))
    assert figure is not None
    assert "of GPU 1, the most idle" in figure.caption


def test_what_is_used_and_what_is_not_are_the_window() -> None:
    figure = gpu_use(explained_run())
    assert figure is not None and figure.bars is not None
    for bar in figure.bars.bars:
        assert float(sum(bar.percents)) == pytest.approx(100)
    assert "kernels active: used 99.0 %" in figure.alt
    assert "SM coverage: used 2.0 %" in figure.alt
