"""Reports as values: sections, figures, file names."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from analyses import (
    ALL,
    HOSTILE,
    hostile,
    two_gpus,
    usual,
)
from variants import analysed, blocked, cpu, graphs, no_gpu_rows, several_gpus, steady
from wallsplit.accounts import ACCOUNTS, MEANINGS, PARTS
from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.drawing import HEADLINE
from wallsplit.report.build import report
from wallsplit.report.document import AtLeast, Cell, Column, Link, Section, Table
from wallsplit.report.files import files, stems
from wallsplit.report.index import index
from wallsplit.report.sections import SECTIONS


def test_every_account_is_in_one_part_and_has_a_meaning() -> None:
    assert sorted(account for part in PARTS for account in part.accounts) == sorted(ACCOUNTS)
    assert tuple(MEANINGS) == ACCOUNTS


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("make", ALL)
def test_a_section_copes_with_every_analysis(
    section: Callable[[Analysis, int], Section | None], make: Callable[[], Analysis]
) -> None:
    made = section(make(), 3)
    assert made is None or (made.key.isidentifier() and made.blocks)


@pytest.mark.parametrize("make", ALL)
def test_rows_fit_their_columns(make: Callable[[], Analysis]) -> None:
    tables = [b for section in report(make()).sections for b in section.blocks if isinstance(b, Table)]
    for table in tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}
        assert len(table.rows) - len(table.group_rows) <= table.total_rows


def test_section_keys_are_distinct() -> None:
    keys = [section.key for section in report(hostile()).sections]
    assert len(keys) == len(set(keys))


def test_a_figure_opens_the_section_it_names() -> None:
    found = report(usual())
    known = {HEADLINE, *(section.key for section in found.sections)}
    assert {figure.section for draw in FIGURES if (figure := draw(usual()))} <= known


def test_the_top_rows_are_counted_against_all() -> None:
    table = Table("Kernels", (Column("name"),), (("a",), ("b",)), 143)
    assert table.full_caption == "Kernels: top 2 of 143"
    assert replace(table, total_rows=2).full_caption == "Kernels"


def test_a_report_is_two_pages_and_the_figures_of_one() -> None:
    names = [file.name for file in files(report(usual()), "run")]
    assert names == ["run.html", "run.md", "run.ledger.svg", "run.api_exposure.svg", "run.launches.svg"]


def test_files_are_utf8_with_line_feeds_and_carry_their_mark() -> None:
    for file in files(report(hostile()), "run"):
        assert b"\r" not in file.content
        assert file.content.decode().endswith("\n")
        assert file.mark in file.content[:4096]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a/x.sqlite"], ("x",)),
        (["a/x.sqlite", "b/y.sqlite"], ("x", "y")),
        (["a/x.sqlite", "b/x.sqlite"], ("a-x", "b-x")),
        (["a/X.sqlite", "b/x.sqlite"], ("a-X", "b-x")),
        (["a/index.sqlite"], ("a-index",)),
        (["a/x.sqlite", "a/x.nsys-rep"], ("a-x", "a-x-2")),
        (["a/a-x.sqlite", "a/x.sqlite", "b/x.sqlite"], ("a-a-x", "a-x", "b-x")),
    ],
)
def test_reports_never_share_a_name(paths: list[str], expected: tuple[str, ...]) -> None:
    found = stems(paths)
    assert len(set(found)) == len(paths)
    if paths[0] != "a/a-x.sqlite":
        assert found == expected


def test_an_index_has_a_row_per_trace_and_lists_the_failed() -> None:
    found = index([usual(), two_gpus()], ["one", "two"], [("/some/folder/x.sqlite", "is empty")])
    assert found.headline == "Three traces: one failed."
    *_, table = found.sections[0].blocks
    assert isinstance(table, Table)
    assert len(table.rows) == 2


def test_an_index_begins_with_the_worst() -> None:
    makes = (steady, cpu, no_gpu_rows, blocked)
    found = index([analysed(make) for make in makes], [make.__name__ for make in makes])
    *_, table = found.sections[0].blocks
    assert isinstance(table, Table)
    order = [row[0].text for row in table.rows if isinstance(row[0], Link)]
    assert order == ["no_gpu_rows", "blocked", "steady", "cpu"]
    assert found.headline == "Four traces: one keeps the GPU busy, two cannot be judged."


def test_two_traces_that_differ_in_before_and_after_share_a_row() -> None:
    before, after = (replace(analysed(steady), path=f"train_{word}.sqlite") for word in ("before", "after"))
    pairs, table = index([after, before], ["train_after", "train_before"]).sections[0].blocks
    assert isinstance(pairs, Table)
    assert isinstance(table, Table)
    (row,) = pairs.rows
    assert row[:3] == ("train", Link("before", "train_before"), Link("after", "train_after"))
    assert row[-2:] == pytest.approx((50.0, 50.0), rel=1e-3)
    assert len(table.rows) == 2


def test_two_traces_of_one_program_share_a_row_whatever_they_are_called() -> None:
    runs = [replace(analysed(steady), path=f"{name}.sqlite") for name in ("monday", "tuesday")]
    pairs, _ = index([*runs, analysed(graphs)], ["monday", "tuesday", "graphs"]).sections[0].blocks
    assert isinstance(pairs, Table)
    (row,) = pairs.rows
    assert row[:3] == ("the same kernels", Link("monday", "monday"), Link("tuesday", "tuesday"))


def test_three_traces_of_one_program_are_no_pair() -> None:
    runs = [replace(analysed(steady), path=f"{name}.sqlite") for name in "abc"]
    assert len(index(runs, list("abc")).sections[0].blocks) == 1


def test_of_several_gpus_an_index_tells_the_least_busy_and_what_communication_is_exposed() -> None:
    (table,) = index([analysed(several_gpus)], ["x"]).sections[0].blocks
    assert isinstance(table, Table)
    assert "computing 67–94 %, least on GPU 1; exposed communication 0–22 %" in table.rows[0]


def test_hostile_names_reach_no_file_name() -> None:
    assert stems([f"/x/{HOSTILE[9]}.sqlite"]) == ("x1b[31mred_x1b]0;title_x07__x9b31m",)


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    code = "import sys, wallsplit.report.files, wallsplit.report.terminal; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0


def test_totals_of_gpu_tables_are_lower_bounds_where_gpu_work_is_missing() -> None:
    complete = usual()
    lacking = replace(complete, ledgers=tuple(replace(x, gpu_complete=False) for x in complete.ledgers))
    assert {type(total) for total in kernel_totals(complete)} == {int}
    assert {type(total) for total in kernel_totals(lacking)} == {AtLeast}


def kernel_totals(analysis: Analysis) -> list[Cell]:
    section = next(section for section in report(analysis).sections if section.key == "kernel_summary")
    tables = [block for block in section.blocks if isinstance(block, Table)]
    table = next(table for table in tables if table.columns[0].title == "kernel")
    return [row[1] for row in table.rows]
