"""R1's MNIST MLP in NumPy as it is first written: a Python loop over the samples of a batch."""

from typing import Any

import numpy as np

from wallsplit_workloads import mlp
from wallsplit_workloads.machine import limit_native_threads
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.mnist_numpy import PARAMETERS, run_batched
from wallsplit_workloads.training import Trainer
from wallsplit_workloads.workload import BLAS_THREADS, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with NumPy, sample by sample."""
    limit_native_threads(context.optional_integer("threads"))
    return run_batched(context, trainer(np, context), mlp.initial_weights(context.integer("seed")))


def trainer(xp: Any, context: RunContext) -> Trainer:
    """Return the same step as the batched one, its gradients added up over one sample at a time."""
    rate, marks = context.number("rate"), context.marks

    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        sums = [xp.zeros_like(weight) for weight in weights]
        for i in range(len(x)):
            sample, target = x[i : i + 1], targets[i : i + 1]
            passed = mlp.forward(xp, weights, sample)
            totals = totals + mlp.scores(xp, passed[1], target)
            for total, gradient in zip(sums, mlp.backward(xp, weights, sample, target, passed), strict=True):
                total += gradient
        with marks("update"):
            w1, b1, w2, b2 = (weight - rate / len(x) * total for weight, total in zip(weights, sums, strict=True))
        return (w1, b1, w2, b2), totals

    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        for i in range(len(x)):
            log_probabilities = mlp.forward(xp, weights, x[i : i + 1])[1]
            totals = totals + mlp.scores(xp, log_probabilities, targets[i : i + 1])
        return totals

    if xp is np:
        return Trainer(step, evaluate)
    return Trainer(step, evaluate, put=xp.asarray, fetch=xp.asnumpy, totals=xp.zeros(2, xp.float32))


WORKLOAD = Workload("numpy-sample", "MNIST MLP, NumPy in a loop over samples", run, (*PARAMETERS, BLAS_THREADS))
