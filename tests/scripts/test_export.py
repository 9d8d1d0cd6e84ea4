"""`export` from the outside: what it prints, what it leaves behind, how it fails."""

import json
from pathlib import Path

import jsonschema
import pytest

from builders import TraceBuilder
from wallsplit_scripts.main import cli, run

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "sharing.schema.json").read_text(encoding="utf-8"))


def a_trace(path: Path) -> Path:
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1)
    return build.api("cudaDeviceSynchronize", 10, 100).write()


def test_it_says_what_was_written_and_where_to_open_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.pftrace"
    assert run(cli, ["export", str(a_trace(tmp_path / "in.sqlite")), "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "slices on 4 tracks, 1 arrows from calls to GPU work." in printed
    assert "Open it in ui.perfetto.dev" in printed
    assert out.stat().st_size > 100


@pytest.mark.parametrize(
    ("name", "more", "begins"),
    [
        ("out.json", [], b'{"displayTimeUnit"'),
        ("out.json.gz", [], b"\x1f\x8b"),
        ("out.pftrace.gz", [], b"\x1f\x8b"),
        ("out.trace", [], b"\n"),
        ("out.trace", ["--format", "chrome"], b'{"displayTimeUnit"'),
    ],
)
def test_the_name_tells_the_format(name: str, more: list[str], begins: bytes, tmp_path: Path) -> None:
    assert run(cli, ["export", str(a_trace(tmp_path / "in.sqlite")), "-o", str(tmp_path / name), *more]) == 0
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_json_is_as_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", str(a_trace(tmp_path / "in.sqlite")), "-o", str(tmp_path / "out.pftrace"), "--json"]
    assert run(cli, arguments) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    (ledger,) = (track for track in document["exported"]["tracks"] if track["name"].startswith("ledger"))
    assert sum(ledger["totals_ns"].values()) == 100


def test_what_exists_stays_unless_force_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, out = a_trace(tmp_path / "in.sqlite"), tmp_path / "out.pftrace"
    out.write_text("mine")
    assert run(cli, ["export", str(trace), "-o", str(out)]) == 1
    assert capsys.readouterr().err == f"wallsplit: {out}: exists; move it away or use --force to replace it\n"
    assert out.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["in.sqlite"], 2), (["none.sqlite", "-o", "x"], 1), (["in.sqlite", "-o", "x", "--window", "9"], 1)],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    a_trace(tmp_path / "in.sqlite")
    assert run(cli, ["export", *arguments]) == code
    assert "Traceback" not in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.sqlite"]
