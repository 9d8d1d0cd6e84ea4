"""Pages that repeat the code agree with it, and links between pages lead somewhere."""

import io
import itertools
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from rich.console import Console

from shared_traces import TRACES, needs_shared_traces
from wallsplit.accounts import ACCOUNTS, PARTS
from wallsplit.ledger.phases import PHASES
from wallsplit.model.api_classes import RULES
from wallsplit.model.communication import LIBRARIES
from wallsplit.pipeline import analyze
from wallsplit.report.build import report
from wallsplit.report.tables import csv
from wallsplit.report.terminal import terminal
from wallsplit.why.causes import CAUSES, QUESTIONS
from wallsplit_study.cells import Part, from_line, latest
from wallsplit_study.frames import summary
from wallsplit_study.published import PEAK_FLOPS
from wallsplit_workloads import mlp

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "traces" / "README.md", ROOT / "reports" / "README.md"]
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def test_the_command_line_reference_is_what_help_prints() -> None:
    """In a process of its own: Click keeps the help options a command was first called with, here by other tests."""
    script = ROOT / "scripts" / "write_cli_reference.py"
    code = f"import runpy, sys; sys.stdout.write(runpy.run_path({str(script)!r})['reference']())"
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, env=paths)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == done.stdout, "run make docs"


def test_the_study_reckons_arithmetic_as_the_workloads_do() -> None:
    page = " ".join((ROOT / "docs" / "the-study.md").read_text(encoding="utf-8").split())
    epoch = mlp.arithmetic(32, 48_000, 12_000).flops_per_epoch
    assert epoch is not None
    assert f"One training step is {mlp.step_flops(32) / 1e6:.1f} MFLOP" in page
    assert f"an epoch with its validation {epoch / 1e9:.1f} GFLOP" in page
    assert f"The epoch's arithmetic would take {epoch / PEAK_FLOPS * 1e3:.1f} ms of the 6.5 s" in page


def test_the_study_says_of_our_measurements_what_the_committed_cells_say() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "write_study_page.py"))["page"]()
    assert (ROOT / "docs" / "the-study.md").read_text(encoding="utf-8") == made, "run make docs"


@pytest.mark.parametrize("part", get_args(Part))
def test_the_committed_tables_of_the_study_are_made_from_the_committed_cells(part: Part) -> None:
    folder = ROOT / "reports" / "cpu-study"
    outcomes = latest(from_line(line) for line in (folder / "cells.jsonl").read_bytes().splitlines())
    frame, file = summary(outcomes, part), folder / f"{part}.csv"
    assert file.exists() is not frame.is_empty()
    if file.exists():
        assert file.read_bytes() == csv(file.name, frame).content


def table_after(page: str, header: str) -> list[list[str]]:
    """Return the rows of the table of a page whose header line begins so: a list of cells each."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"\n{header}", 1)[1].splitlines()[2:]
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in itertools.takewhile(lambda x: x.startswith("|"), lines)
    ]


def test_the_page_on_idle_time_lists_the_phases_and_where_their_names_come_from() -> None:
    rows = table_after("idle-time.md", "| phase | names")
    assert rows == [[f"`{rule.phase}`", rule.seen_in] for rule in PHASES]


def test_the_page_on_idle_time_lists_the_causes_in_the_order_they_are_asked_for() -> None:
    assert [row[0] for row in table_after("idle-time.md", "| cause | when")] == [f"`{cause}`" for cause, _ in QUESTIONS]
    assert {cause for cause, _ in QUESTIONS} == set(CAUSES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def assert_the_readme_shows(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal(report(analyze(trace)), console))
    assert isinstance(console.file, io.StringIO)
    printed = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert printed in re.findall(r"```\n(.*?)\n```", readme, re.DOTALL)


def test_the_sample_in_the_readme_is_what_analyze_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_the_readme_shows(ROOT / "traces" / "keras-gpu.reconstructed.sqlite", monkeypatch)


@needs_shared_traces
def test_the_recorded_trace_in_the_readme_is_what_analyze_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_the_readme_shows(TRACES["torch_rtx3070ti_train"], monkeypatch)


def table_of(page: str, heading: str) -> dict[str, str]:
    """Return the first table under a heading of a page: its first column without code marks, and its second."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    lines = itertools.takewhile(lambda line: line.startswith("|"), text[text.index("\n|") + 1 :].splitlines()[2:])
    rows = (re.split(r"(?<!\\)\|", line) for line in lines)
    return {row[1].strip().strip("`"): row[2].strip().replace("\\|", "|") for row in rows}


def test_the_page_of_the_ledger_lists_the_accounts_in_their_order() -> None:
    assert tuple(table_of("ledger.md", "Accounts")) == ACCOUNTS


def test_the_page_of_the_ledger_lists_the_rules_of_the_api_classes() -> None:
    assert table_of("ledger.md", "API classes") == {name: f"`{rule.pattern}`" for name, rule in RULES}


def test_the_page_of_the_ledger_lists_the_communication_libraries_and_their_names() -> None:
    assert table_of("ledger.md", "Communication") == {library: f"`{name}`" for library, name in LIBRARIES}


def test_the_guide_names_the_parts_of_the_headline_in_their_order() -> None:
    assert list(table_of("how-to-read-a-report.md", "The sentence")) == [part.title for part in PARTS]


@pytest.mark.parametrize("page", ["glossary.md", "how-to-read-a-report.md"])
def test_pages_count_the_accounts_as_the_code_does(page: str) -> None:
    assert len(ACCOUNTS) == 17
    assert "seventeen" in (ROOT / "docs" / page).read_text(encoding="utf-8")
