"""CUDA calls by class: where booking and name differ, the report says why."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from analyses import analysis, incomplete, ledger, usual, without_gpu_rows
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.document import AtLeast, AtMost, Cell, Table
from wallsplit.report.html import html
from wallsplit.report.markdown import markdown
from wallsplit.report.sections.api import api
from wallsplit.report.terminal import terminal

REASONS = {"setup": "CUDA creates a context in it", "graph_build": "while a CUDA graph is captured"}


def booked(*names: str) -> Analysis:
    """Return an analysis whose ledger books calls as classes that no call has by its name."""
    times = {f"cuda_{name}": 1_000 for name in names}
    return analysis(ledger(0, pid=100, complete=True, gpu_kernel=700, host=300, **times))


def in_terminal(found: Analysis) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal(report(found), console, ["api"]))
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


def tables(found: Analysis) -> list[Table]:
    section = api(found, 20)
    assert section is not None
    return [block for block in section.blocks if isinstance(block, Table)]


def launch(found: Analysis) -> dict[str, Cell]:
    """Return the row of the class launch, in the one table of a single ledger, by column."""
    (table,) = tables(found)
    row = next(row for number, row in enumerate(table.rows) if number in table.group_rows and row[0] == "launch")
    return dict(zip((column.title for column in table.columns), row, strict=True))


def test_with_one_ledger_its_exposure_stands_beside_the_calls() -> None:
    row = launch(analysis(ledger(gpu_kernel=700, cuda_launch=100)))
    assert (row["union"], row["hidden"], row["exposed"]) == (200, 100, 100)


def test_what_missing_gpu_work_leaves_are_bounds() -> None:
    row = launch(incomplete())
    assert (row["union"], row["hidden"], row["exposed"]) == (400, AtLeast(200), AtMost(200))


def test_without_a_device_nothing_is_hidden_or_exposed_but_not_measured() -> None:
    row = launch(without_gpu_rows())
    assert (row["union"], row["hidden"], row["exposed"]) == (268_000_000, None, None)


def test_a_class_that_the_ledger_never_books_took_no_time_there() -> None:
    row = launch(analysis(ledger(gpu_kernel=700, cuda_alloc=100)))
    assert (row["union"], row["hidden"], row["exposed"]) == (0, 0, 0)


def test_with_several_ledgers_exposure_has_a_table_of_its_own() -> None:
    ledgers = (ledger(0, gpu_kernel=700, cuda_launch=100), ledger(1, gpu_kernel=700, cuda_launch=50, cuda_alloc=20))
    calls, exposures = tables(analysis(*ledgers))
    assert not {column.title for column in calls.columns} & {"union", "hidden", "exposed"}
    assert {len(row) for row in calls.rows} == {len(calls.columns)}
    assert exposures.rows == (
        ("GPU 0", "launch", 200, 100, 100),
        ("GPU 1", "launch", 100, 50, 50),
        ("GPU 1", "alloc", 40, 20, 20),
    )


def test_without_a_ledger_there_is_no_exposure() -> None:
    (table,) = tables(analysis())
    assert not {column.title for column in table.columns} & {"union", "hidden", "exposed"}


def test_of_many_calls_the_longest_are_listed_each_below_its_class() -> None:
    section = api(usual(), 1)
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["launch", "cudaLaunchKernel", "memcpy"]
    assert table.full_caption == "CUDA calls by class: top 1 of 2"
