import sys
from dataclasses import replace
from pathlib import Path

import pytest

from studies import IDENTITY, absent, cell, failed, place
from wallsplit.errors import ReportError
from wallsplit.run.manifest import Load
from wallsplit.run.nvml import NvmlSample
from wallsplit_scripts import measuring
from wallsplit_scripts.measuring import append, lacking, load, measure, refuse_other_machines, run, told
from wallsplit_study.cells import Cell, Outcome, to_line
from wallsplit_workloads import WORKLOADS, machine, program
from wallsplit_workloads.workload import find
from workload_runs import small_set

pytestmark = pytest.mark.usefixtures("importable")

LIMIT_S = 120.0


def tiny(data: Path) -> Cell:
    return cell("numpy", batch="8", epochs="2", steps="3", data=str(data))


@pytest.fixture
def cells_file(tmp_path: Path) -> Path:
    return tmp_path / "study" / "cells.jsonl"


def test_what_is_appended_is_read_back_in_order(cells_file: Path) -> None:
    outcomes = [*place("numpy", 32, 1, 2), absent("keras-gpu", 32)]
    for outcome in outcomes:
        append(cells_file, outcome)
    assert load(cells_file) == outcomes


def test_there_is_nothing_in_a_file_that_does_not_exist(cells_file: Path) -> None:
    assert load(cells_file) == []


@pytest.mark.parametrize("cut", [1, 10, -1])
def test_a_last_line_cut_short_is_dropped_and_the_next_one_stands_alone(cells_file: Path, cut: int) -> None:
    first, second = place("numpy", 32, 1, 2)
    append(cells_file, first)
    with cells_file.open("a") as file:
        file.write(to_line(second)[:cut])
    assert load(cells_file) == [first]
    append(cells_file, second)
    assert load(cells_file) == [first, second]


def test_a_last_line_of_garbage_is_dropped(cells_file: Path) -> None:
    append(cells_file, absent("keras-gpu", 32))
    with cells_file.open("ab") as file:
        file.write(b"\0\0\0\0\n")
    assert load(cells_file) == [absent("keras-gpu", 32)]


def test_a_damaged_line_before_the_last_is_named(cells_file: Path) -> None:
    cells_file.parent.mkdir()
    cells_file.write_text("garbage\n" + to_line(absent("keras-gpu", 32)))
    with pytest.raises(ReportError, match="line 1: not a measured cell"):
        load(cells_file)


def test_a_folder_in_the_files_place_is_an_error_of_one_line(cells_file: Path) -> None:
    cells_file.mkdir(parents=True)
    with pytest.raises(ReportError, match="cannot be read"):
        load(cells_file)


def test_a_workload_that_cannot_run_as_asked_is_a_failure_with_its_message_and_no_folder(tmp_path: Path) -> None:
    outcome = run(tiny(tmp_path / "missing.npz"), IDENTITY, LIMIT_S)
    assert outcome.status == "failed"
    assert outcome.message is not None
    assert outcome.message.startswith("exit code 2: error: missing.npz: no mnist.npz")
    assert str(tmp_path) not in to_line(outcome)


def test_a_run_past_its_limit_is_a_failure(tmp_path: Path) -> None:
    outcome = run(tiny(small_set(tmp_path)), IDENTITY, 0.01)
    assert (outcome.status, outcome.message) == ("failed", "still running after 0.01 s (--timeout)")


def test_without_a_gpu_a_gpu_workload_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU")
    outcome = lacking(cell("cupy", batch="32"), IDENTITY)
    assert outcome == Outcome(cell("cupy", batch="32"), "no GPU here", IDENTITY, "no NVIDIA GPU")


def test_a_missing_framework_is_named_by_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    outcome = lacking(cell("jax-cpu"), IDENTITY)
    assert outcome is not None
    assert (outcome.status, outcome.message) == ("not installed", "wallsplit[jax]")


def test_a_place_this_machine_lacks_is_recorded_once_and_not_for_every_repeat(
    cells_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU")
    plan = [cell("cupy", repeat, batch="32") for repeat in (1, 2, 3)]
    for _ in range(2):
        assert [outcome.status for outcome in measure(plan, cells_file, LIMIT_S)] == ["no GPU here"]
    assert len(load(cells_file)) == 1


def test_a_failure_is_told_the_sweep_goes_on_and_the_failed_cell_is_tried_again(
    tmp_path: Path, cells_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = [cell("numpy", repeat, batch="32") for repeat in (1, 2)]
    identity = measuring.identify(plan[0])
    good, bad = place("numpy", 32, 7)[0], failed("numpy", 32, "crash")
    answers = iter([bad, good, good])
    asked = []

    def fake(asked_cell: Cell, identity: dict[str, str], limit_s: float) -> Outcome:
        asked.append(asked_cell.repeat)
        answer = next(answers)
        return Outcome(asked_cell, answer.status, identity, answer.message, run=answer.run)

    monkeypatch.setattr(measuring, "run", fake)
    assert [outcome.status for outcome in measure(plan, cells_file, LIMIT_S)] == ["failed", "measured"]
    assert [outcome.status for outcome in measure(plan, cells_file, LIMIT_S)] == ["measured", "measured"]
    assert asked == [1, 2, 1]
    assert {tuple(outcome.identity) for outcome in load(cells_file)} == {tuple(identity)}


def test_a_run_that_shared_the_machine_is_told_so_at_once() -> None:
    (outcome,) = place("numpy", 32, 100)
    assert outcome.run is not None
    shared = replace(outcome, run=replace(outcome.run, wall_ns=1_000, load=Load(280)))
    assert told(shared).endswith("; busy machine, 28 % of a core")
    assert "busy" not in told(outcome)


def test_a_measurement_is_of_this_machine_these_versions_and_this_version_of_the_workload() -> None:
    found = measuring.identify(cell("numpy"))
    assert found.items() >= machine.identity().items()
    assert found["workload"] == program.version(find(WORKLOADS, "numpy"))
    assert {"python", "numpy"} <= set(found)


@pytest.mark.parametrize("what", [*machine.IDENTITY, "numpy", "workload"])
def test_with_another_machine_version_or_workload_a_cell_is_measured_again(
    what: str, cells_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fake(asked_cell: Cell, identity: dict[str, str], limit_s: float) -> Outcome:
        asked.append(identity.get(what))
        return replace(place("numpy", 32, 7)[0], cell=asked_cell, identity=identity)

    monkeypatch.setattr(measuring, "run", fake)
    plan = [cell("numpy", batch="32")]
    own = measuring.identify(plan[0])
    for value in ("this", "this", "another", "this"):
        monkeypatch.setattr(measuring, "identify", lambda _, value=value: {**own, what: value})
        measure(plan, cells_file, LIMIT_S)
    assert asked == ["this", "another"]


def test_what_the_device_cannot_do_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "refuses.py"
    script.write_text("print('error: this GPU would emulate it'); raise SystemExit(3)")
    monkeypatch.setattr("wallsplit_scripts.children.module", lambda *_, **__: (sys.executable, str(script)))
    outcome = run(cell("mixed-precision", part="causes"), IDENTITY, LIMIT_S)
    assert (outcome.status, outcome.message) == ("not supported here", "error: this GPU would emulate it")


def test_what_nvml_said_during_a_run_is_kept_with_it() -> None:
    (outcome,) = place("numpy", 32, 100)
    assert outcome.run is not None
    samples = [NvmlSample(t * 10**9, 0, 50, None, used, 100_000) for t, used in enumerate((1, 7, 3))]
    found = measuring.with_samples(outcome.run, samples)
    assert found.peak_memory_bytes["nvml"] == 7
    assert found.results["gpu_ratio"] == 0.5
    assert found.results["process_energy_joules"] == pytest.approx(200)  # 100 W for 2 s
    assert measuring.with_samples(outcome.run, []) == outcome.run


def test_the_runs_of_another_machine_are_refused_in_one_line_that_says_what_differs(
    cells_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"processor": "X", "cores": "8", "gpu": "G"}
    append(cells_file, replace(absent("cupy", 32), identity={**there, "python": "3"}))
    monkeypatch.setattr(measuring, "this_machine", lambda: {"processor": "X", "cores": "2", "memory": "1 GiB"})
    with pytest.raises(ReportError) as refused:
        refuse_other_machines(cells_file)
    said = "cores 8 there, 2 here; memory not known there, 1 GiB here; gpu G there, none here"
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    monkeypatch.setattr(measuring, "this_machine", lambda: there)
    refuse_other_machines(cells_file)


def test_what_is_read_without_mending_is_left_as_it_is(cells_file: Path) -> None:
    append(cells_file, absent("cupy", 32))
    with cells_file.open("a") as file:
        file.write("{")
    before = cells_file.read_bytes()
    assert load(cells_file, mend=False) == [absent("cupy", 32)]
    assert cells_file.read_bytes() == before
