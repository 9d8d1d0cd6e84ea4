"""What docs/architecture.md says of changes, done in a copy of the sources: one file, and one line in a tuple."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from builders import TraceBuilder

ROOT = Path(__file__).resolve().parent.parent
ROOTS = ("analysis", "workloads", "scripts")

TABLE = '''"""How many API calls did each process make?"""

import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import overlapping
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model

CALLS = pl.Schema({"pid": pl.Int64(), "count": pl.Int64()})


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return the calls of each process."""
    calls = overlapping(model.api_calls, window).group_by("pid").agg(pl.len().alias("count"))
    return calls.select(pl.all().cast(pl.Int64)).sort("pid")


TABLE = Breakdown("calls_by_process", "Calls by process", CALLS, compute)
'''
SECTION = '''"""Calls by process."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import Paragraph, Section


def calls_by_process(analysis: Analysis, _top: int) -> Section | None:
    """Return how many calls there are."""
    frame = analysis.tables["calls_by_process"]
    count = 0 if frame is None else frame["count"].sum()
    return Section("calls", "Calls by process", (Paragraph(f"{count} calls in all.", essential=True),))
'''
FIGURE = '''"""Calls as a bar."""

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked


def calls(analysis: Analysis) -> Figure | None:
    """Return one bar."""
    bars = Bars((Bar("calls", (Segment("cuda", "calls", 3),)),))
    return Figure("calls", "calls", "A bar of calls", "three calls", lambda: stacked(bars), bars)
'''
WORKLOAD = '''"""Nothing at all."""

from wallsplit_workloads import workload
from wallsplit_workloads.workload import Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Do nothing."""
    return Result()


WORKLOAD = Workload("nothing", "nothing at all", run, (workload.batch(1, maximum=1), workload.epochs(1)))
'''
COMMAND = '''"""`wallsplit greet`."""

import click


@click.command()
def greet() -> None:
    """Say hello."""
    click.echo("hello")
'''


class Copy:
    """The sources in another folder, and Python run on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for root in ROOTS:
            shutil.copytree(ROOT / root, folder / root, ignore=shutil.ignore_patterns("__pycache__"))

    def add(self, path: str, text: str) -> None:
        """Add a file, which is not there yet."""
        assert not (self.folder / path).exists()
        (self.folder / path).write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace what occurs once in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, (path, old, text.count(old))
        file.write_text(text.replace(old, new), encoding="utf-8")

    def append_to(self, path: str, name: str, line: str, importing: str = "") -> None:
        """Add a last line to the tuple of that name, and what it has to import."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        tuples = list(re.finditer(rf"^{name}\b[^=\n]*= \((.*?)\)\n", text, re.DOTALL | re.MULTILINE))
        assert len(tuples) == 1, (path, name)
        end = tuples[0].end(1)
        comma = "" if text[:end].rstrip().endswith(",") else ","
        text = f"{text[:end]}{comma}\n    {line},\n{text[end:]}"
        if importing:
            text = re.sub(r"^(?=from )", f"{importing}\n", text, count=1, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> str:
        """Return what Python prints, of these sources alone."""
        path = os.pathsep.join(str(self.folder / root) for root in ROOTS)
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", "COLUMNS": "100"}
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
            env=environment,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def analyze(self, trace: Path, *options: str) -> str:
        return self.run("-m", "wallsplit", "analyze", str(trace), *options)


@pytest.fixture
def build(tmp_path: Path) -> TraceBuilder:
    return TraceBuilder(tmp_path / "run.sqlite")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "sources")


@pytest.fixture
def trace(build: TraceBuilder) -> Path:
    build.api("cudaLaunchKernel", 0, 500, 1).kernel(600, 1_500, 1).api("cudaMalloc", 1_600, 2_000)
    return build.api("cudaDeviceSynchronize", 2_000, 2_100).write()


def test_one_of_each_is_one_file_and_one_line(copy: Copy, trace: Path) -> None:
    library = "analysis/wallsplit"
    copy.add(f"{library}/breakdowns/calls_by_process.py", TABLE)
    copy.append_to(
        f"{library}/breakdowns/__init__.py",
        "BREAKDOWNS",
        "calls_by_process.TABLE",
        "from wallsplit.breakdowns import calls_by_process",
    )
    copy.add(f"{library}/report/sections/calls.py", SECTION)
    copy.append_to(
        f"{library}/report/sections/__init__.py",
        "SECTIONS",
        "calls_by_process",
        "from wallsplit.report.sections.calls import calls_by_process",
    )
    copy.add(f"{library}/figures/calls.py", FIGURE)
    copy.append_to(f"{library}/figures/__init__.py", "FIGURES", "calls", "from wallsplit.figures.calls import calls")
    copy.add("workloads/wallsplit_workloads/nothing.py", WORKLOAD)
    copy.append_to(
        "workloads/wallsplit_workloads/__init__.py",
        "WORKLOADS",
        "nothing.WORKLOAD",
        "from wallsplit_workloads import nothing",
    )
    copy.add("scripts/wallsplit_scripts/greet.py", COMMAND)
    copy.append_to(
        "scripts/wallsplit_scripts/main.py", "COMMANDS", '("greet", "wallsplit_scripts.greet:greet", "Say hello.")'
    )

    copy.analyze(trace, "--report-dir", "reports", "--tables", "tables")
    page = (copy.folder / "reports" / f"{trace.stem}.md").read_text(encoding="utf-8")
    assert "## Calls by process" in page
    assert "3 calls in all." in page
    assert f"![three calls]({trace.stem}.calls.svg)" in page
    assert (copy.folder / "tables" / f"{trace.stem}.calls_by_process.csv").read_text() == "pid,count\n1,3\n"
    assert '"calls_by_process": [\n{"pid": 1, "count": 3}\n]' in copy.analyze(trace, "--json")
    assert copy.run("-m", "wallsplit", "workloads").splitlines()[-1].split() == ["nothing", "nothing", "at", "all"]
    assert copy.run("-m", "wallsplit", "greet") == "hello\n"
    assert copy.run("-m", "wallsplit", "--help").rstrip().endswith("greet      Say hello.")


def test_a_call_of_another_class_is_a_change_of_one_file(copy: Copy, trace: Path) -> None:
    assert '"class": "alloc"' in copy.analyze(trace, "--json")
    copy.replace("analysis/wallsplit/model/api_classes.py", 'r"(Malloc|MemAlloc', 'r"(MemAlloc')
    assert '"class": "alloc"' not in copy.analyze(trace, "--json")


def test_a_renamed_column_is_a_change_of_one_file(copy: Copy, build: TraceBuilder, trace: Path) -> None:
    for row in build.rows["CUPTI_ACTIVITY_KIND_RUNTIME"]:
        row["nameOfCall"] = row.pop("nameId")
    renamed = build.write()
    assert "cudaMalloc" not in copy.analyze(renamed, "--json")
    alias = 'aliases={"nameId": Alias("nameOfCall")}'
    copy.replace("analysis/wallsplit/trace/raw.py", '"returnValue")', f'"returnValue"), {alias}')
    assert "cudaMalloc" in copy.analyze(renamed, "--json")


def test_the_wording_of_the_headline_is_a_change_of_one_file(copy: Copy, trace: Path) -> None:
    copy.replace("analysis/wallsplit/words/headline.py", '} of wall time"\n    wall_ns', '} by the clock"\n    wall_ns')
    assert "2.10 \\u00b5s by the clock: GPU computing 42.8 %" in copy.analyze(trace, "--json")


def test_a_colour_and_the_name_of_a_part_are_changes_of_one_file(copy: Copy, trace: Path) -> None:
    accounts = "analysis/wallsplit/accounts.py"
    copy.replace(accounts, '"GPU computing", "#0072b2"', '"GPU at work", "#123456"')
    copy.analyze(trace, "--report-dir", "reports")
    page = (copy.folder / "reports" / f"{trace.stem}.html").read_text(encoding="utf-8")
    assert "GPU at work" in page
    assert "#123456" in page
    assert "#0072b2" not in page
    assert "GPU computing" not in page


def test_the_page_names_files_and_tuples_that_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|") and "`" in line]
    assert len(rows) >= 14
    for path in re.findall(r"`((?:analysis|workloads|scripts)/[\w/]*(?:\.py)?)`", page):
        assert (ROOT / path).exists(), path
