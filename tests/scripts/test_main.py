import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from builders import TraceBuilder
from wallsplit.errors import TraceError, WallsplitError
from wallsplit_scripts import main
from wallsplit_scripts.messages import say

WALLSPLIT = (sys.executable, "-m", "wallsplit_scripts")
PRINTING = (
    ["--help"],
    ["doctor"],
    ["analyze", "--json", "t.sqlite"],
    ["compare", "--markdown", "-", "t.sqlite", "u.sqlite"],
    ["analyze", "--no-report", "t.sqlite"],
    ["workloads"],
)
"""Command lines that print in different ways: by Click, by Rich, by themselves."""


def two_traces(folder: Path) -> None:
    for name in ("t", "u"):
        build = TraceBuilder(folder / f"{name}.sqlite")
        build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1).write()


def failing(error: BaseException) -> click.Command:
    def callback() -> None:
        raise error

    return click.Command("failing", callback=callback)


def test_every_command_exists_under_its_name_with_a_summary_and_a_help() -> None:
    for name, place, summary in main.COMMANDS:
        command = main.load(place)
        assert command.name == name
        assert command.help
        assert summary.endswith(".")


def test_help_lists_the_commands_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(main.cli, ["--help"]) == 0
    said = capsys.readouterr().out
    places = [said.index(f"\n  {name} ") for name, _, _ in main.COMMANDS]
    assert places == sorted(places)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from wallsplit_scripts import main; main.run(main.cli, ['--help']); print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert not {"matplotlib", "numpy", "polars", "rich", "jinja2", "difflib", "tensorflow", "torch", "jax"} & set(
        said.split()
    )


@pytest.mark.parametrize("error", [WallsplitError("x.sqlite: empty"), TraceError("x.sqlite: empty")])
def test_what_a_user_can_act_on_is_one_line_and_exit_code_1(
    error: WallsplitError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(failing(error), []) == 1
    assert capsys.readouterr().err == "wallsplit: x.sqlite: empty\n"


def test_a_defect_of_the_program_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        main.run(failing(ZeroDivisionError()), [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", PRINTING, ids=lambda arguments: " ".join(arguments[:2]))
@pytest.mark.usefixtures("importable")
def test_output_that_cannot_be_written_is_one_line_and_exit_code_1(arguments: list[str], tmp_path: Path) -> None:
    two_traces(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*WALLSPLIT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.stderr == "wallsplit: the output cannot be written (No space left on device)\n"
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", PRINTING[-3:], ids=lambda arguments: " ".join(arguments[:2]))
@pytest.mark.usefixtures("importable")
def test_a_reader_that_has_gone_is_one_line_and_exit_code_1(arguments: list[str], tmp_path: Path) -> None:
    two_traces(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*WALLSPLIT, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    os.close(writing)
    assert done.stderr == "wallsplit: the output cannot be written (Broken pipe)\n"
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.usefixtures("importable")
def test_closed_streams_are_no_defect() -> None:
    command = shlex.join([*WALLSPLIT, "workloads"])
    assert subprocess.run(["sh", "-c", f"{command} >&- 2>&-"]).returncode == 0


@pytest.mark.parametrize("columns", ["0", "00", ""])
@pytest.mark.usefixtures("importable")
def test_a_terminal_of_no_columns_is_one_of_unknown_width(columns: str, tmp_path: Path) -> None:
    two_traces(tmp_path)
    command = [*WALLSPLIT, "analyze", "--no-report", "t.sqlite"]
    done, usual = (
        subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path)
        for env in ({**os.environ, "COLUMNS": columns}, {k: v for k, v in os.environ.items() if k != "COLUMNS"})
    )
    assert (done.stdout, done.returncode) == (usual.stdout, 0)
    assert done.stderr == ""


def test_an_error_of_a_file_is_no_lost_output() -> None:
    with pytest.raises(OSError, match="No space left"):
        main.run(failing(OSError(28, "No space left on device", "/some/file")), [])


def test_a_message_has_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    say("a broken schema: " + "CREATE TABLE " * 100_000)
    said = capsys.readouterr().err
    assert said.startswith("wallsplit: a broken schema: ")
    assert len(said) < 2_100


def test_ctrl_c_is_exit_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(failing(KeyboardInterrupt()), []) == 130
    assert capsys.readouterr().err.strip() == "wallsplit: interrupted"


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["profile", "--no-such-option"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(main.cli, arguments) == 2
    assert arguments[-1] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\nb\tc", r"a\x0ab\x09c"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("abc\u202ecba", r"abc\u202ecba"),
        ("\x9b2J", r"\x9b2J"),
        ("\u2028", r"\u2028"),
        ("\udc80", r"\udc80"),  # a byte of a file name that is no UTF-8
        ("größe 3 µs → ≥", "größe 3 µs → ≥"),
    ],
)
def test_a_message_is_one_line_of_harmless_characters(
    hostile: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say(hostile)
    assert capsys.readouterr().err == f"wallsplit: {shown}\n"
