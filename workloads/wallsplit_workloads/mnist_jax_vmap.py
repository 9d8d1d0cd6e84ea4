"""R1's hyper-parameter search in JAX: several learning rates at once, the SGD step mapped over them with vmap."""

import numpy as np

from wallsplit_workloads import mlp
from wallsplit_workloads.data import mnist
from wallsplit_workloads.machine import schedulable_cpus
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.mnist_jax_cpu import compile_ahead, pick_device
from wallsplit_workloads.mnist_numpy import PARAMETERS
from wallsplit_workloads.training import Trainer, phase_wait, train
from wallsplit_workloads.workload import WAIT_PHASES, Parameter, Result, RunContext, Workload


def rates(count: int) -> list[float]:
    """Return learning rates from 0.001 to 10, evenly spaced in the exponent: five are 0.001, 0.01, 0.1, 1 and 10."""
    return [float(rate) for rate in np.logspace(-3, 1, count)]


def run(context: RunContext) -> Result:
    """Train all models at once; the epochs show the best of them."""
    with context.preparing("imports"):
        import jax
        import jax.numpy as jnp

        device = pick_device(context.device)
    batch, models = context.integer("batch"), context.integer("models")
    with context.preparing("data"):
        split = mnist(context.data_path, batch, context.optional_integer("steps"))
    every_rate = jax.device_put(np.array(rates(models), np.float32), device)

    def step_of_one(weights: Weights, x: Array, targets: Array, rate: Array) -> tuple[Weights, Array]:
        passed = mlp.forward(jnp, weights, x)
        gradients = mlp.backward(jnp, weights, x, targets, passed)
        return mlp.updated(weights, gradients, rate), mlp.scores(jnp, passed[1], targets)

    def scores_of_one(weights: Weights, x: Array, targets: Array) -> Array:
        return mlp.scores(jnp, mlp.forward(jnp, weights, x)[1], targets)

    @jax.jit
    def step(weights: Weights, totals: Array, x: Array, targets: Array) -> tuple[Weights, Array]:
        weights, scores = jax.vmap(step_of_one, in_axes=(0, None, None, 0))(weights, x, targets, every_rate)
        return weights, totals + scores

    @jax.jit
    def evaluate(weights: Weights, totals: Array, x: Array, targets: Array) -> Array:
        return totals + jax.vmap(scores_of_one, in_axes=(0, None, None))(weights, x, targets)

    def put(array: Array) -> Array:
        return jax.device_put(array, device)

    w1, b1, w2, b2 = (put(np.stack([weight] * models)) for weight in mlp.initial_weights(context.integer("seed")))
    trainer = Trainer(
        step,
        evaluate,
        put,
        totals=put(np.zeros((models, 2), np.float32)),
        wait=phase_wait(context, jax.block_until_ready),
    )
    with context.marks("compile"), context.preparing("compilation"):
        compile_wall_ns = compile_ahead(batch, split, (w1, b1, w2, b2), trainer)
    training = train(context, split, (w1, b1, w2, b2), trainer)
    return Result(
        data=split.record,
        model=mlp.shape(),
        steps=split.steps(batch),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), len(split.x_validation), models=models),
        threads={"schedulable_cpus": schedulable_cpus()},
        epochs=training.epochs,
        step_wall_ns=training.step_wall_ns,
        results={
            "compile_wall_ns": compile_wall_ns,
            "models": [
                {"rate": rate, "losses": losses}
                for rate, losses in zip(rates(models), training.losses.T.tolist(), strict=True)
            ],
        },
    )


MODELS = Parameter("models", int, 5, "how many learning rates, from 0.001 to 10", minimum=1, maximum=64)
WORKLOAD = Workload(
    "jax-vmap",
    "MNIST MLP, five learning rates at once with jax.vmap",
    run,
    (*(parameter for parameter in PARAMETERS if parameter.name != "rate"), MODELS, WAIT_PHASES),
    extra="jax",
)
