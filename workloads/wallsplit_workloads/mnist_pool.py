"""R1's hyper-parameter search with processes: one learning rate a task, `multiprocessing.Pool` over them."""

import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter_ns

from wallsplit.run.manifest import Scalar
from wallsplit_workloads import mlp, mnist_jax_cpu, mnist_keras_cpu, mnist_numpy
from wallsplit_workloads.marks import marks_for
from wallsplit_workloads.mnist_jax_vmap import MODELS, rates
from wallsplit_workloads.mnist_numpy import PARAMETERS
from wallsplit_workloads.workload import BLAS_THREADS, Parameter, Result, RunContext, Workload

_RUNS = {"numpy": mnist_numpy.run, "jax": mnist_jax_cpu.run, "keras": mnist_keras_cpu.run}


def run(context: RunContext) -> Result:
    """Train one model per learning rate in the pool; has no epochs of its own, every model has."""
    backend, processes = context.text("backend"), context.integer("processes")
    every_rate = rates(context.integer("models"))
    tasks = [(backend, {**context.values, "rate": rate}) for rate in every_rate]
    # spawn: children of fork have no NVTX ranges, and TensorFlow does not survive it. close() and join(), never
    # terminate(): a child that is killed loses the tail of its ranges.
    pool = multiprocessing.get_context("spawn").Pool(processes)
    start = perf_counter_ns()
    try:
        with context.marks("search"):
            trained = pool.starmap(train_one, tasks, chunksize=1)
    except BaseException:
        pool.terminate()
        raise
    finally:
        pool.close()
        pool.join()
    search_wall_ns = perf_counter_ns() - start
    models = []
    for rate, (result, counts) in zip(every_rate, trained, strict=True):
        context.marks.add(counts)
        losses, walls = [epoch.loss for epoch in result.epochs], [epoch.wall_ns for epoch in result.epochs]
        models.append({"rate": rate, "wall_ns": walls, "losses": losses})
        context.progress(f"rate {rate:g}: {sum(walls) / 1e6:,.1f} ms, loss {losses[-1]:.4f}")
    first = trained[0][0]  # data, steps and model are the same for all
    assert first.data is not None
    samples = (first.data.train_samples or 0, first.data.validation_samples or 0)
    return Result(
        data=first.data,
        model=first.model,
        steps=first.steps,
        arithmetic=mlp.arithmetic(context.integer("batch"), *samples),  # of one model: each marks its own steps
        threads={**first.threads, "processes": processes},
        results={"search_wall_ns": search_wall_ns, "models": models},
    )


def train_one(backend: str, values: Mapping[str, Scalar]) -> tuple[Result, dict[str, int]]:
    """Return what one model's training measured and the NVTX ranges it pushed; runs in a child process."""
    context = RunContext(values, marks=marks_for(os.environ))
    return _RUNS[backend](context), context.marks.counts


WORKLOAD = Workload(
    "pool",
    "MNIST MLP, five learning rates in five processes",
    run,
    (
        *(parameter for parameter in PARAMETERS if parameter.name != "rate"),
        replace(BLAS_THREADS, help="threads of each process, of its BLAS or of TensorFlow; unset: their own choice"),
        MODELS,
        Parameter("processes", int, 5, "processes at a time; 1 is one model after the other", minimum=1, maximum=64),
        Parameter("backend", str, "numpy", "what trains a model", choices=tuple(_RUNS)),
    ),
)
