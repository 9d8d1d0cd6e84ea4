import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wallsplit.run.manifest import Load
from wallsplit_workloads import usage
from wallsplit_workloads.usage import Reading, between, peak_process_bytes, reading


def test_what_two_readings_differ_by_is_what_the_run_took(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    governor = tmp_path / "scaling_governor"
    governor.write_text("performance\n")
    monkeypatch.setattr(usage, "_GOVERNOR", governor)
    load = between(Reading(5, (10, 1_000), (0.5, 0.25, 0.0)), Reading(12, (35, 1_200), (3.0, 1.0, 0.0)))
    assert load == Load(7, (0.5, 0.25, 0.0), 25 / 200, "performance")


def test_what_a_system_does_not_count_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_GOVERNOR", Path("/nonexistent"))
    assert between(Reading(None, None, ()), reading()) == Load()


def test_stolen_time_is_the_eighth_of_the_kernels_counters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 2 3 4 5 6 7 80 900 900\ncpu0 0 0 0 0 0 0 0 0 0 0\n")
    monkeypatch.setattr(usage, "_STAT", stat)
    assert reading().all_cpus == (80, 108)


def test_computing_takes_cpu_time_and_sleeping_takes_hardly_any() -> None:
    first = reading()
    sum(i * i for i in range(300_000))
    second = reading()
    time.sleep(0.2)
    third = reading()
    computed, slept = between(first, second).cpu_time_ns, between(second, third).cpu_time_ns
    assert computed is not None
    assert slept is not None
    assert slept < 100_000_000
    assert computed > slept


def test_a_process_has_some_memory() -> None:
    peak = peak_process_bytes()
    assert peak is not None
    assert 2**20 < peak < 2**45


@pytest.mark.skipif(sys.platform != "linux", reason="a process's start is read in /proc")
def test_a_process_is_as_old_as_its_entry_in_proc_says() -> None:
    """In one that slept before it asked: at least that long, and not as long as this test runs."""
    code = "import time; time.sleep(0.2); from wallsplit_workloads.usage import process_age_ns as age; print(age())"
    before = time.monotonic_ns()
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert 200_000_000 <= int(done.stdout) <= time.monotonic_ns() - before + 10_000_000


@pytest.mark.parametrize("stat", ["", "1 (a) b) S 1", "1 (a) S " + "x " * 40])
def test_without_a_start_in_proc_there_is_no_age(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stat: str) -> None:
    own = tmp_path / "stat"
    own.write_text(stat)
    monkeypatch.setattr(usage, "_OWN_STAT", own)
    assert usage.process_age_ns() is None
