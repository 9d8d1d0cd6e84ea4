"""R1's MNIST MLP in NumPy, a whole batch at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from wallsplit_workloads import mlp, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.machine import limit_native_threads, native_threads
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.training import Evaluation, Step, Trainer, extrapolated, phase_wait, train
from wallsplit_workloads.workload import Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with NumPy."""
    limit_native_threads(context.optional_integer("threads"))
    return run_batched(context, trainer(np, context), mlp.initial_weights(context.integer("seed")))


def run_batched(context: RunContext, how: Trainer, weights: Weights) -> Result:
    """Return the result of training the MNIST MLP one way, from these weights."""
    batch, samples = context.integer("batch"), context.values.get("samples")
    asked = samples if isinstance(samples, int) else None
    with context.preparing("data"):
        split = mnist(context.data_path, batch, context.optional_integer("steps"), asked)
    training = train(context, split, weights, how)
    return Result(
        data=split.record,
        model=mlp.shape(),
        steps=split.steps(batch),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), len(split.x_validation)),
        threads=native_threads(),
        epochs=training.epochs,
        step_wall_ns=training.step_wall_ns,
        results=extrapolated(training.epochs, split),
    )


def trainer(xp: Any, context: RunContext) -> Trainer:
    """Return the batched step in NumPy or in CuPy, each phase marked."""
    rate, marks, wait = context.number("rate"), context.marks, array_wait(xp, context)

    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        with marks("forward"):
            passed = wait(mlp.forward(xp, weights, x))
        with marks("metrics"):
            totals = wait(totals + mlp.scores(xp, passed[1], targets))
        with marks("backward"):
            gradients = wait(mlp.backward(xp, weights, x, targets, passed))
        with marks("update"):
            weights = wait(mlp.updated(weights, gradients, rate))
        return weights, totals

    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        return totals + mlp.scores(xp, mlp.forward(xp, weights, x)[1], targets)

    return of_arrays(xp, context, step, evaluate)


def of_arrays(xp: Any, context: RunContext, step: Step, evaluate: Evaluation) -> Trainer:
    """Return the trainer whose steps compute with NumPy's arrays, or with CuPy's."""
    if xp is np:
        return Trainer(step, evaluate)
    wait = array_wait(xp, context)
    return Trainer(step, evaluate, put=xp.asarray, fetch=xp.asnumpy, totals=xp.zeros(2, xp.float32), wait=wait)


def array_wait(xp: Any, context: RunContext) -> Callable[[Any], Any]:
    """Return how a phase of NumPy's or of CuPy's ends; NumPy has computed when a call returns."""

    def synchronised(made: Any) -> Any:
        xp.cuda.get_current_stream().synchronize()
        return made

    return phase_wait(context, (lambda made: made) if xp is np else synchronised)


PARAMETERS = (
    workload.batch(),
    workload.epochs(),
    workload.STEPS,
    workload.SEED,
    workload.RATE,
    workload.SHUFFLE,
    workload.DATA,
)
WORKLOAD = Workload(
    "numpy", "MNIST MLP, batched NumPy", run, (*PARAMETERS, workload.WAIT_PHASES, workload.BLAS_THREADS)
)
