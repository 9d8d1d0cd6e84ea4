import itertools
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest
from click.testing import CliRunner, Result

from fake_nsys import fake_nsys, write_export
from fake_nvml import FakeNvml
from processes import alive, pid_in, wait_until
from wallsplit.aside import only_folder
from wallsplit.run import manifest
from wallsplit.run.manifest import Baseline, Generator, Load, RunManifest
from wallsplit.run.nvml import from_csv
from wallsplit_scripts import nsys as nsys_tool
from wallsplit_scripts import nvml, recording, sampling, supervise
from wallsplit_scripts.profile import default_name, profile
from wallsplit_scripts.recording import SUFFIXES, Program, Run
from wallsplit_scripts.sampling import capture_options
from wallsplit_scripts.supervise import Ended
from wallsplit_workloads import __main__ as workload_main
from wallsplit_workloads import machine
from workload_runs import small_set

SLEEPER = 'import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()}\\n"); time.sleep(600)'


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(profile, [str(argument) for argument in arguments])


def profiling_in_background(nsys: Path, traces: Path, *arguments: str | Path) -> "subprocess.Popen[str]":
    command = (sys.executable, "-m", "wallsplit_scripts", "profile", "--nsys", nsys, "--output-dir", traces)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen((*command, *arguments), env=environment, stderr=subprocess.PIPE, text=True)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def paranoid_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "paranoid", lambda: 4)
    monkeypatch.setattr(sampling, "is_privileged", lambda: False)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    return tmp_path / "traces"


def python_program(code: str, *arguments: str | Path) -> tuple[str | Path, ...]:
    return ("--", sys.executable, "-c", code, *arguments)


def test_a_users_program_leaves_report_export_and_manifest(tmp_path: Path, traces: Path) -> None:
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "mine", *python_program("pass"))
    assert result.exit_code == 0, result.output
    assert left_in(traces) == ["mine.nsys-rep", "mine.run.json", "mine.sqlite"]


def test_the_manifest_names_the_report_it_belongs_to_and_no_argument_of_the_user(tmp_path: Path, traces: Path) -> None:
    run(
        "--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "mine", *python_program("pass", "--key=s3cret")
    )
    text = (traces / "mine.run.json").read_text()
    made = manifest.parse(text)
    assert made.command == Path(sys.executable).name
    assert "s3cret" not in text
    assert str(tmp_path) not in text
    assert manifest.matches(made, traces / "mine.nsys-rep")
    assert manifest.matches(made, traces / "mine.sqlite")


def test_the_files_are_for_their_owner_alone_since_they_hold_the_environment(tmp_path: Path, traces: Path) -> None:
    run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, *python_program("pass"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in traces.iterdir()} == {0o600}


def test_the_exit_code_of_the_program_is_passed_on_and_its_trace_kept(tmp_path: Path, traces: Path) -> None:
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, *python_program("raise SystemExit(7)"))
    assert result.exit_code == 7
    assert len(left_in(traces)) == 3
    made = manifest.read(next(traces.glob("*.run.json")))
    assert made.capture is not None
    assert made.capture.exit_code == 7


def test_a_dry_run_prints_the_command_line_and_runs_nothing(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    nsys = fake_nsys(tmp_path)
    result = run("--nsys", nsys, "--output-dir", "traces", "--dry-run", "--", "sh", "-c", "exit 3")
    assert result.output == (
        f"{nsys} profile --trace=cuda,nvtx --cuda-graph-trace=node --sample=process-tree "
        "--cpuctxsw=process-tree "
        "--wait=primary --force-overwrite=true --output=traces/sh.nsys-rep --env-var=TMPDIR=/tmp sh -c 'exit 3'\n"
    )
    assert result.exit_code == 0
    assert not traces.exists()


def flags(*arguments: str | Path) -> list[str]:
    return shlex.split(run(*arguments, "--dry-run", *python_program("pass")).stdout)


@pytest.mark.usefixtures("paranoid_kernel")
def test_where_the_kernel_forbids_samples_none_are_taken_and_the_message_says_what_to_set(tmp_path: Path) -> None:
    nsys = fake_nsys(tmp_path, sampling="Fail")
    result = run("--nsys", nsys, "--output-dir", tmp_path, "--dry-run", *python_program("pass"))
    assert result.stderr == (
        "wallsplit: what the CPU executes is not sampled: perf_event_paranoid is 4; sysctl "
        "kernel.perf_event_paranoid=2\n"
    )
    assert "--sample=none" in result.stdout


@pytest.mark.usefixtures("paranoid_kernel")
def test_what_the_user_says_of_samples_goes_before_the_default(tmp_path: Path) -> None:
    forbidden = fake_nsys(tmp_path, sampling="Fail")
    assert "--sample=process-tree" in flags("--nsys", forbidden, "--cpu-samples")


def test_samples_can_be_done_without(tmp_path: Path) -> None:
    assert "--sample=none" in flags("--nsys", fake_nsys(tmp_path), "--no-cpu-samples")


@pytest.mark.parametrize(
    ("device", "samples", "traced"),
    [("cpu", True, False), ("cpu", False, True), ("gpu", True, True), (None, True, True)],
)
def test_os_calls_are_left_out_where_a_cpu_workload_is_sampled(
    tmp_path: Path, device: Literal["cpu", "gpu"] | None, samples: bool, traced: bool
) -> None:
    tool = nsys_tool.find(str(fake_nsys(tmp_path)))
    assert capture_options(tool, device, cpu_samples=samples).os_calls is traced
    assert capture_options(tool, device, cpu_samples=samples, os_calls=not traced).os_calls is not traced


def test_a_container_that_forbids_sampling_is_told_apart_from_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "paranoid", lambda: 1)
    tool = nsys_tool.find(str(fake_nsys(tmp_path, sampling="Fail")))
    assert "perf_event_open, as in most containers" in (sampling.refusal(tool) or "")


def test_a_dry_run_shows_a_gpu_workload_without_a_gpu_and_says_that_it_would_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU or driver")
    arguments = ("--nsys", fake_nsys(tmp_path), "--output-dir", tmp_path / "traces", "keras-gpu")
    dry, wet = run("--dry-run", *arguments), run(*arguments)
    assert dry.exit_code == 0
    assert "--cuda-graph-trace=node" in dry.stdout
    assert dry.stderr == (
        "wallsplit: it would not run here: keras-gpu: no NVIDIA GPU or driver; run keras-cpu instead\n"
    )
    assert wet.exit_code == 125
    assert wet.stderr == "wallsplit: keras-gpu: no NVIDIA GPU or driver; run keras-cpu instead\n"


@pytest.mark.usefixtures("importable")
def test_a_workload_that_refuses_its_data_leaves_no_trace_and_its_name_free(tmp_path: Path, traces: Path) -> None:
    data = small_set(tmp_path, 200)
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, "numpy", "--batch", "161", "--data", data)
    assert result.exit_code == 125
    assert "numpy cannot run as asked, as it says above; nothing is kept" in result.stderr
    assert left_in(traces) == []


def test_the_two_packages_agree_on_the_exit_code_of_a_refusal() -> None:
    assert recording.REFUSED == workload_main.REFUSED


def test_a_users_program_runs_once(tmp_path: Path, traces: Path) -> None:
    log = tmp_path / "log"
    code = "import sys; open(sys.argv[1], 'a').write('ran\\n')"
    run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, *python_program(code, log))
    assert log.read_text() == "ran\n"


def test_baseline_runs_alternate_with_as_many_profiled_ones(tmp_path: Path, traces: Path) -> None:
    log = tmp_path / "log"
    code = "import os, sys; open(sys.argv[1], 'a').write('profiled\\n' if 'UNDER_NSYS' in os.environ else 'plain\\n')"
    nsys = fake_nsys(
        tmp_path,
        profile_body="code = subprocess.run(program, env=os.environ | {'UNDER_NSYS': '1'}).returncode\n"
        "    pathlib.Path(output).write_text('report'); sys.exit(code)",
    )
    run("--nsys", nsys, "--output-dir", traces, "--name", "x", "--baseline-runs", "2", *python_program(code, log))
    assert log.read_text().split() == ["profiled", "plain", "profiled", "plain"]
    baseline = manifest.read(traces / "x.run.json").baseline
    assert baseline is not None
    assert baseline.figure == "whole program"
    assert len(baseline.wall_ns) == 2
    assert baseline.profiled_wall_ns == (5000, 5000)  # what the export says its capture lasted


def test_a_workload_marks_in_its_profiled_run_and_is_the_program_alone_in_the_other(
    tmp_path: Path, traces: Path
) -> None:
    log, tool = tmp_path / "log", nsys_tool.find(str(fake_nsys(tmp_path)))
    code = f"import os; open({str(log)!r}, 'a').write(os.environ.get('WALLSPLIT_MARKS', 'none') + '\\n')"
    plan = recording.Plan(tool, capture_options(tool, "cpu"), traces, "x", baseline_runs=1)
    recording.record(Program((sys.executable, "-c", code), "numpy"), plan)
    assert log.read_text().split() == ["1", "none"]


def test_a_workload_without_epochs_is_compared_by_its_whole_run() -> None:
    def ran(wall_ns: int) -> Run:
        return Run(Ended(0), RunManifest(Generator("wallsplit", "0"), wall_ns=wall_ns))

    found = recording._baseline(Program(("python",), "pool"), profiled=[ran(9)], plain=[ran(7)])
    assert found == Baseline("whole run", (7,), (9,))


def test_the_worst_of_the_runs_says_that_the_machine_was_busy(capsys: pytest.CaptureFixture[str]) -> None:
    def ran(cpu_time_ns: int) -> Run:
        own = RunManifest(Generator("wallsplit", "0"), device="cpu", wall_ns=100, load=Load(cpu_time_ns))
        return Run(Ended(0), own)

    recording._tell_busy_machine([ran(190), ran(49), ran(28)])
    assert "warning: the machine was busy: this run had 28 % of a core" in capsys.readouterr().err
    recording._tell_busy_machine([ran(190), Run(Ended(1))])
    assert capsys.readouterr().err == ""


def test_before_recording_it_is_said_that_this_nsys_sees_no_kernels_of_the_program(
    tmp_path: Path, traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = nsys_tool.find(str(fake_nsys(tmp_path)))
    plan = recording.Plan(tool, capture_options(tool, "gpu"), traces, "x")
    capsys.readouterr()
    recording.record(Program(("true",), device="gpu", cuda_major=13), plan)
    warning, *_ = capsys.readouterr().err.splitlines()
    assert "nsys 2023.4.4 records no kernels of programs built on CUDA 13; it takes 2025.3 or later" in warning


def test_a_program_that_failed_is_not_run_again(tmp_path: Path, traces: Path) -> None:
    log = tmp_path / "log"
    code = "import sys; open(sys.argv[1], 'a').write('ran\\n'); sys.exit(4)"
    result = run(
        "--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--baseline-runs", "3", *python_program(code, log)
    )
    assert result.exit_code == 4
    assert log.read_text() == "ran\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_existing_name_is_refused_before_anything_runs(tmp_path: Path, traces: Path, suffix: str) -> None:
    traces.mkdir()
    (traces / f"x{suffix}").write_text("earlier")
    ran = tmp_path / "ran"
    arguments = ("--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "x", "--", "touch", ran)
    result = run(*arguments)
    assert result.exit_code == 125
    assert (
        result.stderr
        == f"wallsplit: {traces}/x{suffix}: already there; choose another --name, or replace it with --force\n"
    )
    assert not ran.exists()
    assert (traces / f"x{suffix}").read_text() == "earlier"


def test_force_replaces_an_earlier_run_wholly(tmp_path: Path, traces: Path) -> None:
    traces.mkdir()
    for suffix in SUFFIXES:
        (traces / f"x{suffix}").write_text("earlier")
    result = run(
        "--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "x", "--force", *python_program("pass")
    )
    assert result.exit_code == 0, result.output
    assert left_in(traces) == ["x.nsys-rep", "x.run.json", "x.sqlite"]  # no GPU was sampled this time
    assert (traces / "x.nsys-rep").read_text() == "report"


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", tmp_path / "file" / "traces", *python_program("pass"))
    assert result.exit_code == 125
    assert "cannot be written to (Not a directory); see --output-dir" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_nsys_that_leaves_no_report_is_profiles_own_failure(tmp_path: Path, traces: Path) -> None:
    nsys = fake_nsys(tmp_path, profile_body="sys.exit(1)")
    result = run("--nsys", nsys, "--output-dir", traces, *python_program("pass"))
    assert result.exit_code == 125
    assert "nsys left no report and exited with 1" in result.stderr
    assert left_in(traces) == []


def test_an_nsys_killed_by_the_kernel_leaves_nothing_behind(tmp_path: Path, traces: Path) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(
        tmp_path,
        profile_body="subprocess.Popen(program, start_new_session=True)\n"
        "    while not os.path.exists(program[-1]): time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)",
    )
    result = run("--nsys", nsys, "--output-dir", traces, *python_program(SLEEPER, pid_file))
    assert result.exit_code == 125
    assert "exited with 137" in result.stderr
    assert left_in(traces) == []
    assert not alive(pid_in(pid_file))


def test_an_export_that_is_no_database_is_profiles_own_failure_and_the_report_is_kept(
    tmp_path: Path, traces: Path
) -> None:
    nsys = fake_nsys(tmp_path, export_body="pathlib.Path(output).write_text('garbage' * 1000)")
    result = run("--nsys", nsys, "--output-dir", traces, "--name", "x", *python_program("pass"))
    assert result.exit_code == 125
    assert "what nsys exported is no SQLite database" in result.stderr
    assert left_in(traces) == ["x.nsys-rep"]


def test_a_refused_export_keeps_the_report(tmp_path: Path, traces: Path) -> None:
    nsys = fake_nsys(tmp_path, export_body="print('too new'); sys.exit(1)")
    result = run("--nsys", nsys, "--output-dir", traces, "--name", "x", *python_program("pass"))
    assert result.exit_code == 125
    assert result.stderr == f"wallsplit: {traces}/x.nsys-rep: nsys export failed (exit 1): too new\n"
    assert left_in(traces) == ["x.nsys-rep"]


def test_at_the_time_limit_the_program_ends_and_what_nsys_had_is_kept(tmp_path: Path, traces: Path) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(
        tmp_path,
        profile_body="child = subprocess.Popen(program)\n"
        "    def stop(*_): child.kill(); pathlib.Path(output).write_text('report'); sys.exit(0)\n"
        "    signal.signal(signal.SIGTERM, stop)\n"
        "    while True: time.sleep(0.01)",
    )
    result = run(
        "--nsys", nsys, "--output-dir", traces, "--name", "x", "--timeout", "2", *python_program(SLEEPER, pid_file)
    )
    assert result.exit_code == 125
    assert "the program was ended at the limit of 2 s (--timeout); kept: " in result.stderr
    assert left_in(traces) == ["x.nsys-rep", "x.run.json", "x.sqlite"]
    assert not alive(pid_in(pid_file))


def test_an_nsys_that_hangs_is_ended_and_leaves_nothing(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "GRACE_S", 0.2)
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(
        tmp_path,
        profile_body="signal.signal(signal.SIGTERM, signal.SIG_IGN); subprocess.run(program, start_new_session=True)",
    )
    result = run("--nsys", nsys, "--output-dir", traces, "--timeout", "2", *python_program(SLEEPER, pid_file))
    assert result.exit_code == 125
    assert "nsys left no report within the limit of 2 s" in result.stderr
    assert left_in(traces) == []
    assert not alive(pid_in(pid_file))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_no_half_written_file_and_no_process(
    tmp_path: Path, traces: Path, number: signal.Signals
) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(tmp_path, profile_body="subprocess.run(program, start_new_session=True)")
    profiling = profiling_in_background(nsys, traces, *python_program(SLEEPER, pid_file))
    program = pid_in(pid_file)
    profiling.send_signal(number)
    assert "wallsplit: interrupted; kept: nothing" in profiling.communicate(timeout=60)[1]
    assert profiling.returncode == 128 + number
    assert left_in(traces) == []
    assert not alive(program)


REPORT_ON_SIGTERM = (
    "child = subprocess.Popen(program)\n"
    "    def stop(*_): child.kill(); pathlib.Path(output).write_text('report'); sys.exit(0)\n"
    "    signal.signal(signal.SIGTERM, stop)\n"
    "    while True: time.sleep(0.01)"
)


def test_ctrl_c_keeps_report_export_and_manifest_where_nsys_finished_its_report(tmp_path: Path, traces: Path) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(tmp_path, profile_body=REPORT_ON_SIGTERM)
    profiling = profiling_in_background(nsys, traces, "--name", "x", *python_program(SLEEPER, pid_file))
    program = pid_in(pid_file)
    profiling.send_signal(signal.SIGINT)
    said = profiling.communicate(timeout=60)[1]
    assert "interrupted; kept: " in said
    assert profiling.returncode == 130
    assert left_in(traces) == ["x.nsys-rep", "x.run.json", "x.sqlite"]
    assert not alive(program)


def test_ctrl_c_keeps_a_report_that_cannot_be_exported_and_is_still_an_interrupt(tmp_path: Path, traces: Path) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(tmp_path, profile_body=REPORT_ON_SIGTERM, export_body="print('truncated'); sys.exit(1)")
    profiling = profiling_in_background(nsys, traces, "--name", "x", *python_program(SLEEPER, pid_file))
    pid_in(pid_file)
    profiling.send_signal(signal.SIGINT)
    said = profiling.communicate(timeout=60)[1]
    assert f"{traces}/x.nsys-rep: nsys export failed (exit 1): truncated\n" in said
    assert profiling.returncode == 130
    assert left_in(traces) == ["x.nsys-rep"]


def test_of_two_runs_of_one_name_at_once_the_second_is_refused_and_the_first_kept(tmp_path: Path, traces: Path) -> None:
    go_on, pid_file = tmp_path / "go on", tmp_path / "pid"
    code = f"{SLEEPER.replace('time.sleep(600)', '')}\nwhile not os.path.exists(sys.argv[2]): time.sleep(0.01)"
    nsys = fake_nsys(tmp_path)
    first = profiling_in_background(nsys, traces, "--name", "x", *python_program(code, pid_file, go_on))
    pid_in(pid_file)
    second = run("--nsys", nsys, "--output-dir", traces, "--name", "x", "--force", *python_program("pass"))
    assert second.exit_code == 125
    assert second.stderr == (
        f"wallsplit: {traces}/x: another run of that name is being recorded there; choose another --name\n"
    )
    go_on.touch()
    assert "wrote " in first.communicate(timeout=60)[1]
    assert left_in(traces) == ["x.nsys-rep", "x.run.json", "x.sqlite"]


def test_a_run_that_ended_while_this_one_began_keeps_its_name(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def another_ends_meanwhile(parent: Path, name: str) -> Iterator[Path]:
        with only_folder(parent, name) as folder:
            (parent / f"{name}.nsys-rep").write_text("theirs")
            yield folder

    monkeypatch.setattr(recording, "only_folder", another_ends_meanwhile)
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "x", *python_program("pass"))
    assert result.exit_code == 125
    assert f"{traces}/x.nsys-rep: already there" in result.stderr
    assert (traces / "x.nsys-rep").read_text() == "theirs"
    assert left_in(traces) == ["x.nsys-rep"]


def test_kill_9_leaves_no_process_and_the_next_run_clears_what_it_left_of_files(tmp_path: Path, traces: Path) -> None:
    pid_file = tmp_path / "pid"
    nsys = fake_nsys(tmp_path, profile_body="subprocess.run(program, start_new_session=True)")
    profiling = profiling_in_background(nsys, traces, "--name", "x", *python_program(SLEEPER, pid_file))
    program = pid_in(pid_file)
    profiling.kill()
    profiling.communicate(timeout=60)
    wait_until(lambda: not alive(program))
    assert left_in(traces) == [".x.wallsplit-part"]
    (tmp_path / "plain").mkdir()
    plain = fake_nsys(tmp_path / "plain")
    assert run("--nsys", plain, "--output-dir", traces, "--name", "y", *python_program("pass")).exit_code == 0
    assert left_in(traces) == ["y.nsys-rep", "y.run.json", "y.sqlite"]


def test_a_daemon_that_the_program_left_behind_is_named_and_ended_with_the_recording(
    tmp_path: Path, traces: Path
) -> None:
    pid_file = tmp_path / "pid"
    daemon = 'setsid sh -c \'echo $$ > "$0"; sleep 600; true\' "$0" & until [ -s "$0" ]; do sleep 0.01; done'
    result = run(
        "--nsys", fake_nsys(tmp_path), "--output-dir", traces, "--name", "x", "--", "sh", "-c", daemon, pid_file
    )
    assert result.exit_code == 0
    assert "the program left processes behind (" in result.stderr
    assert "sleep" in result.stderr
    assert not alive(pid_in(pid_file))


def test_ctrl_c_during_the_export_keeps_the_report(tmp_path: Path, traces: Path) -> None:
    nsys = fake_nsys(
        tmp_path,
        export_body=f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(f'{{os.getpid()}}\\n'); time.sleep(600)",
    )
    profiling = profiling_in_background(nsys, traces, "--name", "x", *python_program("pass"))
    exporting = pid_in(tmp_path / "pid")
    profiling.send_signal(signal.SIGINT)
    profiling.communicate(timeout=60)
    assert profiling.returncode == 130
    assert left_in(traces) == ["x.nsys-rep"]
    assert not alive(exporting)


def test_ctrl_c_in_a_later_run_keeps_nothing_of_an_earlier_one_under_its_name(tmp_path: Path, traces: Path) -> None:
    pid_file, first = tmp_path / "pid", tmp_path / "first"
    code = f"import os, pathlib, sys, time; first = pathlib.Path({str(first)!r})\n"
    code += f"if first.exists() and 'UNDER_NSYS' in os.environ:\n    {SLEEPER}\nfirst.touch()"
    nsys = fake_nsys(
        tmp_path,
        profile_body="subprocess.run(program, env=os.environ | {'UNDER_NSYS': '1'})\n"
        "    pathlib.Path(output).write_text('report'); sys.exit()",
    )
    profiling = profiling_in_background(
        nsys, traces, "--name", "x", "--baseline-runs", "2", *python_program(code, pid_file)
    )
    program = pid_in(pid_file)
    profiling.send_signal(signal.SIGINT)
    profiling.communicate(timeout=60)
    assert profiling.returncode == 130
    assert left_in(traces) == []
    assert not alive(program)


def test_a_full_disk_is_named(tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=4096))
    nsys = fake_nsys(tmp_path, profile_body="sys.exit(0)")
    result = run("--nsys", nsys, "--output-dir", traces, *python_program("pass"))
    assert f"only 4,096 bytes are free in {traces}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give either a WORKLOAD"),
        (("numpy", "--", "true"), "Give either a WORKLOAD"),
        (("--batch", "3", "--", "true"), "--batch sets a parameter of a built-in workload"),
        (("numpy", "--set", "rate"), "--set rate: not KEY=VALUE"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_an_unknown_program_is_one_line() -> None:
    result = run("--", "no-such-program-here")
    assert result.exit_code == 125
    assert "no-such-program-here: no such program" in result.stderr


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "-x", "", "a\nb", "x" * 101])
def test_a_name_that_is_no_plain_file_name_is_refused(tmp_path: Path, name: str) -> None:
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", tmp_path, f"--name={name}", "--dry-run", "--", "true")
    assert result.exit_code == 125
    assert "not a plain file name" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("python", "my_script.py", "--lr", "0.1"), "my_script"),
        (("python3", "-m", "train"), "python3"),
        (("./train.sh",), "train"),
        (("/opt/my prog",), "my_prog"),
    ],
)
def test_files_are_named_after_the_script_else_the_program(command: tuple[str, ...], name: str) -> None:
    assert default_name(None, command) == name


def test_nvtx_ranges_that_arrived_are_counted(tmp_path: Path, traces: Path) -> None:
    write_export(tmp_path / "made.sqlite", (("epoch", 0, 10), ("step", 1, 2), ("unfinished", 3, None)))
    nsys = fake_nsys(tmp_path, export_body=f"shutil.copyfile({str(tmp_path / 'made.sqlite')!r}, output)")
    run("--nsys", nsys, "--output-dir", traces, "--name", "x", *python_program("pass"))
    capture = manifest.read(traces / "x.run.json").capture
    assert capture is not None
    assert capture.nvtx_ranges_seen == 2


@pytest.mark.usefixtures("importable")
def test_ranges_that_were_pushed_and_did_not_arrive_are_told_with_the_versions_that_clash(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wallsplit_scripts.recording.metadata.version", lambda package: "0.2.17")
    workload = ("numpy", "--epochs", "1", "--batch", "160", "--data", small_set(tmp_path, 200), "--baseline-runs", "0")
    result = run("--nsys", fake_nsys(tmp_path), "--output-dir", traces, *workload)
    assert result.exit_code == 0, result.output
    assert "9 NVTX ranges were pushed and none arrived in the trace: nvtx 0.2.17 and nsys 2023.4.4 clash" in (
        result.stderr
    )


def test_what_nvml_said_is_kept_beside_the_manifest_with_the_energy_of_each_epoch(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = itertools.count()
    monkeypatch.setattr(nvml, "load", FakeNvml)  # 100 W at first, one more with every reading
    monkeypatch.setattr(nvml, "Sampler", partial(nvml.Sampler, clock=lambda: next(seconds) * 10**9))
    write_export(tmp_path / "made.sqlite", (("epoch", 0, 10**9),))
    nsys = fake_nsys(tmp_path, export_body=f"shutil.copyfile({str(tmp_path / 'made.sqlite')!r}, output)")
    run("--nsys", nsys, "--output-dir", traces, "--name", "x", *python_program("pass"))
    made = manifest.read(traces / "x.run.json")
    assert made.nvml == manifest.NvmlFile("x.nvml.csv")
    assert made.results == {"epoch_energy_joules": [100.5]}
    assert len(from_csv((traces / "x.nvml.csv").read_text())) >= 4
