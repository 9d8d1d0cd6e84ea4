"""R1's MNIST MLP in NumPy as it is first written: a Python loop over the samples of a batch.

Scores are taken once a batch, from what the samples' forward passes left: the published loop has none per sample, and
in CuPy each would launch kernels of its own.
"""

from typing import Any

import numpy as np

from wallsplit_workloads import mlp, mnist_numpy
from wallsplit_workloads.machine import limit_native_threads
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.mnist_numpy import array_wait, of_arrays, run_batched
from wallsplit_workloads.training import Trainer
from wallsplit_workloads.workload import BLAS_THREADS, SAMPLES, WAIT_PHASES, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with NumPy, sample by sample."""
    limit_native_threads(context.optional_integer("threads"))
    return run_batched(context, trainer(np, context), mlp.initial_weights(context.integer("seed")))


def trainer(xp: Any, context: RunContext) -> Trainer:
    """Return the same step as the batched one, its gradients added up over one sample at a time."""
    rate, marks, wait = context.number("rate"), context.marks, array_wait(xp, context)

    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        sums, scored = [xp.zeros_like(weight) for weight in weights], []
        for i in range(len(x)):
            sample, target = x[i : i + 1], targets[i : i + 1]
            passed = mlp.forward(xp, weights, sample)
            scored.append(passed[1])
            for total, gradient in zip(sums, mlp.backward(xp, weights, sample, target, passed), strict=True):
                total += gradient
        wait(sums)
        with marks("metrics"):
            totals = wait(totals + mlp.scores(xp, xp.concatenate(scored), targets))
        with marks("update"):
            w1, b1, w2, b2 = (weight - rate / len(x) * total for weight, total in zip(weights, sums, strict=True))
            wait((w1, b1, w2, b2))
        return (w1, b1, w2, b2), totals

    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        scored = [mlp.forward(xp, weights, x[i : i + 1])[1] for i in range(len(x))]
        return totals + mlp.scores(xp, xp.concatenate(scored), targets)

    return of_arrays(xp, context, step, evaluate)


PARAMETERS = (*mnist_numpy.PARAMETERS, SAMPLES, WAIT_PHASES)
WORKLOAD = Workload("numpy-sample", "MNIST MLP, NumPy in a loop over samples", run, (*PARAMETERS, BLAS_THREADS))
