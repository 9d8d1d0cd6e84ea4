"""The clock of the microbenchmarks: the same step over and over."""

from collections.abc import Callable
from time import perf_counter_ns

from wallsplit.run.manifest import Epoch
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import RunContext

WARMUP_STEPS = 10  # compilation, first allocations


def repeated(context: RunContext, step: Callable[[], object]) -> tuple[tuple[Epoch, ...], tuple[int, ...]]:
    """Return the wall times of epochs and steps in ns; a step waits for its device, some unmeasured ones go before."""
    with context.marks("warmup"):
        for _ in range(WARMUP_STEPS):
            step()
    epochs, step_wall_ns = [], []
    for number in range(context.integer("epochs")):
        start = perf_counter_ns()
        with context.marks("epoch"):
            for _ in range(context.integer("steps")):
                step_start = perf_counter_ns()
                with context.marks("step"):
                    step()
                step_wall_ns.append(perf_counter_ns() - step_start)
        epochs.append(Epoch(perf_counter_ns() - start))
        context.progress(progress_line(number, epochs[-1]))
    return tuple(epochs), tuple(step_wall_ns)
