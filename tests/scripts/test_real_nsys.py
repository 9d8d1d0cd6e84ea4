"""Real captures, small: what nsys itself does with our command lines."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from processes import pid_in, wait_until
from recordings import command, environment, profile
from sampled import every, opened
from wallsplit.errors import CaptureError
from wallsplit.run import manifest
from wallsplit.why.samples.shares import wilson
from wallsplit_scripts import arrived, nsys, sampling
from wallsplit_scripts.cache import cached_export
from workload_runs import need

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
PLANTED = """
import json, pathlib, sys, time, zlib
import nvtx
text, clocks = bytes(range(256)) * 4096, {"python": 0, "compress": 0}
work = {"python": lambda: sum(i * i for i in range(40_000)), "compress": lambda: zlib.compress(text[:400_000], 6)}
for _ in range(60):
    for kind, run in work.items():
        with nvtx.annotate(kind):
            start = time.thread_time_ns()
            while time.thread_time_ns() - start < 15_000_000:
                run()
            clocks[kind] += time.thread_time_ns() - start
with nvtx.annotate("sleep"):
    time.sleep(0.3)
pathlib.Path(sys.argv[1]).write_text(json.dumps(clocks))
"""
FOR_EVER = """
import os, pathlib, subprocess, sys, time
subprocess.Popen(["sh", "-c", 'trap "" TERM; echo $$ > "$0"; while true; do sleep 600; done', sys.argv[1]])
time.sleep(600)
"""


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def analyzed(folder: Path) -> dict[str, Any]:
    """Return what `analyze --json` says about the trace in the folder, whose report it also writes there."""
    trace, reports = folder / "x.sqlite", folder / "reports"
    arguments = ("analyze", str(trace), "--json", "--report-dir", str(reports))
    done = subprocess.run(
        (sys.executable, "-m", "wallsplit_scripts", *arguments), env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["traces"][0]
    return found


def need_samples(real_nsys: Path) -> None:
    if refused := sampling.refusal(nsys.find(str(real_nsys))):
        pytest.skip(refused)


def ranges(trace: dict[str, Any], name: str) -> tuple[int, int]:
    """Return how many NVTX ranges of that name the analysis counts, and how long they are together."""
    row = next(row for row in trace["nvtx_summary"] if row["range"] == name)
    return row["count"], row["total_ns"]


def processes_naming(text: str) -> list[int]:
    """Return the process ids whose command line holds the text."""
    return [
        process.pid for process in psutil.process_iter(["cmdline"]) if text in " ".join(process.info["cmdline"] or ())
    ]


def test_a_users_script_is_traced_with_every_range_and_its_exit_code_passed_on(tmp_path: Path, real_nsys: Path) -> None:
    need("nvtx")
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


@pytest.mark.frameworks
def test_the_analysis_of_keras_at_full_size_agrees_with_its_own_clock_and_counts_its_steps(
    tmp_path: Path, real_nsys: Path
) -> None:
    need("nvtx", "tensorflow")
    done = profile(tmp_path, real_nsys, "keras-cpu", "--epochs", "1", "--baseline-runs", "0", "--timeout", "300")
    assert done.returncode == 0, done.stderr
    assert left_in(tmp_path) == ["x.nsys-rep", "x.run.json", "x.sqlite"]
    made, trace = manifest.read(tmp_path / "x.run.json"), analyzed(tmp_path)
    assert {"x.html", "x.md"} <= set(left_in(tmp_path / "reports"))
    assert trace["run"]["workload"] == "keras-cpu"
    assert {ledger["residual_ns"] for ledger in trace["ledgers"]} == {0}  # TensorFlow starts a process of its own, too
    assert [ranges(trace, name)[0] for name in ("epoch", "step", "validation_step")] == [1, 1500, 375]
    assert ranges(trace, "epoch")[1] == pytest.approx(sum(epoch.wall_ns for epoch in made.epochs), rel=0.05)
    assert ranges(trace, "step")[1] == pytest.approx(sum(made.step_wall_ns or ()), rel=0.05)


def test_a_cpu_workload_is_recorded_with_samples_and_scheduling_and_without_os_calls(
    tmp_path: Path, real_nsys: Path
) -> None:
    need_samples(real_nsys)
    done = profile(tmp_path, real_nsys, "numpy", "--epochs", "1", "--steps", "20", "--baseline-runs", "0")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone()[0] > 0
        assert database.execute("SELECT count(*) FROM SCHED_EVENTS").fetchone()[0] > 0
        assert not database.execute("SELECT name FROM sqlite_master WHERE name = 'OSRT_API'").fetchall()


def test_samples_of_a_planted_program_agree_with_its_own_clock(tmp_path: Path, real_nsys: Path) -> None:
    need("nvtx")
    need_samples(real_nsys)
    clocks_file = tmp_path / "clocks.json"
    done = profile(tmp_path / "t", real_nsys, "--", sys.executable, "-c", PLANTED, str(clocks_file))
    assert done.returncode == 0, done.stderr
    clocks = json.loads(clocks_file.read_text())
    model, samples = opened(tmp_path / "t" / "x.sqlite")
    said = next(each for each in every(model, samples) if each is not None and each.phases)
    phases = {phase.range: phase for phase in said.phases}
    seen = {kind: phases[kind].main.sample_count for kind in clocks}
    low, high = wilson(seen["python"] / sum(seen.values()), sum(seen.values()))
    # A 95 % interval misses once in twenty recordings; three times as wide, once in hundreds of millions.
    assert clocks["python"] / sum(clocks.values()) == pytest.approx((low + high) / 2, abs=1.5 * (high - low))
    for kind, sample_class in (("python", "python"), ("compress", "data")):
        assert phases[kind].main.classes[0].sample_class == sample_class
        assert phases[kind].on_cpu_ns == pytest.approx(clocks[kind], rel=0.05)
    assert phases["sleep"].host_ns == pytest.approx(300_000_000, rel=0.1)
    assert (phases["sleep"].on_cpu_ns or 0) < 0.1 * phases["sleep"].host_ns


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


def test_ctrl_c_keeps_a_whole_report_with_its_export_or_nothing_and_leaves_no_process(
    tmp_path: Path, real_nsys: Path
) -> None:
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
    assert left_in(tmp_path / "t") in ([], ["x.nsys-rep", "x.run.json", "x.sqlite"])
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
