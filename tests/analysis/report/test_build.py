"""Reports as values: sections, figures, file names."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from analyses import (
    ALL,
    HOSTILE,
    analysis,
    cpu_run,
    hostile,
    incomplete,
    ledger,
    two_gpus,
    usual,
    without_gpu_rows,
)
from wallsplit.accounts import ACCOUNTS, MEANINGS, PARTS
from wallsplit.analysis import Analysis
from wallsplit.figures import FIGURES
from wallsplit.figures.drawing import HEADLINE
from wallsplit.report.build import report
from wallsplit.report.document import AtLeast, Cell, Column, Section, Table
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
    assert found.headline == "3 traces, 1 failed"
    table = found.sections[0].blocks[0]
    assert isinstance(table, Table)
    assert len(table.rows) == 2


def cells_of(column: str, *analyses: Analysis) -> list[Cell]:
    """Return a column of the index's table, by its title."""
    table = index(analyses, [str(number) for number in range(len(analyses))]).sections[0].blocks[0]
    assert isinstance(table, Table)
    at = [column.title for column in table.columns].index(column)
    return [row[at] for row in table.rows]


def test_in_an_index_gpu_busy_is_the_mean_over_the_gpus() -> None:
    assert cells_of("GPU busy", two_gpus()) == [pytest.approx((85 / 100 + 75 / 100) / 2)]
    assert cells_of("GPU busy", cpu_run(), without_gpu_rows()) == [None, None]


def test_in_an_index_gpu_busy_is_a_lower_bound_where_any_gpu_work_is_missing() -> None:
    assert cells_of("GPU busy", usual(), incomplete()) == [pytest.approx(1_799 / 3_361), AtLeast(0.3)]
    whole, lacking = ledger(0, gpu_kernel=80, host=20), ledger(1, complete=False, gpu_kernel=60, host=40)
    assert cells_of("GPU busy", analysis(whole, lacking)) == [AtLeast(0.7)]
    on_cpu = ledger(None, pid=7, complete=False, host=100)
    assert cells_of("GPU busy", analysis(whole, on_cpu)) == [pytest.approx(0.8)]


def test_in_an_index_a_trace_without_wall_time_has_none() -> None:
    assert cells_of("wall", usual(), analysis()) == [3_361_000_000, None]


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
