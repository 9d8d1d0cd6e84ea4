"""R1's MNIST MLP in CuPy, a whole batch at a time: the NumPy program with another array library."""

from wallsplit_workloads import mlp, mnist_numpy
from wallsplit_workloads.workload import WAIT_PHASES, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with CuPy."""
    with context.preparing("imports"):
        import cupy

    w1, b1, w2, b2 = (cupy.asarray(weight) for weight in mlp.initial_weights(context.integer("seed")))
    return mnist_numpy.run_batched(context, mnist_numpy.trainer(cupy, context), (w1, b1, w2, b2))


WORKLOAD = Workload(
    "cupy",
    "MNIST MLP, batched CuPy",
    run,
    (*mnist_numpy.PARAMETERS, WAIT_PHASES),
    extra="cupy",
    device="gpu",
    cpu_sibling="numpy",
)
