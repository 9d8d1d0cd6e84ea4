"""CUDA calls by class: where booking and name differ, the report says why."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from analyses import analysis, ledger, usual
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.html import html
from wallsplit.report.markdown import markdown
from wallsplit.report.terminal import terminal

REASONS = {"setup": "CUDA creates a context in it", "graph_build": "while a CUDA graph is captured"}


def booked(*names: str) -> Analysis:
    """Return an analysis whose ledger books calls as classes that no call has by its name."""
    times = {f"cuda_{name}": 1_000 for name in names}
    return analysis(ledger(0, pid=100, complete=True, gpu_kernel=700, host=300, **times))


def in_terminal(found: Analysis) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal(report(found), console))
    file = console.file
    assert isinstance(file, io.StringIO)
    return " ".join(file.getvalue().split())


def in_html(found: Analysis) -> str:
    return html(report(found))


def in_markdown(found: Analysis) -> str:
    return markdown(report(found), "run")


@pytest.mark.parametrize("show", [in_terminal, in_html, in_markdown])
@pytest.mark.parametrize("name", REASONS)
def test_a_class_with_more_time_than_its_calls_is_explained(name: str, show: Callable[[Analysis], str]) -> None:
    text = show(booked(name))
    assert REASONS[name] in text
    assert f"So {name} has more" in text
    assert all(reason not in text for other, reason in REASONS.items() if other != name)


def test_both_reasons_stand_in_one_sentence() -> None:
    assert "So setup and graph_build have more" in in_terminal(booked("setup", "graph_build"))


@pytest.mark.parametrize("show", [in_terminal, in_html, in_markdown])
def test_nothing_is_explained_where_names_and_booking_agree(show: Callable[[Analysis], str]) -> None:
    assert "where the ledger books a call" not in show(usual())


def test_with_several_ledgers_one_of_them_suffices() -> None:
    other = ledger(1, gpu_kernel=700, host=300)
    text = in_terminal(analysis(*booked("setup").ledgers, other))
    assert text.count("where the ledger books a call") == 1
