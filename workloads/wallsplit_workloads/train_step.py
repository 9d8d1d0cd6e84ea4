"""R1's training step as its library compiles it, everything included: the batch's way to the device, too."""

import numpy as np

from wallsplit.run.manifest import Steps
from wallsplit_workloads import mlp
from wallsplit_workloads.arrays import arrays
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.matmul import PARAMETERS
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.timing import repeated
from wallsplit_workloads.workload import RATE, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train on one batch of random samples over and over, waiting for the new weights of each step."""
    library = arrays(context)
    batch, seed, rate = context.integer("batch"), context.integer("seed"), context.number("rate")
    generator = np.random.default_rng(seed)
    x = generator.random((batch, mlp.LAYERS[0]), np.float32)
    targets = mlp.one_hot(generator.integers(0, mlp.LAYERS[-1], batch))
    w1, b1, w2, b2 = (library.put(weight) for weight in mlp.initial_weights(seed))
    weights: list[Weights] = [(w1, b1, w2, b2)]

    @library.compiled
    def train(weights: Weights, x: Array, targets: Array) -> Weights:
        passed = mlp.forward(library.xp, weights, x)
        return mlp.updated(weights, mlp.backward(library.xp, weights, x, targets, passed), rate)

    def step() -> None:
        with context.marks("data"):
            inputs, wanted = library.put(x), library.put(targets)
        weights[0] = train(weights[0], inputs, wanted)
        library.wait(weights[0])

    epochs, step_wall_ns = repeated(context, step)
    return Result(
        model=mlp.shape(),
        steps=Steps(context.integer("steps")),
        arithmetic=mlp.arithmetic(batch, batch * context.integer("steps"), 0),
        threads=native_threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
        results={"median_step_wall_ns": int(np.median(step_wall_ns))},
    )


WORKLOAD = Workload("train-step", "one compiled training step of the MNIST MLP", run, (*PARAMETERS, RATE), device=None)
