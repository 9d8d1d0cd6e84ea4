"""`--dask`: against a cluster of two processes on this machine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from builders import TraceBuilder
from processes import wait_until
from recorded_runs import put_beside
from stand_ins import by_name, killed_once, no_outcome
from wallsplit.analysis import Failure
from wallsplit.errors import WallsplitError
from wallsplit_scripts import cluster
from wallsplit_scripts.analyze import _analyze_one
from wallsplit_scripts.main import COMMANDS, load, run

NOWHERE = "tcp://127.0.0.1:9"


def ignore(_name: str) -> None:
    pass


def has_workers(address: str) -> bool:
    with cluster._connected(address) as client:
        return cluster._has_workers(client)


@contextmanager
def scheduler(workers: int) -> Iterator[str]:
    """Yield the address of a scheduler that gives a task up when a worker dies over it."""
    try:
        import dask
        from distributed import LocalCluster
    except ModuleNotFoundError as error:
        if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    patience: Any = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    here: Any = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
    with patience, here:
        yield here.scheduler_address


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield a scheduler with two workers, which no test kills."""
    with scheduler(workers=2) as address:
        yield address


@pytest.fixture(scope="module")
def mortal() -> Iterator[str]:
    """Yield a scheduler with one worker more than die: Dask starts new ones, but not always in time."""
    with scheduler(workers=4) as address:
        yield address


@pytest.fixture(scope="module")
def deserted() -> Iterator[str]:
    """Yield a scheduler without workers."""
    with scheduler(workers=0) as address:
        yield address


def test_outcomes_come_in_the_order_of_the_traces(address: str, tmp_path: Path) -> None:
    traces = [tmp_path / name for name in ("slow", "b", "c")]
    for trace in traces:
        trace.touch()
    arrived: list[str] = []
    outcomes = cluster.analyze_all(traces, by_name, address, arrived.append)
    assert [outcome.path for outcome in outcomes] == [str(trace) for trace in traces]
    assert arrived == ["slow", "b", "c"]


def test_the_document_is_the_one_made_here(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TraceBuilder(tmp_path / "run.sqlite").api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1).write()
    put_beside(tmp_path / "run.sqlite")
    (tmp_path / "broken.sqlite").write_text("no database")
    printed = []
    for where in (["--jobs", "1"], ["--dask", address]):
        assert run(load(COMMANDS[0][1]), ["run.sqlite", "broken.sqlite", "--json", *where]) == 1
        printed.append(capsys.readouterr())
    assert [trace["path"] for trace in json.loads(printed[0].out)["traces"]] == ["run.sqlite", "broken.sqlite"]
    assert printed[0] == printed[1]


def test_a_trace_whose_worker_dies_is_sent_again(mortal: str, tmp_path: Path) -> None:
    trace = tmp_path / "once"
    trace.touch()
    (outcome,) = cluster.analyze_all([trace], killed_once, mortal, ignore)
    assert isinstance(outcome, Failure)
    assert "by process" in outcome.message


def test_a_trace_over_which_workers_keep_dying_is_given_up_and_the_others_are_not(mortal: str, tmp_path: Path) -> None:
    traces = [tmp_path / "killed", tmp_path / "b"]
    for trace in traces:
        trace.touch()
    killed, fine = cluster.analyze_all(traces, by_name, mortal, ignore)
    assert isinstance(killed, Failure)
    assert killed.message.startswith(f"{traces[0]}: the process that analysed it died, again and again")
    assert isinstance(fine, Failure)
    assert "by process" in fine.message


def test_a_trace_that_workers_cannot_see_is_told_as_that(address: str, tmp_path: Path) -> None:
    (outcome,) = cluster.analyze_all([tmp_path / "elsewhere"], by_name, address, ignore)
    assert isinstance(outcome, Failure)
    assert "must see the same paths" in outcome.message


def test_a_cluster_without_workers_ends_in_one_line_and_not_in_waiting(
    deserted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "WORKERS_LIMIT_S", 0.5)
    with pytest.raises(WallsplitError, match=rf"^{deserted}: the cluster has had no workers for 0\.5 s"):
        cluster.analyze_all([tmp_path / "a"], by_name, deserted, ignore)
    assert capsys.readouterr().err == f"wallsplit: {deserted}: the cluster has no workers yet; waiting for them\n"


def test_a_cluster_whose_last_worker_dies_over_a_trace_is_not_waited_for_either(
    deserted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "WORKERS_LIMIT_S", 3.0)
    trace = tmp_path / "killed"
    trace.touch()
    unguarded = (sys.executable, "-m", "distributed.cli.dask_worker", deserted, "--no-nanny", "--no-dashboard")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    worker = subprocess.Popen(unguarded, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: has_workers(deserted))
        with pytest.raises(WallsplitError, match=r"the cluster has had no workers for 3 s"):
            cluster.analyze_all([trace], by_name, deserted, ignore)
        assert worker.wait(timeout=10) == -signal.SIGKILL
    finally:
        worker.kill()
        worker.wait()


def test_workers_of_another_version_are_refused_in_one_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wallsplit.__version__", "99.0")
    with pytest.raises(WallsplitError, match=r"this machine 99\.0\); install wallsplit 99\.0 there$"):
        cluster.analyze_all([tmp_path / "a"], by_name, address, ignore)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("text", "what one sent is no analysis but str"),
        ("table-gone", "an analysis that one sent has other tables"),
        ("table-wrong", "frame kernel_summary: "),
    ],
)
def test_what_workers_send_is_held_against_the_schema(address: str, tmp_path: Path, name: str, says: str) -> None:
    TraceBuilder(tmp_path / "run.sqlite").api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1).write()
    (tmp_path / name).touch()
    with pytest.raises(WallsplitError, match=says) as caught:
        cluster.analyze_all([tmp_path / name], no_outcome, address, ignore)
    assert str(caught.value).startswith(f"{address}: its workers cannot analyse")
    assert "\n" not in str(caught.value)


def test_workers_without_wallsplit_are_refused_in_one_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stood in for by a task from a module that only this process has."""
    module = type(sys)("wallsplit_only_here")
    exec("def task(trace): ...", module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(WallsplitError, match="No module named 'wallsplit_only_here'") as caught:
        cluster.analyze_all([tmp_path / "a"], module.task, address, ignore)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nowhere", [NOWHERE, "nonsense"])
def test_an_address_where_no_scheduler_answers_is_one_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nowhere: str
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_LIMIT_S", 0.5)
    with pytest.raises(WallsplitError, match=f"^{nowhere}: no Dask scheduler answers there"):
        cluster.analyze_all([tmp_path / "a"], partial(_analyze_one, window=None, nsys=None), nowhere, ignore)


def test_without_dask_the_option_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run(load(COMMANDS[0][1]), ["a.sqlite", "--dask", NOWHERE]) == 1
    assert "pip install 'wallsplit[dask]'" in capsys.readouterr().err
