"""R1's naive port to CuPy: the per-sample NumPy loop unchanged, so every sample launches its own small kernels."""

from wallsplit_workloads import mlp, mnist_numpy, mnist_numpy_sample
from wallsplit_workloads.workload import Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with CuPy, sample by sample."""
    with context.preparing("imports"):
        import cupy

    w1, b1, w2, b2 = (cupy.asarray(weight) for weight in mlp.initial_weights(context.integer("seed")))
    return mnist_numpy.run_batched(context, mnist_numpy_sample.trainer(cupy, context), (w1, b1, w2, b2))


WORKLOAD = Workload(
    "cupy-sample",
    "MNIST MLP, the per-sample loop ported to CuPy unchanged",
    run,
    mnist_numpy_sample.PARAMETERS,
    extra="cupy",
    device="gpu",
    cpu_sibling="numpy-sample",
)
