"""R1's single product, (32, 784) @ (784, 128), alone: launch, arithmetic and waiting, nothing else."""

from dataclasses import replace

import numpy as np

from wallsplit.run.manifest import Arithmetic, Steps
from wallsplit_workloads import mlp, workload
from wallsplit_workloads.arrays import BACKEND, arrays
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.timing import repeated
from wallsplit_workloads.workload import Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Multiply over and over, waiting for each product."""
    library = arrays(context)
    batch, (inputs, hidden, _) = context.integer("batch"), mlp.LAYERS
    generator = np.random.default_rng(context.integer("seed"))
    x = library.put(generator.random((batch, inputs), np.float32))
    w = library.put(mlp.initial_weights(context.integer("seed"))[0])
    epochs, step_wall_ns = repeated(context, lambda: library.wait(x @ w))
    steps, flops, size = context.integer("steps"), 2 * batch * inputs * hidden, 4 * batch * inputs
    return Result(
        steps=Steps(steps),
        arithmetic=Arithmetic(
            formula="2·B·in·out: a multiply-add counts as 2; bytes are the float32 samples a step reads",
            flops_per_step=flops,
            flops_per_epoch=steps * flops,
            bytes_per_step=size,
            bytes_per_epoch=steps * size,
        ),
        threads=native_threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
        results={"median_step_wall_ns": int(np.median(step_wall_ns)), "wait": library.waiting},
    )


PARAMETERS = (
    workload.batch(maximum=1_000_000),
    workload.epochs(1),
    replace(workload.STEPS, default=1000, help="steps per epoch"),
    workload.SEED,
    workload.BLAS_THREADS,
    BACKEND,
    workload.CUDA_OR_CPU,
)
WORKLOAD = Workload("matmul", "one product (batch, 784) @ (784, 128) alone", run, PARAMETERS, device=None)
