"""`scrub` from the outside: what it prints, what it leaves behind, how it fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from builders import TraceBuilder
from wallsplit_scripts.main import cli, run

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "sharing.schema.json").read_text(encoding="utf-8"))
PROGRAM = """
import os, nvtx
for i in range(20):
    with nvtx.annotate("step"), nvtx.annotate(f"load /home/{os.environ['USER']}/zqdata/part_{i % 2}.bin"):
        sum(range(1000))
"""


def a_trace(path: Path, kernel: str = "k") -> Path:
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1, name=kernel)
    return build.add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value="zqbox.example").write()


def test_it_says_what_was_looked_for_what_was_left_out_and_what_is_still_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, ["scrub", str(a_trace(tmp_path / "in.sqlite")), str(tmp_path / "out.sqlite")]) == 0
    out = capsys.readouterr().out
    assert "ledgers as before" in out
    assert "Secrets of the trace looked for in its bytes: 2, none found." in out
    assert "Left out, with rows: TARGET_INFO_SYSTEM_ENV (1)." in out
    assert "Still in it, names of kernels: 1\n  k\n" in out


def test_json_is_as_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["scrub", str(a_trace(tmp_path / "in.sqlite")), str(tmp_path / "out.sqlite"), "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), SCHEMA)


def test_hostile_names_do_nothing_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = a_trace(tmp_path / "in.sqlite", kernel="\x1b[31mred\u202e [bold]x[/bold]\n")
    for more in ([], ["--json", "--force"]):
        assert run(cli, ["scrub", str(trace), str(tmp_path / "out.sqlite"), *more]) == 0
        out = capsys.readouterr().out
        assert not {"\x1b", "\u202e"} & set(out)
        assert "[bold]x[/bold]" in out


def test_what_exists_stays_unless_force_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, out = a_trace(tmp_path / "in.sqlite"), tmp_path / "out.sqlite"
    out.write_text("mine")
    assert run(cli, ["scrub", str(trace), str(out)]) == 1
    assert capsys.readouterr().err == f"wallsplit: {out}: exists; move it away or use --force to replace it\n"
    assert out.read_text() == "mine"
    assert run(cli, ["scrub", str(trace), str(out), "--force"]) == 0


def test_what_is_no_trace_is_one_line_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.sqlite").write_text("no database")
    assert run(cli, ["scrub", str(tmp_path / "in.sqlite"), str(tmp_path / "out.sqlite")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.sqlite"]


@pytest.mark.nsys
@pytest.mark.skipif(sys.platform != "linux", reason="capture works on Linux")
def test_secrets_of_a_real_recording_are_gone(tmp_path: Path, real_nsys: Path) -> None:
    """Environment, command line, user, host and folders of a program that nsys records here and now."""
    secrets = {"USER": "zqalice", "HOSTNAME": "zqbox.example.net", "API_TOKEN": "zqtoken77", "PROJECT": "zq-project-x"}
    secrets["DATABASE_URL"] = "postgres://zqdb:zqpw1@10.1.2.3/db"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [str(real_nsys), "profile", "-t", "nvtx,osrt", "--export", "sqlite", "-o", str(tmp_path / "in")]
    subprocess.run(
        [*command, sys.executable, str(program), "--password=zqargument"], env={**os.environ, **secrets}, check=True
    )
    planted = (*secrets.values(), "zqargument", "zqdata", "zqpw1", "program.py", str(tmp_path))
    before = (tmp_path / "in.sqlite").read_bytes()
    assert [text for text in planted if text.encode() not in before] == []
    assert run(cli, ["scrub", str(tmp_path / "in.sqlite"), str(tmp_path / "out.sqlite")]) == 0
    after = (tmp_path / "out.sqlite").read_bytes()
    assert [text for text in planted if text.encode() in after or text.encode("utf-16-le") in after] == []
