"""Real captures, small: what nsys itself does with our command lines."""

import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from processes import pid_in, wait_until
from wallsplit import manifest
from wallsplit.errors import CaptureError
from wallsplit_scripts import arrived, nsys
from wallsplit_scripts.cache import cached_export

pytestmark = [pytest.mark.nsys, pytest.mark.skipif(sys.platform != "linux", reason="capture works on Linux")]

LOOP = """
import nvtx, sys
for _ in range(2):
    with nvtx.annotate("epoch"):
        for _ in range(50):
            with nvtx.annotate("step"):
                sum(range(1000))
sys.exit(3)
"""
FOR_EVER = """
import os, pathlib, subprocess, sys, time
subprocess.Popen(["sh", "-c", 'trap "" TERM; echo $$ > "$0"; while true; do sleep 600; done', sys.argv[1]])
time.sleep(600)
"""


def profile(folder: Path, real_nsys: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(folder, real_nsys, *arguments), env=environment(), capture_output=True, text=True)


def command(folder: Path, real_nsys: Path, *arguments: str) -> Sequence[str]:
    options = ("--nsys", str(real_nsys), "--output-dir", str(folder), "--timeout", "120", "--name", "x")
    return (sys.executable, "-m", "wallsplit_scripts", "profile", *options, *arguments)


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def processes_naming(text: str) -> list[int]:
    """Process ids whose command line holds the text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_a_users_script_is_traced_with_every_range_and_its_exit_code_passed_on(tmp_path: Path, real_nsys: Path) -> None:
    if importlib.util.find_spec("nvtx") is None:
        pytest.skip("the Python package nvtx is not installed")
    folder = tmp_path / "50% traces"
    done = profile(folder, real_nsys, "--", sys.executable, "-c", LOOP)
    assert done.returncode == 3, done.stderr
    assert left_in(folder) == ["x.nsys-rep", "x.run.json", "x.sqlite"]
    assert arrived.nvtx_ranges(folder / "x.sqlite", ("epoch",)) == 2
    assert arrived.nvtx_ranges(folder / "x.sqlite", ("step",)) == 100
    made = manifest.read(folder / "x.run.json")
    assert manifest.matches(made, folder / "x.nsys-rep")
    assert made.capture is not None
    assert made.capture.nvtx_ranges_seen == 102


def test_a_workload_is_traced_with_every_range_and_compared_with_a_run_without_nsys(
    tmp_path: Path, real_nsys: Path
) -> None:
    done = profile(tmp_path, real_nsys, "numpy", "--epochs", "2", "--steps", "20")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    made = manifest.read(tmp_path / "x.run.json")
    assert arrived.nvtx_ranges(tmp_path / "x.sqlite", ("step",)) == 40
    assert made.capture is not None
    assert made.capture.nvtx_ranges_seen == made.capture.nvtx_ranges_expected == sum(made.marks.values())
    assert made.baseline is not None
    assert (len(made.baseline.wall_ns), len(made.baseline.profiled_wall_ns)) == (1, 1)
    assert made.baseline.profiled_wall_ns == (sum(epoch.wall_ns for epoch in made.epochs),)


def test_the_trace_of_a_cpu_workload_has_samples_of_what_the_cpu_executed(tmp_path: Path, real_nsys: Path) -> None:
    if (paranoid := Path("/proc/sys/kernel/perf_event_paranoid")).exists() and int(paranoid.read_text()) > 2:
        pytest.skip("this kernel lets nobody sample")
    done = profile(tmp_path, real_nsys, "numpy", "--epochs", "1", "--steps", "20", "--baseline-runs", "0")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone()[0] > 0


def test_a_crash_shows_its_traceback_and_keeps_its_trace(tmp_path: Path, real_nsys: Path) -> None:
    done = profile(tmp_path, real_nsys, "--", sys.executable, "-c", "import os; print(1 / 0)")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout + done.stderr
    assert left_in(tmp_path) == ["x.nsys-rep", "x.run.json", "x.sqlite"]


def test_a_program_ended_by_a_signal_has_the_exit_code_a_shell_shows(tmp_path: Path, real_nsys: Path) -> None:
    done = profile(tmp_path, real_nsys, "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
    assert done.returncode == 128 + signal.SIGSEGV


def test_at_the_time_limit_the_trace_so_far_is_kept_and_no_process_left(tmp_path: Path, real_nsys: Path) -> None:
    pid_file = tmp_path / "pid"
    done = profile(tmp_path / "t", real_nsys, "--timeout", "4", "--", sys.executable, "-c", FOR_EVER, str(pid_file))
    assert done.returncode == 125
    assert "the program was ended at the limit of 4 s" in done.stderr
    assert left_in(tmp_path / "t") == ["x.nsys-rep", "x.run.json", "x.sqlite"]
    assert processes_naming(str(tmp_path)) == []


def test_ctrl_c_keeps_a_whole_report_or_nothing_and_leaves_no_process(tmp_path: Path, real_nsys: Path) -> None:
    pid_file = tmp_path / "pid"
    profiling = subprocess.Popen(
        command(tmp_path / "t", real_nsys, "--", sys.executable, "-c", FOR_EVER, str(pid_file)),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    pid_in(pid_file)
    profiling.send_signal(signal.SIGINT)
    said = profiling.communicate(timeout=60)[1]
    assert profiling.returncode == 130
    assert "wallsplit: interrupted; kept: " in said
    assert left_in(tmp_path / "t") in ([], ["x.nsys-rep"])
    wait_until(lambda: processes_naming(str(tmp_path)) == [])


def test_a_report_is_exported_for_analysis(tmp_path: Path, real_nsys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    report = tmp_path / "x.nsys-rep"
    nsys.capture(nsys.find(str(real_nsys)), nsys.CaptureOptions(), report, (sys.executable, "-c", "pass"), 120)
    export = cached_export(report, str(real_nsys))
    assert arrived.capture_ns(export)
    assert left_in(tmp_path) == ["cache", "x.nsys-rep"]


def test_garbage_called_a_report_is_refused_in_nsys_own_words(
    tmp_path: Path, real_nsys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "x.nsys-rep").write_bytes(b"garbage" * 1000)
    with pytest.raises(CaptureError, match=r"nsys export failed \(exit \d+\): \w+"):
        cached_export(tmp_path / "x.nsys-rep", str(real_nsys))
