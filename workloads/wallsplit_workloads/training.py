"""The training loop of every workload that writes its own: marks, clocks, order of the samples, scores."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallsplit import units
from wallsplit.run.manifest import Epoch
from wallsplit_workloads.data import Split
from wallsplit_workloads.mlp import Array, Weights, one_hot
from wallsplit_workloads.workload import RunContext

Step = Callable[[Weights, Array, Array, Array], tuple[Weights, Array]]
Evaluation = Callable[[Weights, Array, Array, Array], Array]


@dataclass(frozen=True)
class Trainer:
    """One way to do a step; `totals` are (sum of losses, number right), for several models a row each.

    step: weights, totals, x, targets → weights, totals further. evaluate: the same without training → totals.
    put: a host array where the step wants it. fetch: totals as a NumPy array, waiting for the device if there is one.
    wait: what a phase made, returned when that phase may end: at once, or when the device has made it.
    """

    step: Step
    evaluate: Evaluation
    put: Callable[[NDArray[np.float32]], Array] = field(default=lambda array: array)
    fetch: Callable[[Array], NDArray[Any]] = np.asarray
    totals: Any = field(default_factory=lambda: np.zeros(2, np.float32))
    wait: Callable[[Any], Any] = field(default=lambda made: made)


@dataclass(frozen=True)
class Training:
    """What train() measured: of several models the epochs show the best, `losses` (epochs, models) shows all."""

    weights: Weights
    epochs: tuple[Epoch, ...]
    step_wall_ns: tuple[int, ...]  # the host's time in each training step: a device may still be busy when it returns
    losses: NDArray[np.float64]


def train(context: RunContext, split: Split, weights: Weights, trainer: Trainer) -> Training:
    """Train for the context's epochs, validating after each; marks epoch, step, data, validation and its steps."""
    epochs: list[Epoch] = []
    losses: list[list[float]] = []
    step_wall_ns: list[int] = []
    targets, validation_targets = one_hot(split.y_train), one_hot(split.y_validation)
    for number in range(context.integer("epochs")):
        order = _order(context, number, len(split.x_train))
        with context.marks("epoch"):
            start = perf_counter_ns()
            weights, totals = _train_epoch(context, split.x_train, targets, order, weights, trainer, step_wall_ns)
            trained = trainer.fetch(totals)
            train_end = perf_counter_ns()
            with context.marks("validation"):
                validated = _validate(context, split.x_validation, validation_targets, weights, trainer)
            end = perf_counter_ns()
        loss, accuracy, best, every_loss = _means(trained, len(targets))
        validation_loss, validation_accuracy, _, _ = _means(validated, len(validation_targets), best)
        epoch = Epoch(end - start, train_end - start, loss, accuracy, validation_loss, validation_accuracy)
        context.progress(progress_line(number, epoch))
        epochs.append(epoch)
        losses.append(every_loss)
    return Training(weights, tuple(epochs), tuple(step_wall_ns), np.array(losses))


def phase_wait(context: RunContext, wait: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return how a phase ends: by this wait where `wait_phases` asks for it, else at once.

    JAX and CuPy return before they have computed. A phase then ends early, and the next one that needs the device waits
    in its stead: JAX's `device_put` of a batch on the CPU for the step before, which looks like loading data.
    """
    return wait if context.values.get("wait_phases") is True else lambda made: made


def extrapolated(epochs: tuple[Epoch, ...], split: Split) -> dict[str, object]:
    """Return what whole epochs would take, as results of a run, from epochs over a part of the samples; else nothing.

    Training and validation each grow by their share of samples: right for a loop over samples, whose time is a sum.
    """
    if split.whole is None:
        return {}
    train, validation = split.whole
    walls = [
        round(
            (epoch.train_wall_ns or 0) * train / len(split.x_train)
            + (epoch.wall_ns - (epoch.train_wall_ns or 0)) * validation / len(split.x_validation)
        )
        for epoch in epochs
    ]
    return {"extrapolated_to_samples": train, "extrapolated_epoch_wall_ns": walls}


def progress_line(number: int, epoch: Epoch) -> str:
    """Return one line about an epoch, numbered from 1."""
    said = {"loss": epoch.loss, "accuracy": epoch.accuracy, "validation accuracy": epoch.validation_accuracy}
    scores = "".join(f", {name} {value:.4f}" for name, value in said.items() if value is not None)
    return f"epoch {number + 1}: {units.ns(epoch.wall_ns)}{scores}"


def _order(context: RunContext, epoch: int, samples: int) -> NDArray[np.int64] | None:
    """Return the samples' order in this epoch; None: as they are."""
    if not context.flag("shuffle"):
        return None
    return np.random.default_rng([context.integer("seed"), epoch]).permutation(samples)


def _train_epoch(
    context: RunContext,
    x: NDArray[np.float32],
    targets: NDArray[np.float32],
    order: NDArray[np.int64] | None,
    weights: Weights,
    trainer: Trainer,
    step_wall_ns: list[int],
) -> tuple[Weights, Array]:
    batch, totals = context.integer("batch"), trainer.totals
    step, data = context.marks("step"), context.marks("data")
    for first in range(0, len(x), batch):
        start = perf_counter_ns()
        with step:
            with data:
                chosen = slice(first, first + batch) if order is None else order[first : first + batch]
                inputs, wanted = trainer.wait((trainer.put(x[chosen]), trainer.put(targets[chosen])))
            weights, totals = trainer.wait(trainer.step(weights, totals, inputs, wanted))
        step_wall_ns.append(perf_counter_ns() - start)
    return weights, totals


def _validate(
    context: RunContext, x: NDArray[np.float32], targets: NDArray[np.float32], weights: Weights, trainer: Trainer
) -> NDArray[Any]:
    batch, totals = context.integer("batch"), trainer.totals
    for first in range(0, len(x), batch):
        with context.marks("validation_step"):
            inputs, wanted = trainer.put(x[first : first + batch]), trainer.put(targets[first : first + batch])
            totals = trainer.wait(trainer.evaluate(weights, totals, inputs, wanted))
    return trainer.fetch(totals)


def _means(totals: NDArray[Any], samples: int, model: int | None = None) -> tuple[float, float, int, list[float]]:
    """Return mean loss and accuracy of a model (of the lowest loss if none is named), which one, all losses."""
    rows = np.atleast_2d(np.asarray(totals, np.float64)) / max(samples, 1)
    losses = np.where(np.isnan(rows[:, 0]), np.inf, rows[:, 0])
    best = int(losses.argmin()) if model is None else model
    return float(rows[best, 0]), float(rows[best, 1]), best, rows[:, 0].tolist()
