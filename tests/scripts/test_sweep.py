import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import psutil
import pytest
from click.testing import CliRunner, Result

from fake_nsys import fake_nsys
from processes import alive, wait_until
from studies import IDENTITY, place
from wallsplit.aside import SUFFIX
from wallsplit.run import manifest
from wallsplit_scripts.main import run as run_command
from wallsplit_scripts.measuring import CELLS, append
from wallsplit_scripts.study_plan import Wish
from wallsplit_scripts.supervise import descendants
from wallsplit_scripts.sweep import OUTPUT, QUICK_OUTPUT, _profiled, sweep
from wallsplit_study.cells import from_line
from workload_runs import ROOT, need, small_set

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are watched in /proc"),
    pytest.mark.usefixtures("importable"),
]

ALL_CELLS = 8


def command(tmp_path: Path, *arguments: str) -> list[str]:
    data = tmp_path / "mnist.npz"
    if not data.exists():
        small_set(tmp_path)
    tiny = ("--approaches", "numpy,cupy", "--batches", "8,16", "--set", "steps=3", "--set", f"data={data}")
    return [*tiny, "--output-dir", str(tmp_path / "study"), *arguments]


def in_background(arguments: list[str]) -> "subprocess.Popen[str]":
    whole = (sys.executable, "-m", "wallsplit_scripts", "sweep", *arguments)
    return subprocess.Popen(whole, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def lines(tmp_path: Path) -> list[str]:
    path = tmp_path / "study" / "cells.jsonl"
    return path.read_text().splitlines(keepends=True) if path.exists() else []


def keys(tmp_path: Path) -> list[str]:
    return [from_line(line).key for line in lines(tmp_path)]


def usage(*arguments: str) -> Result:
    return CliRunner().invoke(sweep, list(arguments))


def test_a_small_sweep_leaves_the_grid_as_measured_and_a_report(tmp_path: Path) -> None:
    assert run_command(sweep, command(tmp_path, "--repeat", "2")) == 0
    folder = tmp_path / "study"
    assert {"study.html", "study.md", "study.grid.svg", "grid.csv", "grid.parquet"} <= {
        p.name for p in folder.iterdir()
    }
    grid = pl.read_parquet(folder / "grid.parquet")
    assert grid.equals(pl.read_csv(folder / "grid.csv", schema=grid.schema))
    outcomes = [from_line(line) for line in lines(tmp_path)]
    for row in grid.filter(approach="numpy").iter_rows(named=True):
        own = [o.run for o in outcomes if o.run and o.run.parameters["batch"] == row["batch"]]
        walls = [run.epochs[1].wall_ns for run in own]
        assert (row["min_ns"], row["max_ns"], row["n"]) == (min(walls), max(walls), 2)
        assert row["train_samples"] == 3 * row["batch"]


def test_gpu_rows_are_marked_and_never_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wallsplit_workloads.machine.gpu_lack", lambda: "no NVIDIA GPU")
    assert run_command(sweep, command(tmp_path, "--repeat", "1")) == 0
    gpu = pl.read_csv(tmp_path / "study" / "grid.csv").filter(approach="cupy")
    assert gpu["batch"].to_list() == [8, 16]
    assert gpu["status"].unique().to_list() == ["no GPU here"]
    assert gpu["median_ns"].null_count() == 2


def test_nothing_of_this_machine_but_its_processor_is_recorded(tmp_path: Path) -> None:
    run_command(sweep, command(tmp_path, "--repeat", "1"))
    for path in (tmp_path / "study").iterdir():
        assert str(tmp_path).encode() not in path.read_bytes(), path.name
    recorded = "".join(lines(tmp_path))  # every other file is made from it
    assert not re.search(rf"\b{re.escape(os.uname().nodename)}\b", recorded)


def test_a_sweep_that_was_killed_continues_and_measures_nothing_twice(tmp_path: Path) -> None:
    arguments = command(tmp_path, "--repeat", "3")
    killed = in_background(arguments)
    wait_until(lambda: len(lines(tmp_path)) >= 3)
    killed.kill()
    killed.communicate(timeout=30)
    before = [line for line in lines(tmp_path) if line.endswith("\n")]
    assert run_command(sweep, arguments) == 0
    assert lines(tmp_path)[: len(before)] == before
    assert len(keys(tmp_path)) == len(set(keys(tmp_path))) == ALL_CELLS
    after = lines(tmp_path)
    assert run_command(sweep, arguments) == 0
    assert lines(tmp_path) == after


def test_kill_9_leaves_no_workload_and_the_next_sweep_clears_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    long = command(tmp_path, "--repeat", "1", "--epochs", "100000000", "--approaches", "numpy-sample")
    killed = in_background(long)
    wait_until(lambda: bool(workloads_of(killed.pid)))
    left = descendants(killed.pid)
    killed.kill()
    killed.communicate(timeout=30)
    wait_until(lambda: not any(map(alive, left)))
    assert [path.suffix for path in (tmp_path / "tmp").iterdir()] == [SUFFIX]
    assert run_command(sweep, command(tmp_path, "--repeat", "1", "--approaches", "numpy", "--batches", "8")) == 0
    assert list((tmp_path / "tmp").iterdir()) == []


def workloads_of(pid: int) -> list[int]:
    """Return the processes below this one that run a workload: the guard of a run is there before."""
    found = []
    for child in descendants(pid):
        with suppress(psutil.NoSuchProcess):
            found += [child] if "wallsplit_workloads" in psutil.Process(child).cmdline() else []
    return found


def test_ctrl_c_ends_the_running_workload_and_keeps_what_was_measured(tmp_path: Path) -> None:
    long = command(tmp_path, "--repeat", "1", "--epochs", "100000000")
    interrupted = in_background([*long, "--approaches", "numpy-sample"])
    wait_until(lambda: bool(workloads_of(interrupted.pid)))
    workload = workloads_of(interrupted.pid)[0]
    interrupted.send_signal(signal.SIGINT)
    _, errors = interrupted.communicate(timeout=60)
    assert interrupted.returncode == 130
    assert "the same command continues" in errors
    assert not alive(workload)


@pytest.mark.frameworks
def test_the_item_sweep_counts_the_calls(tmp_path: Path) -> None:
    need("torch", "sklearn")
    folder = tmp_path / "study"
    arguments = ["--item-every", "2,5", "--epochs", "10", "--repeat", "1", "--output-dir", str(folder)]
    assert run_command(sweep, arguments) == 0
    outcomes = [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]
    assert [o["run"]["results"]["item_calls"] for o in outcomes if o["status"] == "measured"] == [6, 5, 3, 2]
    assert not (folder / "grid.csv").exists()


def test_a_failed_cell_makes_the_exit_code_1_and_the_others_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = command(tmp_path, "--repeat", "1", "--batches", "8,100000", "--approaches", "numpy")
    assert run_command(sweep, arguments) == 1
    assert (
        "numpy, batch 100000, repeat 1 failed: exit code 2: error: batch=100000: more than" in capsys.readouterr().err
    )
    status = pl.read_csv(tmp_path / "study" / "grid.csv")["status"].to_list()
    assert status == ["measured", "failed"]


def test_fresh_forgets_what_was_measured(tmp_path: Path) -> None:
    arguments = command(tmp_path, "--repeat", "1", "--batches", "8", "--approaches", "numpy")
    run_command(sweep, arguments)
    before = lines(tmp_path)
    run_command(sweep, [*arguments, "--fresh"])
    assert len(lines(tmp_path)) == len(before) == 1
    assert lines(tmp_path) != before


def test_profile_leaves_one_trace_of_each_approach_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLSPLIT_NSYS", str(fake_nsys(tmp_path)))
    monkeypatch.chdir(tmp_path)
    arguments = command(tmp_path, "--repeat", "1", "--profile")
    assert run_command(sweep, arguments) == 0
    traces = sorted((tmp_path / "traces").iterdir())
    assert [path.name for path in traces] == ["sweep-numpy.nsys-rep", "sweep-numpy.run.json", "sweep-numpy.sqlite"]
    made = [path.stat().st_mtime_ns for path in traces]
    assert run_command(sweep, arguments) == 0
    assert [path.stat().st_mtime_ns for path in traces] == made


def test_what_returns_before_it_has_computed_is_profiled_a_second_time_waiting_for_each_phase() -> None:
    names = {name: cell.settings.get("wait_phases") for name, cell in _profiled(["grid"], Wish(batches=(32,))).items()}
    assert names["sweep-jax-cpu"] is None
    assert names["sweep-jax-cpu-waited"] == "true"
    assert [name for name in names if name.startswith("sweep-numpy")] == ["sweep-numpy-sample", "sweep-numpy"]
    assert list(names).index("sweep-jax-cpu-waited") == list(names).index("sweep-jax-cpu") + 1, "one below the other"


def test_without_an_nsys_profile_fails_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLSPLIT_NSYS", str(tmp_path / "nothing"))
    assert run_command(sweep, command(tmp_path, "--profile")) == 1
    assert lines(tmp_path) == []


def test_a_file_that_wallsplit_did_not_write_is_not_replaced_and_no_measurement_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.md").write_text("mine")
    arguments = command(tmp_path, "--repeat", "1", "--batches", "8", "--approaches", "numpy")
    assert run_command(sweep, arguments) == 1
    assert "study.md: exists and was not written by wallsplit" in capsys.readouterr().err
    assert (tmp_path / "study" / "study.md").read_text() == "mine"
    before = lines(tmp_path)
    assert run_command(sweep, [*arguments, "--force"]) == 0
    assert lines(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--approaches", "nmpy"), "no approach 'nmpy' (did you mean 'numpy'?); there are keras-gpu,"),
        (
            ("--set", "seed=1", "--set", "seed=2", "--set", "rat=1"),
            "--set rat=1: no workload has a parameter 'rat' (did",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_all(arguments: tuple[str, ...], said: str) -> None:
    assert said in usage(*arguments).output


@pytest.mark.parametrize(
    "arguments",
    [
        ("--batches", "32,x"),
        ("--batches", "0"),
        ("--batches", ""),
        ("--repeat", "0"),
        ("--approaches", "nmpy"),
        ("--item-every", "1.5"),
        ("--set", "steps"),
        ("--set", "nothing=1"),
        ("everything",),
    ],
)
def test_impossible_wishes_are_usage_errors(arguments: tuple[str, ...]) -> None:
    result = usage(*arguments)
    assert result.exit_code == 2
    assert "Usage" in result.output


def study_of(folder: Path, *arguments: str) -> dict[str, str]:
    """Return the text of every file a sweep of one place leaves in the folder, by its name."""
    one_place = ["--approaches", "numpy", "--batches", "8", "--repeat", "1", "--output-dir", str(folder)]
    assert run_command(sweep, [*one_place, *arguments]) == 0
    return {path.name: path.read_text(errors="replace") for path in folder.iterdir()}


@pytest.fixture
def other_study(tmp_path: Path) -> Path:
    """Return the folder of a study of another machine: one place of the grid, at batch 8."""
    folder = tmp_path / "other-study"
    there = {**IDENTITY, "processor": "ANOTHER PROCESSOR"}
    for outcome in place("numpy", 8, 1_234_567):
        append(folder / CELLS, dataclasses.replace(outcome, identity=there))
    return folder


def test_by_default_a_study_goes_to_a_folder_of_its_own_that_git_ignores() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {str(OUTPUT), str(QUICK_OUTPUT)} == {"reports/study", "reports/quick-study"}
    assert "/reports/*" in ignored
    assert not {"!/reports/study/", "!/reports/quick-study/"} & set(ignored)


def test_the_study_of_another_machine_is_left_as_it_is_and_measured_into_only_anew(
    tmp_path: Path, other_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in other_study.iterdir()}
    arguments = [*command(tmp_path, "--repeat", "1", "--approaches", "numpy"), "--output-dir", str(other_study)]
    assert run_command(sweep, arguments) == 1
    said = capsys.readouterr().err
    assert "holds runs of another machine (processor ANOTHER PROCESSOR there" in said
    assert len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in other_study.iterdir()} == before
    assert run_command(sweep, [*arguments, "--fresh"]) == 0
    assert "ANOTHER PROCESSOR" not in (other_study / CELLS).read_text()


def test_two_machines_stand_side_by_side_only_when_asked(tmp_path: Path, other_study: Path) -> None:
    tiny = ("--set", "steps=3", "--set", f"data={small_set(tmp_path)}")
    alone = study_of(tmp_path / "study", *tiny)
    assert not any("ANOTHER PROCESSOR" in text for text in alone.values())
    both = study_of(tmp_path / "study", *tiny, "--compare-with", str(other_study))
    assert "The other (other-study): processor ANOTHER PROCESSOR" in both["study.md"]
    assert both["grid.csv"] == alone["grid.csv"]
    assert both["cells.jsonl"] == alone["cells.jsonl"]


def test_a_folder_without_a_study_cannot_be_compared_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert run_command(sweep, command(tmp_path, "--compare-with", str(tmp_path / "empty"))) == 1
    assert "no study is in it" in capsys.readouterr().err
    assert lines(tmp_path) == []


def test_a_quick_study_measures_once_and_says_what_it_is(tmp_path: Path) -> None:
    data = ("--set", f"data={small_set(tmp_path)}")
    arguments = ["grid", "--quick", "--approaches", "numpy", *data, "--output-dir", str(tmp_path / "study")]
    assert run_command(sweep, arguments) == 0
    assert [outcome.cell.settings["batch"] for outcome in map(from_line, lines(tmp_path))] == ["32", "256"]
    assert "its times mean little" in (tmp_path / "study" / "study.md").read_text()


def test_a_trace_of_other_parameters_is_not_kept_for_this_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLSPLIT_NSYS", str(fake_nsys(tmp_path)))
    monkeypatch.chdir(tmp_path)
    arguments = command(tmp_path, "--repeat", "1", "--approaches", "numpy", "--batches", "8", "--profile")
    assert run_command(sweep, arguments) == 0
    trace = tmp_path / "traces" / "sweep-numpy.run.json"
    assert manifest.read(trace).parameters["rate"] == 0.1
    assert run_command(sweep, [*arguments, "--set", "rate=0.5"]) == 0
    assert manifest.read(trace).parameters["rate"] == 0.5
