"""The pages on comparing and on CI say what the commands do."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from shared_traces import TRACES, needs_shared_traces
from wallsplit.comparison.check.budgets import read
from wallsplit.comparison.check.figures import CLASSES
from wallsplit.comparison.pairs import compare
from wallsplit.figures.waterfall import waterfall
from wallsplit.pipeline import measure
from wallsplit.report.comparison_report import comparison_report
from wallsplit.report.terminal import terminal

ROOT = Path(__file__).resolve().parent.parent


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@needs_shared_traces
def test_the_example_of_the_readme_is_what_compare_prints_and_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    per = "kernel:*flash_fwd*"
    sides = {label: [measure(TRACES[f"torch_ddp_2xh100_{label}"], per)] for label in ("before", "after")}
    comparison = compare(sides, per)
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal(comparison_report(comparison, 20), console))
    assert isinstance(console.file, io.StringIO)
    printed = [line.rstrip() for line in console.file.getvalue().splitlines()]
    shown = next(
        block for block in re.findall(r"```\n(.*?)\n```", page("README.md"), re.DOTALL) if "Largest changes" in block
    )
    assert [line for line in shown.splitlines() if line not in printed] == []
    figure = waterfall(comparison.pairs[0])
    assert figure.svg == page("docs/images/waterfall.svg")
    assert figure.alt.split("; ")[1] in page("README.md")


def test_the_budgets_of_the_page_are_budgets(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", page("docs/ci.md"), re.DOTALL)
    (tmp_path / "wallsplit.toml").write_text(example, encoding="utf-8")
    found = read(tmp_path / "wallsplit.toml")
    assert [budget.figure for budget in found.budgets] == ["busy_ratio", "host", "count:sync", "wall"]


def test_the_page_lists_the_classes_that_calls_are_counted_by() -> None:
    assert f"CUDA calls of a class: {', '.join(CLASSES)} |" in page("docs/ci.md")


def test_the_action_pastes_no_input_into_a_script() -> None:
    action = page("docs/ci/action.yml")
    scripts = re.findall(r"      run: (.*?)\n      env:", action, re.DOTALL)
    assert len(scripts) == 3
    assert not [script for script in scripts if "${{" in script]
