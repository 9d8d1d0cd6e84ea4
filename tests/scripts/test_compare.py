"""`wallsplit compare` from the outside: what it prints, what it writes, how it fails."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from builders import TraceBuilder
from wallsplit_scripts.main import cli, run

Wallsplit = Callable[..., int]
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def wallsplit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wallsplit:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    return lambda *arguments: run(cli, [str(a) for a in arguments])


def a_trace(path: Path, kernel_ns: int = 78, name: str = "k") -> Path:
    end = 12 + kernel_ns
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, end, corr=1, name=name)
    return build.api("cudaDeviceSynchronize", 10, end + 10).write()


def test_two_traces_give_one_sentence_a_table_and_two_pages(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = a_trace(tmp_path / "1.sqlite"), a_trace(tmp_path / "2.sqlite", 98)
    assert wallsplit("compare", f"before={one}", f"after={two}") == 0
    out = capsys.readouterr().out
    told = " ".join(out.split())
    assert "after against before, per run: 100 ns → 120 ns (+20 ns, +20.0 %); most of it gpu.kernel +20 ns" in told
    assert len(out.splitlines()) <= 25
    assert {p.name for p in (tmp_path / "reports").iterdir()} == {
        "comparison.html",
        "comparison.md",
        "comparison.waterfall.svg",
    }


def test_repeats_by_label_or_pattern_bear_a_verdict(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(3):
        a_trace(tmp_path / f"a{n}.sqlite", 1000 + n)
        a_trace(tmp_path / f"b{n}.sqlite", 2000 + n)
    old = [f"old=a{n}.sqlite" for n in range(3)]
    assert wallsplit("compare", *old, "new=b*.sqlite", "--no-report") == 0
    assert ": slower." in " ".join(capsys.readouterr().out.split())


def test_json_is_valid_holds_every_trace_and_is_all_there_is(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = a_trace(tmp_path / "1.sqlite"), a_trace(tmp_path / "2.sqlite", 98)
    assert wallsplit("compare", one, f"b={two}", f"b={one}", "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    Draft202012Validator(SCHEMA).validate(found)
    assert captured.err == ""
    assert [trace["path"] for trace in found["traces"]] == [str(one), str(two)]
    assert [(side["label"], side["traces"]) for side in found["comparison"]["sides"]] == [("1", [0]), ("b", [1, 0])]
    assert found["comparison"]["pairs"][0]["wall_delta"] == 10
    assert not (tmp_path / "reports").exists()


def test_a_saved_analysis_compares_like_the_trace_it_was_made_from(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for n, ns in enumerate((78, 98)):
        trace = a_trace(tmp_path / f"{n}.sqlite", ns)
        assert wallsplit("analyze", trace, "--json") == 0
        (tmp_path / f"{n}.json").write_text(capsys.readouterr().out, encoding="utf-8")
    for suffix in ("sqlite", "json"):
        assert wallsplit("compare", f"a=0.{suffix}", f"b=1.{suffix}", "--json") == 0
        document = json.loads(capsys.readouterr().out)
        Draft202012Validator(SCHEMA).validate(document)
        found.append(document["comparison"])
    assert found[0] == found[1]


def test_a_saved_analysis_has_no_steps_and_keeps_its_window(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = a_trace(tmp_path / "t.sqlite")
    assert wallsplit("analyze", trace, "--json") == 0
    (tmp_path / "t.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert wallsplit("compare", "t.json", "b=t.json", "--per", "step") == 2
    assert "t.json: has no step" in capsys.readouterr().err
    assert wallsplit("compare", "t.json", "b=t.json", "--window", "cuda") == 2
    assert "has its own window" in capsys.readouterr().err


def test_a_comment_is_printed_or_written_and_never_over_what_is_not_ours(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_trace(tmp_path / "t.sqlite")
    assert wallsplit("compare", "a=t.sqlite", "b=t.sqlite", "--markdown") == 0
    comment = capsys.readouterr().out
    assert comment.startswith("<!-- wallsplit compare -->\n")
    for _ in range(2):
        assert wallsplit("compare", "a=t.sqlite", "b=t.sqlite", "--markdown", "out/comment.md") == 0
    assert (tmp_path / "out" / "comment.md").read_text(encoding="utf-8") == comment
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    assert wallsplit("compare", "a=t.sqlite", "b=t.sqlite", "--markdown", "mine.md") == 2
    assert (tmp_path / "mine.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["t.sqlite"], "a comparison needs two"),
        (["t.sqlite", "none.sqlite"], "none.sqlite: no such file"),
        (["t.sqlite", "broken.sqlite"], "broken.sqlite: the file is empty"),
        (["t.sqlite", "b=t.sqlite", "--per", "epoch"], "is none of auto, run, step"),
        (["t.sqlite", "b=t.sqlite", "--per", "step"], "t.sqlite: has no step"),
        (["t.sqlite", "b=t.sqlite", "--per", "sample"], "t.sqlite: has no manifest"),
        (["t.sqlite", "b=t.sqlite", "--window", "5s:6s"], "t.sqlite: window 5s:6s: is outside the trace"),
        (["a=none*", "b=t.sqlite"], "none*: matches no file"),
    ],
)
def test_what_cannot_be_compared_is_one_line_exit_code_2_and_nothing_written(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    a_trace(tmp_path / "t.sqlite")
    (tmp_path / "broken.sqlite").touch()
    assert wallsplit("compare", *arguments) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.sqlite", "t.sqlite"]


def test_analyze_offers_to_compare_two_traces_of_one_program(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, kernel in (("a", "k"), ("b c", "k"), ("d", "j")):
        a_trace(tmp_path / f"{name}.sqlite", name=kernel)
    assert wallsplit("analyze", "a.sqlite", "b c.sqlite", "--no-report") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Both are of one program: wallsplit compare a.sqlite 'b c.sqlite'"
    assert wallsplit("analyze", "a.sqlite", "d.sqlite", "--no-report") == 0
    assert "wallsplit compare" not in capsys.readouterr().out


def test_control_characters_of_names_do_not_reach_the_terminal(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_trace(tmp_path / "t.sqlite", name="\x1b[31mred\u202e")
    for more in ([], ["--markdown"], ["--json"]):
        assert wallsplit("compare", "\x1b]0;x\x07=t.sqlite", "b=t.sqlite", "--no-report", *more) == 0
    assert wallsplit("compare", "\x1b[2J.sqlite", "b=t.sqlite") == 2
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "\u202e" not in captured.out


def test_ranks_are_compared_in_the_order_given(
    wallsplit: Wallsplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, late in enumerate((0, 40)):
        build = TraceBuilder(tmp_path / f"rank{n}.sqlite").api("cudaLaunchKernel", 0, 10, corr=1)
        build.kernel(100 + late, 200, corr=1, name="ncclDevKernel_AllReduce").write()
    assert wallsplit("compare", "--ranks", "rank*.sqlite") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "2 ranks in 100 ns: rank1 is the slowest, last at 1 of 1 collectives; the others wait 40 ns each" in told
    assert (tmp_path / "reports" / "ranks.html").exists()
    assert wallsplit("compare", "--ranks", "rank1.sqlite", "rank0.sqlite", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(found)
    assert [rank["label"] for rank in found["ranks"]["ranks"]] == ["rank1", "rank0"]
    assert wallsplit("compare", "--ranks", "rank*.sqlite", "--chain") == 2
