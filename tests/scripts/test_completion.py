"""What a shell completes, asked as a shell asks."""

from pathlib import Path

import pytest

from analyses import ALL
from builders import TraceBuilder
from wallsplit.report.build import report
from wallsplit.report.terminal import SECTION_NAMES, names
from wallsplit_scripts.main import cli, run


def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    monkeypatch.setenv("_WALLSPLIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(("wallsplit", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        run(cli)
    return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]


def test_windows_are_those_of_the_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    build = TraceBuilder(tmp_path / "run.sqlite").range("forward", 0, 5).range("step", 0, 9).range("step", 10, 19)
    trace = str(build.write())
    assert completed(monkeypatch, capsys, "analyze", trace, "--window", "s") == ["steady"]
    assert completed(monkeypatch, capsys, "analyze", trace, "--window", "nvtx") == ["nvtx", "nvtx:step", "nvtx:forward"]
    assert completed(monkeypatch, capsys, "analyze", "missing.sqlite", "--window", "nvtx") == ["nvtx"]


def test_workloads_and_sections_are_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completed(monkeypatch, capsys, "profile", "num") == ["numpy", "numpy-sample"]
    assert completed(monkeypatch, capsys, "analyze", "--section", "kern") == ["kernels"]


def test_every_section_of_a_report_can_be_completed() -> None:
    assert {name for make in ALL for name in names(report(make()))} <= set(SECTION_NAMES)


def test_a_command_misspelt_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["analyse", "x"]) == 2
    assert "Did you mean 'analyze'?" in capsys.readouterr().err
