"""`wallsplit check` from the outside: exit codes, what is printed, what is written."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from analyses import HOSTILE
from builders import TraceBuilder
from shared_traces import TRACES, needs_shared_traces
from wallsplit_scripts.main import cli, run

Check = Callable[..., int]
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "check.schema.json").read_text(encoding="utf-8"))
KEPT = '[[budget]]\nfigure = "wall"\nmax = "1 us"\n'
BROKEN = '[[budget]]\nfigure = "wall"\nmax = "1 ns"\n'
UNKNOWN = '[[budget]]\nfigure = "kernel:none*"\nmax = "1 s"\n'
WARNING, SKIPPED = f'{BROKEN}severity = "warning"\n', f'{UNKNOWN}when_unknown = "skip"\n'


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run the command on a trace of 100 ns, with budgets, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    a_trace(tmp_path / "t.sqlite")

    def command(budgets: str, *arguments: object) -> int:
        (tmp_path / "wallsplit.toml").write_text(budgets, encoding="utf-8")
        return run(cli, ["check", *(str(a) for a in arguments or ("t.sqlite",))])

    return command


def a_trace(path: Path, kernel_ns: int = 78) -> Path:
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 12 + kernel_ns, corr=1)
    return build.api("cudaDeviceSynchronize", 10, kernel_ns + 22).write()


@pytest.mark.parametrize(
    ("budgets", "code"),
    [
        (KEPT, 0),
        (KEPT + WARNING, 0),
        (KEPT + SKIPPED, 0),
        (KEPT + BROKEN, 1),
        (UNKNOWN, 2),
        (KEPT + UNKNOWN + WARNING, 2),
        (UNKNOWN + BROKEN, 1),
        (BROKEN + SKIPPED, 1),
        ("", 2),
        ("[[budget]]\nfigure = 'hots'\nmax = '1 %'", 2),
    ],
)
def test_the_exit_code_tells_kept_broken_and_unknown_apart(check: Check, budgets: str, code: int) -> None:
    assert check(budgets) == code


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.sqlite"], "none.sqlite: no such file"),
        (["none*.sqlite"], "none*.sqlite: matches no file"),
        (["t.sqlite", "--config", "none.toml"], "none.toml: No such file"),
        (["t.sqlite", "wallsplit.toml"], "wallsplit.toml: "),
    ],
)
def test_what_cannot_be_checked_is_one_line_and_exit_code_2(
    check: Check, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert check(KEPT, *arguments) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")


def test_each_budget_is_a_line_with_its_figure(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    check(KEPT + BROKEN + WARNING + UNKNOWN + SKIPPED)
    assert capsys.readouterr().out.splitlines() == [
        "kept     wall max 1 us: 100 ns, max 1 us",
        "BROKEN   wall max 1 ns: 100 ns, above the 1 ns allowed",
        "warning  wall max 1 ns: 100 ns, above the 1 ns allowed",
        "unknown  kernel:none* max 1 s: nothing matches none* in a trace",
        "skipped  kernel:none* max 1 s: nothing matches none* in a trace",
        "5 budgets: 1 kept, 1 broken, 1 unknown, 1 skipped, 1 warning.",
    ]


def test_a_baseline_is_written_and_then_tells_regressions(
    check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    budgets = '[check]\nbaseline = "b.json"\n[[budget]]\nfigure = "wall"\nregression = "3 %"\n'
    assert check(budgets) == 2
    assert "b.json: the baseline cannot be read" in capsys.readouterr().err
    for n in range(3):
        a_trace(tmp_path / f"old{n}.sqlite", 1000 + n)
        a_trace(tmp_path / f"new{n}.sqlite", 1100 + n)
    for _ in range(2):
        assert check(budgets, "old*.sqlite", "--write-baseline", "b.json") == 0
        assert "Baseline of three runs: b.json" in capsys.readouterr().out
    assert check(budgets, "old*.sqlite") == 0
    assert check(budgets, "new*.sqlite") == 1
    assert "worse by more than the 3 % allowed" in capsys.readouterr().out
    assert check(budgets.replace("[check]", '[check]\nper = "kernel:*"'), "old*.sqlite") == 2
    assert "the baseline is per run, the check per kernel:*" in capsys.readouterr().err


def test_junit_has_a_case_per_budget_in_the_state_it_is_in(check: Check, tmp_path: Path) -> None:
    for _ in range(2):
        check(KEPT + BROKEN + WARNING + UNKNOWN + SKIPPED, "t.sqlite", "--junit", "out/junit.xml")
    (suite,) = ET.parse(tmp_path / "out" / "junit.xml").getroot()
    assert suite.attrib == {
        "name": "wallsplit check",
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [case[0].tag for case in suite] == ["system-out", "failure", "system-out", "error", "skipped"]
    assert suite[1][0].attrib["message"] == "100 ns, above the 1 ns allowed"


def test_github_gets_annotations_and_a_summary_that_is_added_to(
    check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = tmp_path / "steps.md"
    steps.write_text("# before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(steps))
    assert check(BROKEN + WARNING + KEPT, "t.sqlite", "--summary", steps) == 1
    told = capsys.readouterr().out.splitlines()
    assert "::error title=wallsplit%3A wall max 1 ns::100 ns, above the 1 ns allowed" in told
    assert "::warning title=wallsplit%3A wall max 1 ns::100 ns, above the 1 ns allowed" in told
    text = steps.read_text(encoding="utf-8")
    assert text.startswith("# before\n### wallsplit check\n")
    assert "| ❌ | wall max 1 ns | 100 ns, above the 1 ns allowed |" in text
    assert "| ⚠️ | wall max 1 ns |" in text


def test_a_summary_elsewhere_is_a_file_of_ours(check: Check, tmp_path: Path) -> None:
    for _ in range(2):
        assert check(KEPT, "t.sqlite", "--summary", "summary.md") == 0
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("### wallsplit check") == 1
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    assert check(KEPT, "t.sqlite", "--summary", "mine.md") == 2


def test_json_is_valid_and_has_the_exit_code(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(KEPT + BROKEN + UNKNOWN, "t.sqlite", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(found)
    assert [one["status"] for one in found["budgets"]] == ["kept", "broken", "unknown"]
    assert (found["exit_code"], found["budgets"][0]["values"]) == (1, [100.0])


def test_hostile_names_are_inert_everywhere(check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budgets = "".join(f"{BROKEN}name = {json.dumps(name, ensure_ascii=False)}\n" for name in HOSTILE)
    assert check(budgets, "t.sqlite", "--github", "--junit", "j.xml", "--summary", "s.md") == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert sum(line.startswith("::") for line in out.splitlines()) == len(HOSTILE)
    assert len(ET.parse(tmp_path / "j.xml").getroot()[0]) == len(HOSTILE)
    assert "<script>" not in (tmp_path / "s.md").read_text(encoding="utf-8")


@needs_shared_traces
def test_of_a_trace_without_its_kernels_a_bound_neither_keeps_nor_breaks_a_budget(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check('[[budget]]\nfigure = "host"\nmax = "50 %"\n', TRACES["wsl_no_kernels_4060"]) == 2
    assert "at most 86.6 %" in capsys.readouterr().out
    assert check('[[budget]]\nfigure = "host"\nmax = "87 %"\n', TRACES["wsl_no_kernels_4060"]) == 0
