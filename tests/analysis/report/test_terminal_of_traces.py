"""Real traces on terminals of several widths."""

import io
import itertools
import re
from functools import cache

import pytest
from rich.console import Console

from shared_traces import TRACES, needs_shared_traces
from wallsplit.analysis import Analysis
from wallsplit.breakdowns import kernel_summary
from wallsplit.pipeline import analyze
from wallsplit.report.build import report
from wallsplit.report.document import Report, Table
from wallsplit.report.terminal import terminal

LINES = 25
WIDTHS = (60, 80, 120)
KERNELS = kernel_summary.TABLE.name

pytestmark = needs_shared_traces


@cache
def analysed(name: str) -> Analysis:
    return analyze(TRACES[name])


def printed(shown: Report, width: int, *sections: str) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal(shown, console, sections))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TRACES)
def test_the_first_screen_of_a_trace_is_one_screen(name: str, width: int) -> None:
    lines = printed(report(analysed(name)), width)
    assert 5 < len([*lines, "Report: …"]) <= LINES
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TRACES)
def test_no_two_kernels_of_a_trace_read_alike(name: str, width: int) -> None:
    shown = report(analysed(name), top=100_000)
    tables = [block for s in shown.sections if s.key == KERNELS for block in s.blocks if isinstance(block, Table)]
    if not tables:
        pytest.skip("no kernel was recorded")
    kernels, lines = tables[-1], printed(shown, width, KERNELS)
    head = next(i for i, line in enumerate(lines) if line.startswith(kernels.columns[0].title))
    labels = names_in(lines[head + 1 :])
    assert len(labels) == len(kernels.rows)
    assert len(set(labels)) == len(labels)


def names_in(lines: list[str]) -> list[str]:
    """Return the first cells of the rows of a table; one may go on in the lines below, where other cells are empty."""
    names: list[str] = []
    for line in itertools.takewhile(str.strip, lines):
        first, *others = re.split(r"\s{2,}", line.strip())
        if others:
            names.append(first)
        else:
            names[-1] += f" {first}"
    return names
