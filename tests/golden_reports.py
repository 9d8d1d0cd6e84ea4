"""What every renderer makes of a usual and of an incomplete analysis, kept as files that `make goldens` writes anew."""

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from analyses import incomplete, usual
from builders import TraceBuilder
from comparisons import usual_pair
from variants import VARIANTS, analysed
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.comparison_report import comparison_report
from wallsplit.report.document import Report
from wallsplit.report.html import html
from wallsplit.report.json import document, text
from wallsplit.report.markdown import markdown
from wallsplit.report.terminal import terminal
from without_core import without_core

FOLDER = Path(__file__).resolve().parent / "goldens"


def in_terminal(shown: Report) -> str:
    """Return what is printed on a terminal of 80 columns that knows colours and UTF-8."""
    console = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=True)
    console.print(terminal(shown, console))
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _variant(make: Callable[[TraceBuilder], TraceBuilder]) -> Report:
    return report(analysed(make))


RENDERERS: dict[str, Callable[[Analysis], str]] = {
    "txt": lambda analysis: in_terminal(report(analysis)),
    "md": lambda analysis: markdown(report(analysis), "run"),
    "html": lambda analysis: html(report(analysis)),
    "json": without_core()(lambda analysis: text(document([analysis]))),  # it names the core that ran
}
"""By the suffix of their files."""
ANALYSES: dict[str, Callable[[], Analysis]] = {"usual": usual, "incomplete": incomplete}
SCREENS: dict[str, Callable[[], Report]] = {
    **{f"screen_{name}": partial(_variant, make) for name, make in VARIANTS.items()},
    "screen_compared": lambda: comparison_report(usual_pair(), 20),
}
"""Of these, what a terminal shows."""


def main() -> None:
    """Write every golden."""
    os.environ["TERM"] = "xterm"
    for name, make in ANALYSES.items():
        for suffix, render in RENDERERS.items():
            (FOLDER / f"{name}.{suffix}").write_text(render(make()), encoding="utf-8", newline="\n")
    for name, screen in SCREENS.items():
        (FOLDER / f"{name}.txt").write_text(in_terminal(screen()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
