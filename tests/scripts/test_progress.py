"""What is shown while something takes long: the stage and how much is done, on a terminal's stderr only."""

import io
from time import sleep

import pytest
from rich.console import Console

from wallsplit_scripts import progress as module
from wallsplit_scripts.progress import progress, stage


def test_the_stage_and_the_per_cent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=out, force_terminal=True, width=80))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    with progress(2) as begin:
        begin("a.sqlite")
        begin("b.sqlite")
        stage("b.sqlite: explaining", 0.5)
        sleep(0.5)  # the display is drawn by a thread of its own, ten times a second
    assert "b.sqlite: explaining" in out.getvalue()
    assert "75%" in out.getvalue()


def test_where_nobody_looks_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(1) as begin:
        begin("a.sqlite")
        stage("a.sqlite: reading", 0.0)
    assert capsys.readouterr().err == ""
