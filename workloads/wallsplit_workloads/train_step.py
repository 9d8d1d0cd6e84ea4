"""R1's training step as its library compiles it, everything included: the batch's way to the device, too.

Timed twice: each step waited for, and back to back with one wait at the end, as the steps of an epoch are.
"""

from time import perf_counter_ns

import numpy as np

from wallsplit.run.manifest import Steps
from wallsplit_workloads import mlp
from wallsplit_workloads.arrays import arrays
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.matmul import PARAMETERS
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.timing import repeated
from wallsplit_workloads.workload import RATE, Parameter, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train on one batch of random samples over and over, waiting for the new weights of each step."""
    library = arrays(context)
    batch, seed, rate = context.integer("batch"), context.integer("seed"), context.number("rate")
    generator = np.random.default_rng(seed)
    x = generator.random((batch, mlp.LAYERS[0]), np.float32)
    targets = mlp.one_hot(generator.integers(0, mlp.LAYERS[-1], batch))
    w1, b1, w2, b2 = (library.put(weight) for weight in mlp.initial_weights(seed))
    weights: list[Weights] = [(w1, b1, w2, b2)]

    def train(weights: Weights, x: Array, targets: Array) -> Weights:
        passed = mlp.forward(library.xp, weights, x)
        return mlp.updated(weights, mlp.backward(library.xp, weights, x, targets, passed), rate)

    trained = library.compiled(train) if context.flag("compiled") else train

    def step() -> None:
        with context.marks("data"):
            inputs, wanted = library.put(x), library.put(targets)
        weights[0] = trained(weights[0], inputs, wanted)
        library.wait(weights[0])

    epochs, step_wall_ns = repeated(context, step)
    steps = context.integer("steps")
    start = perf_counter_ns()
    with context.marks("back to back"):
        for _ in range(steps):
            weights[0] = trained(weights[0], library.put(x), library.put(targets))
        library.wait(weights[0])
    back_to_back_ns = perf_counter_ns() - start
    return Result(
        model=mlp.shape(),
        steps=Steps(context.integer("steps")),
        arithmetic=mlp.arithmetic(batch, batch * context.integer("steps"), 0),
        threads=native_threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
        results={
            "median_step_wall_ns": int(np.median(step_wall_ns)),
            "back_to_back_step_wall_ns": back_to_back_ns // steps,
            "wait": library.waiting,
        },
    )


COMPILED = Parameter("compiled", bool, True, "one function as the library compiles it; else operation by operation")
WORKLOAD = Workload(
    "train-step", "one compiled training step of the MNIST MLP", run, (*PARAMETERS, RATE, COMPILED), device=None
)
