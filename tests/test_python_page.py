"""The page on Python: its examples run, one after another, as someone would type them."""

import contextlib
import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import wallsplit
from analyses import hostile, usual
from wallsplit.pipeline import analyze

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
SAMPLE = ROOT / "traces" / "numpy-loop.sqlite"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    monkeypatch.chdir(tmp_path)
    assert len(EXAMPLES) == 8
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(EXAMPLES), {})
    assert "6.500 s of wall time" in printed.getvalue()
    assert "no/such/trace.sqlite: no such file" in printed.getvalue()
    assert (tmp_path / "reports" / "keras-gpu.html").is_file()


def test_a_trace_is_named_by_a_text_or_a_path() -> None:
    assert wallsplit.analyze(str(SAMPLE)).headline == wallsplit.analyze(SAMPLE).headline
    assert wallsplit.analyse(wallsplit.open(str(SAMPLE))).headline == wallsplit.analyze(SAMPLE).headline


def test_an_analysis_is_one_short_line() -> None:
    assert repr(usual()) == f"<Analysis of run.sqlite: {usual().headline}>"
    shown = repr(hostile())
    assert len(shown) < 500
    assert shown.isprintable()


class Elements(HTMLParser):
    """Collects the tags and attributes of a page, whatever its texts say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, text or "") for name, text in attrs]


def test_in_a_notebook_the_first_screen_is_shown_and_nothing_in_it_acts() -> None:
    shown = hostile()._repr_html_()
    assert "Ten calls failed, no kernel image for this GPU (code 209)." in shown
    assert "Reconstructed trace" in shown
    assert "residual 0 ns" in shown
    found = Elements(shown)
    assert not found.tags & {"script", "img", "iframe", "link", "style", "a", "object", "form"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("href", "src")]
    assert not [text for name, text in found.attributes if name == "style" and "url(" in text]


def test_the_ledger_frame_has_a_row_per_ledger() -> None:
    frame = usual().ledger_frame()
    assert frame.select("device", "wall_ns", "gpu.kernel_ns").rows() == [(0, 3_361_000_000, 1_734_000_000)]
    assert analyze(SAMPLE).ledger_frame()["device"].to_list() == [None]


def run(*arguments: str, path: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, encoding="utf-8", check=False, env=environment
    )


def test_the_package_runs_as_the_command_line() -> None:
    done = run("-m", "wallsplit", "--version", path=sys.path)
    assert done.stdout == f"wallsplit, version {wallsplit.__version__}\n"


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, wallsplit; print([m for m in ('polars', 'numpy', 'matplotlib', 'jinja2') if m in sys.modules])"
    assert run("-c", code, path=sys.path).stdout == "[]\n"
