"""R1's MNIST MLP in NumPy, a whole batch at a time."""

from typing import Any

import numpy as np

from wallsplit_workloads import mlp, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.machine import limit_native_threads, native_threads
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.training import Trainer, train
from wallsplit_workloads.workload import Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with NumPy."""
    limit_native_threads(context.optional_integer("threads"))
    return run_batched(context, trainer(np, context), mlp.initial_weights(context.integer("seed")))


def run_batched(context: RunContext, how: Trainer, weights: Weights) -> Result:
    """Return the result of training the MNIST MLP one way, from these weights."""
    batch = context.integer("batch")
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    training = train(context, split, weights, how)
    return Result(
        data=split.record,
        model=mlp.shape(),
        steps=split.steps(batch),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), len(split.x_validation)),
        threads=native_threads(),
        epochs=training.epochs,
        step_wall_ns=training.step_wall_ns,
    )


def trainer(xp: Any, context: RunContext) -> Trainer:
    """Return the batched step in NumPy or in CuPy, each phase marked."""
    rate, marks = context.number("rate"), context.marks

    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        with marks("forward"):
            passed = mlp.forward(xp, weights, x)
        with marks("metrics"):
            totals = totals + mlp.scores(xp, passed[1], targets)
        with marks("backward"):
            gradients = mlp.backward(xp, weights, x, targets, passed)
        with marks("update"):
            weights = mlp.updated(weights, gradients, rate)
        return weights, totals

    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        return totals + mlp.scores(xp, mlp.forward(xp, weights, x)[1], targets)

    if xp is np:
        return Trainer(step, evaluate)
    return Trainer(step, evaluate, put=xp.asarray, fetch=xp.asnumpy, totals=xp.zeros(2, xp.float32))


PARAMETERS = (
    workload.batch(),
    workload.epochs(),
    workload.STEPS,
    workload.SEED,
    workload.RATE,
    workload.SHUFFLE,
    workload.DATA,
)
WORKLOAD = Workload("numpy", "MNIST MLP, batched NumPy", run, (*PARAMETERS, workload.BLAS_THREADS))
