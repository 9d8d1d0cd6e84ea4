"""Many traces at once: in order, each on its own, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from processes import alive, pid_in, wait_until
from shared_traces import TRACES, needs_shared_traces
from stand_ins import by_name, threads_of_polars
from wallsplit.analysis import Failure, Outcome
from wallsplit.cores import cores
from wallsplit_scripts import many, workers
from wallsplit_scripts.main import COMMANDS, load, run

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")


def ignore(_name: str) -> None:
    pass


def messages(outcomes: list[Outcome]) -> list[str]:
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    return [outcome.message for outcome in outcomes if isinstance(outcome, Failure)]


def test_outcomes_come_in_the_order_of_the_traces_whichever_is_done_first(tmp_path: Path) -> None:
    traces = [tmp_path / name for name in ("slow", "b", "c", "d")]
    begun: list[str] = []
    outcomes = many.analyze_all(traces, by_name, 2, begun.append)
    assert [outcome.path for outcome in outcomes] == [str(trace) for trace in traces]
    assert begun == ["slow", "b", "c", "d"]
    assert len({message.rpartition(" ")[2] for message in messages(outcomes)}) == 2, (
        "as many processes as jobs, each used again"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes by signals")
def test_a_process_that_dies_is_the_failure_of_its_trace_alone(tmp_path: Path) -> None:
    traces = [tmp_path / name for name in ("a", "killed", "b", "crashed", "c")]
    a, killed, b, crashed, c = messages(many.analyze_all(traces, by_name, 2, ignore))
    assert killed == f"{traces[1]}: the process that analysed it died (SIGKILL); out of memory? try --jobs 1"
    assert crashed.startswith(f"{traces[3]}: the process that analysed it died (SIGSEGV); analyse it alone")
    assert all("by process" in message for message in (a, b, c))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_defect_met_in_one_trace_is_one_line_and_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    traces = [tmp_path / name for name in ("defect", "b")]
    defect, fine = messages(many.analyze_all(traces, by_name, jobs, ignore))
    assert defect.startswith(f"{traces[0]}: ZeroDivisionError in stand_ins.py:")
    assert r"division\x0aby zero; analyse it alone" in defect
    assert "by process" in fine


def test_a_defect_met_in_the_only_trace_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        many.analyze_all([tmp_path / "defect"], by_name, 2, ignore)


def test_one_job_is_done_in_this_process(tmp_path: Path) -> None:
    a, b = messages(many.analyze_all([tmp_path / "a", tmp_path / "b"], by_name, 1, ignore))
    assert a.endswith(f"by process {os.getpid()}")
    assert b.endswith(f"by process {os.getpid()}")


@pytest.mark.parametrize(("chosen", "expected"), [(None, max(1, cores() // 2)), ("3", 3)])
def test_workers_share_the_cores_unless_the_user_chose_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None, expected: int
) -> None:
    monkeypatch.delenv(workers.THREADS, raising=False)
    if chosen:
        monkeypatch.setenv(workers.THREADS, chosen)
    said = messages(many.analyze_all([tmp_path / "a", tmp_path / "b"], threads_of_polars, 2, ignore))
    assert said == [str(expected)] * 2
    assert os.environ.get(workers.THREADS) == chosen


def test_workers_are_started_only_for_more_than_they_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "cores", lambda: 4)
    small, large, report = tmp_path / "small", tmp_path / "large", tmp_path / "run.nsys-rep"
    report.touch()
    small.touch()
    with large.open("wb") as sparse:
        sparse.truncate(2 * many.BYTES_PER_WORKER)
    assert many.default_jobs([small] * 9) == 1
    assert many.default_jobs([tmp_path / "missing"] * 9) == 1
    assert many.default_jobs([report, report]) == 2, "nsys exports each first"
    assert many.default_jobs([large]) == 1
    assert many.default_jobs([large, small]) == 2
    assert many.default_jobs([large] * 9) == 4


STOPPABLE = """
import signal, sys
from pathlib import Path
import stand_ins
from wallsplit_scripts import main, many

signal.signal(signal.SIGTERM, main._terminated)
many.analyze_all([Path(trace) for trace in sys.argv[2:]], getattr(stand_ins, sys.argv[1]), 2, print)
"""


@on_linux
@pytest.mark.parametrize(
    ("stand_in", "number"),
    [
        ("hang", signal.SIGINT),
        ("hang", signal.SIGTERM),
        ("hang_in_a_program", signal.SIGINT),
        ("hang_in_a_program", signal.SIGKILL),
        ("hang_in_a_program", signal.SIGHUP),
    ],
)
def test_no_process_is_left_when_the_command_is_stopped(tmp_path: Path, stand_in: str, number: signal.Signals) -> None:
    traces = [tmp_path / "a", tmp_path / "b"]
    argv = [sys.executable, "-c", STOPPABLE, stand_in, *map(str, traces)]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    silent = subprocess.DEVNULL
    with subprocess.Popen(
        argv, env=paths, stdout=silent, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as command:
        workers = [pid_in(trace) for trace in traces]
        stop = command.send_signal if number in {signal.SIGTERM, signal.SIGKILL} else partial(os.killpg, command.pid)
        stop(number)  # to all processes, as a terminal does with Ctrl-C and when it is closed, or to the command alone
        _, said = command.communicate(timeout=30)
    for worker in workers:
        wait_until(partial(lambda pid: not alive(pid), worker))
    assert "SpawnProcess" not in said, "a worker printed a traceback"


@needs_shared_traces
def test_more_jobs_print_the_same_bytes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    printed = []
    for jobs in ("1", "2"):
        assert run(load(COMMANDS[0][1]), ["--json", "--jobs", jobs, *map(str, TRACES.values())]) == 0
        printed.append(capsys.readouterr().out)
    assert len(json.loads(printed[0])["traces"]) == len(TRACES)
    assert printed[0] == printed[1]


@pytest.mark.parametrize("arguments", [["--jobs", "0"], ["--jobs", "2", "--dask", "tcp://127.0.0.1:1"]])
def test_jobs_that_make_no_sense_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(load(COMMANDS[0][1]), ["a.sqlite", *arguments]) == 2
    assert "--jobs" in capsys.readouterr().err
