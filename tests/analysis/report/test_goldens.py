"""What people and programs are shown changes only on purpose."""

from itertools import product

import pytest

from golden_reports import ANALYSES, FOLDER, RENDERERS, SCREENS, in_terminal


@pytest.mark.parametrize(("name", "suffix"), list(product(ANALYSES, RENDERERS)))
def test_a_report_is_the_one_kept(name: str, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    kept = (FOLDER / f"{name}.{suffix}").read_text(encoding="utf-8")
    assert RENDERERS[suffix](ANALYSES[name]()) == kept, "if that is what you want: make goldens"


@pytest.mark.parametrize("name", SCREENS)
def test_a_first_screen_is_the_one_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert in_terminal(SCREENS[name]()) == kept, "if that is what you want: make goldens"


def test_nothing_else_is_kept() -> None:
    kept = {
        *(f"{name}.{suffix}" for name, suffix in product(ANALYSES, RENDERERS)),
        *(f"{name}.txt" for name in SCREENS),
    }
    assert {path.name for path in FOLDER.iterdir()} == kept
