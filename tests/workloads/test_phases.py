"""Promises of the second pass, whose phases end with a wait, and of the loop over samples: no scores per sample.

CuPy is played by NumPy with the few functions that only CuPy has.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wallsplit.run.manifest import Epoch, Scalar
from wallsplit_workloads import mlp, mnist_cupy, mnist_cupy_sample, mnist_numpy_sample
from wallsplit_workloads.data import mnist
from wallsplit_workloads.marks import RecordedMarks
from wallsplit_workloads.training import Trainer, extrapolated, train
from wallsplit_workloads.workload import Result, RunContext, Workload, resolve
from workload_runs import need, run, small_set


class Recording(RecordedMarks):
    """Marks that write down, in order, where ranges begin and end, between whatever else is written down."""

    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self._events = events

    def push(self, name: str) -> None:
        super().push(name)
        self._events.append(name)

    def pop(self) -> None:
        super().pop()
        self._events.append("end")


def stand_in(synchronise: Callable[[], None] = lambda: None) -> Any:
    """Return NumPy under CuPy's name."""
    stream = SimpleNamespace(synchronize=synchronise)
    names = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    cuda = SimpleNamespace(get_current_stream=lambda: stream)
    return SimpleNamespace(**{**names, "asnumpy": np.asarray, "cuda": cuda})


def cupy_run(folder: Path, workload: Workload, events: list[str], **settings: str) -> Result:
    values = resolve(workload, {"data": str(small_set(folder, 50)), "epochs": "1", "batch": "40", **settings})
    return workload.run(RunContext(values, "gpu", Recording(events)))


@pytest.mark.parametrize(("asked", "waits"), [("false", 0), ("true", 7)])
def test_a_phase_on_a_device_ends_with_a_wait_only_where_asked(
    asked: str, waits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    monkeypatch.setitem(sys.modules, "cupy", stand_in(lambda: events.append("wait")))
    cupy_run(tmp_path, mnist_cupy.WORKLOAD, events, wait_phases=asked)
    assert events.count("wait") == waits
    phases = ["data", "forward", "metrics", "backward", "update"]
    wait = ["wait"] * (waits > 0)
    step = ["step", *(event for phase in phases for event in (phase, *wait, "end")), *wait, "end"]
    assert events == ["epoch", *step, "validation", "validation_step", *wait, "end", "end", "end"]


def test_the_batch_has_arrived_and_the_step_is_done_before_their_ranges_end(tmp_path: Path) -> None:
    events: list[str] = []

    def waited(made: Any) -> Any:
        events.append("wait")
        return made

    trainer = Trainer(lambda w, totals, x, t: (w, totals), lambda w, totals, x, t: totals, wait=waited)
    values = {"batch": 80, "epochs": 1, "seed": 0, "shuffle": False}
    split = mnist(small_set(tmp_path, 100), batch=80)
    train(RunContext(values, marks=Recording(events)), split, mlp.initial_weights(0), trainer)
    one_epoch = ["epoch", "step", "data", "wait", "end", "wait", "end"]
    assert events == [*one_epoch, "validation", "validation_step", "wait", "end", "end", "end"]


@pytest.mark.frameworks
def test_waiting_changes_no_loss_of_jax(tmp_path: Path) -> None:
    need("jax")
    settings = ("--epochs", "1", "--data", str(small_set(tmp_path, 200)))
    plain, waited = (run(tmp_path, "jax-cpu", *settings, "--set", f"wait_phases={asked}") for asked in ("no", "yes"))
    assert plain.epochs[0].loss == waited.epochs[0].loss
    assert plain.marks == waited.marks


def test_the_loop_over_samples_scores_once_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", stand_in())
    scored: list[int] = []
    original = mlp.scores

    def scores(xp: Any, log_probabilities: Any, targets: Any) -> Any:
        scored.append(len(targets))
        return original(xp, log_probabilities, targets)

    monkeypatch.setattr(mlp, "scores", scores)
    result = cupy_run(tmp_path, mnist_cupy_sample.WORKLOAD, [], batch="16")
    assert scored == [16, 16, 8, 10]  # 40 training samples, 10 of validation
    assert result.results == {}


def test_a_part_of_the_samples_is_extrapolated_to_the_whole_set_and_says_so(tmp_path: Path) -> None:
    values: dict[str, Scalar] = resolve(
        mnist_numpy_sample.WORKLOAD,
        {"data": str(small_set(tmp_path, 100)), "epochs": "2", "batch": "32", "samples": "20"},
    )
    result = mnist_numpy_sample.run(RunContext(values))
    assert result.data is not None
    assert (result.data.train_samples, result.data.validation_samples) == (20, 5)
    assert result.results["extrapolated_to_samples"] == 80
    walls = result.results["extrapolated_epoch_wall_ns"]
    assert isinstance(walls, list)
    assert [wall / epoch.wall_ns for wall, epoch in zip(walls, result.epochs, strict=True)] == pytest.approx([4, 4])


def test_training_and_validation_are_extrapolated_each_by_its_own_share(tmp_path: Path) -> None:
    split = mnist(small_set(tmp_path, 100), batch=1, samples=16)  # of 80, and 4 of 20
    assert extrapolated((Epoch(100, 70),), split)["extrapolated_epoch_wall_ns"] == [5 * 70 + 5 * 30]
    assert extrapolated((Epoch(100, 70),), mnist(small_set(tmp_path, 100), batch=1)) == {}
