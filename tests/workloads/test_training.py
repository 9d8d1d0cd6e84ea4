"""Promises of the training loop: exact counts of steps and marks, order of the samples, scores."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wallsplit.run.manifest import Epoch, Scalar
from wallsplit_workloads import mlp, mnist_numpy, mnist_numpy_sample
from wallsplit_workloads.data import mnist
from wallsplit_workloads.marks import RecordedMarks
from wallsplit_workloads.training import Trainer, progress_line, train
from wallsplit_workloads.workload import RunContext
from workload_runs import small_set

VALUES: dict[str, Scalar] = {
    "batch": 32,
    "epochs": 2,
    "steps": None,
    "seed": 0,
    "rate": 0.1,
    "shuffle": True,
    "data": None,
    "threads": None,
}


def context(folder: Path, **values: Scalar) -> RunContext:
    return RunContext({**VALUES, "data": str(small_set(folder, 500)), **values}, marks=RecordedMarks())


def test_what_comes_before_the_first_epoch_is_counted_by_name_and_the_data_is_no_part_of_an_epoch(
    tmp_path: Path,
) -> None:
    run = context(tmp_path)
    assert mnist_numpy.run(run).epochs
    assert list(run.preparation_ns) == ["data"]
    assert run.preparation_ns["data"] > 0


def test_preparation_under_one_name_is_added_up() -> None:
    run = RunContext({})
    for _ in range(2):
        with run.preparing("imports"):
            before = run.preparation_ns.get("imports", 0)
    assert run.preparation_ns["imports"] > before > 0


def test_an_epoch_marks_every_step_and_every_phase_once(tmp_path: Path) -> None:
    run = context(tmp_path)
    result = mnist_numpy.run(run)  # 400 samples are 13 steps, 100 are 4
    phases = dict.fromkeys(("step", "data", "forward", "metrics", "backward", "update"), 26)
    assert run.marks.counts == {"epoch": 2, "validation": 2, "validation_step": 8, **phases}
    assert result.step_wall_ns is not None
    assert len(result.step_wall_ns) == 26
    assert len(result.epochs) == 2


def test_an_epoch_is_at_least_as_long_as_its_training_and_that_as_its_steps(tmp_path: Path) -> None:
    result = mnist_numpy.run(context(tmp_path, epochs=1))
    train_wall_ns = result.epochs[0].train_wall_ns
    assert train_wall_ns is not None
    assert sum(result.step_wall_ns or ()) <= train_wall_ns <= result.epochs[0].wall_ns


def test_training_learns(tmp_path: Path) -> None:
    last = mnist_numpy.run(context(tmp_path, epochs=10)).epochs[-1]
    assert last.accuracy is not None
    assert last.accuracy > 0.8


def test_the_same_seed_gives_the_same_run_and_another_one_another(tmp_path: Path) -> None:
    first, again, other = (mnist_numpy.run(context(tmp_path, seed=seed)).epochs[-1].loss for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_sample_by_sample_is_the_same_mathematics(tmp_path: Path) -> None:
    batched = mnist_numpy.run(context(tmp_path)).epochs
    looped = mnist_numpy_sample.run(context(tmp_path)).epochs
    for one, other in zip(batched, looped, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
        assert one.validation_accuracy == pytest.approx(other.validation_accuracy, abs=0.02)


def test_every_sample_is_seen_once_an_epoch_in_an_order_that_changes(tmp_path: Path) -> None:
    split = mnist(small_set(tmp_path, 100), batch=32)
    numbered = replace(split, x_train=np.arange(80, dtype=np.float32)[:, None])
    seen: list[float] = []

    def step(
        weights: mlp.Weights, totals: mlp.Array, x: mlp.Array, targets: mlp.Array
    ) -> tuple[mlp.Weights, mlp.Array]:
        seen.extend(x[:, 0])
        return weights, totals

    trainer = Trainer(step, evaluate=lambda weights, totals, x, targets: totals)
    train(RunContext(VALUES), numbered, mlp.initial_weights(0), trainer)
    assert sorted(seen[:80]) == sorted(seen[80:]) == list(range(80))
    assert seen[:80] != seen[80:]
    seen.clear()
    train(RunContext({**VALUES, "shuffle": False}), numbered, mlp.initial_weights(0), trainer)
    assert seen == [*range(80), *range(80)]


def test_of_several_models_an_epoch_shows_the_best_that_is_still_a_number(tmp_path: Path) -> None:
    split = mnist(small_set(tmp_path, 100), batch=80)
    totals = np.array([[160.0, 8.0], [80.0, 40.0], [np.nan, 0.0]])
    trainer = Trainer(
        step=lambda weights, _, x, targets: (weights, totals),
        evaluate=lambda weights, _, x, targets: totals / 4,
        totals=np.zeros((3, 2)),
    )
    training = train(RunContext({**VALUES, "epochs": 1, "batch": 80}), split, mlp.initial_weights(0), trainer)
    assert (training.epochs[0].loss, training.epochs[0].accuracy) == (1.0, 0.5)
    assert training.epochs[0].validation_loss == 1.0
    assert np.array_equal(training.losses, [[2.0, 1.0, np.nan]], equal_nan=True)


def test_the_line_about_an_epoch_says_what_was_measured() -> None:
    assert progress_line(0, Epoch(1_234_000_000)) == "epoch 1: 1.234 s"
    assert progress_line(1, Epoch(500_000, loss=0.25)) == "epoch 2: 500 µs, loss 0.2500"
