"""R1's MNIST MLP in JAX: forward, backward and update compiled into one function."""

import os
from time import perf_counter_ns
from typing import TYPE_CHECKING

from wallsplit.errors import WallsplitError
from wallsplit_workloads import mlp
from wallsplit_workloads.data import Split, mnist
from wallsplit_workloads.machine import schedulable_cpus
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.mnist_numpy import PARAMETERS
from wallsplit_workloads.training import Trainer, phase_wait, train
from wallsplit_workloads.workload import WAIT_PHASES, Device, Result, RunContext, Workload

if TYPE_CHECKING:
    import jax

PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"
"""Whether JAX takes most of a GPU's memory at the start."""


def run(context: RunContext) -> Result:
    """Train with JAX on the context's device; compilation is done, and timed, before the first epoch."""
    with context.preparing("imports"):
        import jax
        import jax.numpy as jnp

        device = pick_device(context.device)
    batch, rate = context.integer("batch"), context.number("rate")
    with context.preparing("data"):
        split = mnist(context.data_path, batch, context.optional_integer("steps"))

    @jax.jit
    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        passed = mlp.forward(jnp, weights, x)
        gradients = mlp.backward(jnp, weights, x, targets, passed)
        return mlp.updated(weights, gradients, rate), totals + mlp.scores(jnp, passed[1], targets)

    @jax.jit
    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        return totals + mlp.scores(jnp, mlp.forward(jnp, weights, x)[1], targets)

    def put(array: Array) -> Array:
        return jax.device_put(array, device)

    w1, b1, w2, b2 = (put(weight) for weight in mlp.initial_weights(context.integer("seed")))
    trainer = Trainer(
        step, evaluate, put, totals=put(jnp.zeros(2, jnp.float32)), wait=phase_wait(context, jax.block_until_ready)
    )
    with context.marks("compile"), context.preparing("compilation"):
        compile_wall_ns = compile_ahead(batch, split, (w1, b1, w2, b2), trainer)
    training = train(context, split, (w1, b1, w2, b2), trainer)
    return Result(
        data=split.record,
        model=mlp.shape(),
        steps=split.steps(batch),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), len(split.x_validation)),
        threads={"schedulable_cpus": schedulable_cpus()},  # JAX tells no number of threads
        epochs=training.epochs,
        step_wall_ns=training.step_wall_ns,
        results={"compile_wall_ns": compile_wall_ns},
    )


def pick_device(device: Device) -> "jax.Device":
    """Return JAX's first device of the kind.

    Raises:
        WallsplitError: JAX was installed without support for this GPU.
    """
    os.environ.setdefault(
        PREALLOCATE, "false"
    )  # read when the first device is asked for: counts of memory mean its use
    import jax

    if device == "cpu":
        jax.config.update("jax_platforms", "cpu")  # do not start CUDA for nothing
    try:
        return jax.devices(device)[0]
    except RuntimeError as error:
        raise WallsplitError("JAX sees no GPU; install wallsplit[jax-gpu] or choose a CPU workload") from error


def compile_ahead(batch: int, split: Split, weights: Weights, trainer: Trainer) -> int:
    """Return the ns it takes to compile training and evaluation for every batch shape of an epoch, the last one too."""
    start = perf_counter_ns()
    parts = ((split.x_train, split.y_train), (split.x_validation, split.y_validation))
    for (x, labels), is_training in zip(parts, (True, False), strict=True):
        for size in {min(batch, len(x)), len(x) % batch} - {0}:
            inputs, wanted = trainer.put(x[:size]), trainer.put(mlp.one_hot(labels[:size]))
            if is_training:
                trainer.fetch(trainer.step(weights, trainer.totals, inputs, wanted)[1])
            else:
                trainer.fetch(trainer.evaluate(weights, trainer.totals, inputs, wanted))
    return perf_counter_ns() - start


WORKLOAD = Workload("jax-cpu", "MNIST MLP, jitted JAX step on the CPU", run, (*PARAMETERS, WAIT_PHASES), extra="jax")
