"""What is handed on: a summary that stands alone, and a picture for a slide."""

import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from analyses import ALL, hostile
from builders import TraceBuilder
from shared_traces import CASES, TRACES, needs_shared_traces
from variants import VARIANTS, analysed, steady
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.report.picture import picture
from wallsplit.report.summary import BYTES, LINES, summary
from wallsplit.words.verdict import verdict
from wallsplit_scripts.main import COMMANDS, load, run


def assert_short(text: str) -> None:
    assert text.count("\n") <= LINES
    assert len(text.encode()) <= BYTES


@pytest.mark.parametrize("make", ALL)
def test_a_summary_is_short_whatever_the_names(make: Callable[[], Analysis]) -> None:
    assert_short(summary(make()))


@needs_shared_traces
@pytest.mark.parametrize("name", [*TRACES, *CASES])
def test_a_summary_of_every_trace_is_short_and_begins_with_the_verdict(name: str) -> None:
    assert_short(summary(analyze({**TRACES, **CASES}[name])))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_summary_says_the_verdict_what_to_do_and_that_nothing_is_lost(name: str) -> None:
    analysis = analysed(VARIANTS[name])
    text = summary(analysis)
    assert text.startswith(f"**{verdict(analysis)}**\n")
    assert "residual 0 ns" in text
    assert "| at most | do | because |" in text
    assert "](" not in text  # nothing beside it is needed


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_is_sixteen_to_nine(theme: str) -> None:
    found = picture(analysed(steady), "dark" if theme == "dark" else "light", "png")
    assert found.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", found[16:24])
    assert width * 9 == height * 16
    svg = ET.fromstring(picture(analysed(steady), "dark" if theme == "dark" else "light", "svg").decode())
    assert float(svg.attrib["width"].removesuffix("pt")) * 9 == float(svg.attrib["height"].removesuffix("pt")) * 16


def test_a_picture_says_verdict_shares_and_source_and_equal_runs_give_equal_bytes() -> None:
    text = picture(analysed(steady), "light", "svg").decode()
    for part in ("Once running, the GPU computes 94 %", "GPU computing", "steady.sqlite", "steady from here"):
        assert part in text
    assert text == picture(analysed(steady), "light", "svg").decode()


def test_a_picture_of_hostile_names_is_a_picture() -> None:
    ET.fromstring(picture(hostile(), "light", "svg").decode())


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(steady(TraceBuilder(tmp_path / "run.sqlite")).write())


def analyze_command(*arguments: str) -> int:
    return run(load(COMMANDS[0][1]), arguments, name="analyze")


@pytest.mark.parametrize("order", [0, 1])
def test_summary_may_stand_before_or_behind_the_trace(
    trace: str, capsys: pytest.CaptureFixture[str], order: int
) -> None:
    arguments = [["--summary", trace], [trace, "--summary"]][order]
    assert analyze_command(*arguments, "--no-report") == 0
    assert capsys.readouterr().out.startswith("**Once running")


def test_in_a_github_job_the_summary_is_appended_to_its_page(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert analyze_command("--summary", "github", trace, "--no-report") == 0
    assert page.read_text(encoding="utf-8").startswith("before\n**Once running")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert analyze_command("--summary", "github", trace, "--no-report") == 1
    assert "GITHUB_STEP_SUMMARY is not set" in capsys.readouterr().err


def test_a_figure_is_written_where_it_was_asked_for_and_nothing_of_the_users_is_replaced(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyze_command(trace, "--no-report", "--figure", "out/run.svg", "--dark") == 0
    assert analyze_command(trace, "--no-report", "--figure", "out/run.svg") == 0
    (tmp_path / "run.png").write_bytes(b"mine")
    assert analyze_command(trace, "--no-report", "--figure", "run.png") == 1
    assert (tmp_path / "run.png").read_bytes() == b"mine"
    assert analyze_command(trace, "--no-report", "--figure", "run.pdf") == 2
    assert "ends in neither .svg nor .png" in capsys.readouterr().err
