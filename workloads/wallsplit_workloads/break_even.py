"""Where a GPU begins to pay: R1's training step, models of 5 thousand to 5 million parameters by batches of 8 to 4,096.

One process measures the whole surface, so that a library is imported once and not once a place.
"""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter_ns
from typing import Final

import numpy as np

from wallsplit import units
from wallsplit.run.manifest import Epoch, Scalar, Steps
from wallsplit_workloads import mlp, workload
from wallsplit_workloads.arrays import BACKEND, Arrays, arrays
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.mlp import Array, Weights
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

WIDTHS: Final = (6, 20, 64, 128, 629, 2_000, 6_289)
"""Hidden units: 4,780, 15,910, 50,890, 101,770 (R1's), 500,065, 1,590,010 and 4,999,765 parameters."""
BATCHES: Final = (8, 32, 128, 256, 1_024, 4_096)
LEAST_STEPS: Final = 3

Layers = tuple[int, int, int]


def run(context: RunContext) -> Result:
    """Train each model with each batch for a moment, waiting for the new weights of each step."""
    library = arrays(context)
    widths, batches = (_up_to(context.integer(name), ladder) for name, ladder in _LADDERS)
    taken: dict[tuple[int, int], list[int]] = {(width, batch): [] for width in widths for batch in batches}
    epochs = []
    for _ in range(context.integer("epochs")):
        start = perf_counter_ns()
        with context.marks("epoch"):
            for width in widths:
                for batch in batches:
                    taken[width, batch] += _measured(context, library, _layers(width), batch)
                context.progress(_progress_line(width, batches, taken))
        epochs.append(Epoch(perf_counter_ns() - start))
    steps = sum(len(walls) for walls in taken.values())
    return Result(
        steps=Steps(steps // len(epochs)),
        threads=native_threads(),
        epochs=tuple(epochs),
        results={"points": [_point(width, batch, walls) for (width, batch), walls in taken.items()]},
    )


def training_step(library: Arrays, layers: Layers, batch: int, seed: int) -> Callable[[], object]:
    """Return a function that trains a model of these layers on one batch, its way to the device included, and waits."""
    generator = np.random.default_rng(seed)
    x = generator.random((batch, layers[0]), np.float32)
    targets = mlp.one_hot(generator.integers(0, layers[-1], batch), layers[-1])
    w1, b1, w2, b2 = (library.put(weight) for weight in mlp.initial_weights(seed, layers))
    weights: list[Weights] = [(w1, b1, w2, b2)]

    @library.compiled
    def train(weights: Weights, x: Array, targets: Array) -> Weights:
        passed = mlp.forward(library.xp, weights, x)
        return mlp.updated(weights, mlp.backward(library.xp, weights, x, targets, passed), np.float32(0.1))

    def step() -> object:
        weights[0] = train(weights[0], library.put(x), library.put(targets))
        return library.wait(weights[0])

    return step


def _measured(context: RunContext, library: Arrays, layers: Layers, batch: int) -> list[int]:
    """Return the wall times in ns of the steps of one place: LEAST_STEPS, and more until its time is up."""
    step = training_step(library, layers, batch, context.integer("seed"))
    with context.marks("warmup"):
        step()
    walls: list[int] = []
    end = perf_counter_ns() + round(context.number("seconds") * 1e9)
    while len(walls) < LEAST_STEPS or (len(walls) < context.integer("steps") and perf_counter_ns() < end):
        start = perf_counter_ns()
        with context.marks("step"):
            step()
        walls.append(perf_counter_ns() - start)
    return walls


def _layers(width: int) -> Layers:
    inputs, _, classes = mlp.LAYERS
    return inputs, width, classes


def _point(width: int, batch: int, walls: list[int]) -> dict[str, Scalar]:
    layers = _layers(width)
    return {
        "parameters": mlp.shape(layers).parameter_count,
        "batch": batch,
        "flops": mlp.step_flops(batch, layers),
        "median_ns": int(np.median(walls)),
        "steps": len(walls),
    }


def _up_to(most: int, ladder: tuple[int, ...]) -> list[int]:
    """Return the sizes of a ladder up to the most that is asked for; that itself where it is below all of them."""
    return [size for size in ladder if size <= most] or [most]


def _progress_line(width: int, batches: list[int], taken: dict[tuple[int, int], list[int]]) -> str:
    times = (f"{batch:,}: {units.ns(float(np.median(taken[width, batch])))}" for batch in batches)
    return f"{mlp.shape(_layers(width)).parameter_count:,} parameters, a step by batch: {', '.join(times)}"


_LADDERS: Final = (("width", WIDTHS), ("batch", BATCHES))
WORKLOAD = Workload(
    "break-even",
    "one training step over model and batch sizes: where a GPU begins to pay",
    run,
    (
        Parameter("batch", int, BATCHES[-1], "largest batch of the sweep", minimum=1, maximum=65_536),
        workload.epochs(1),
        replace(workload.STEPS, default=200, help="steps of a place at most"),
        workload.SEED,
        Parameter("width", int, WIDTHS[-1], "hidden units of the largest model", minimum=1, maximum=20_000),
        Parameter("seconds", float, 0.3, "time for a place, after three steps", minimum=0, maximum=3_600),
        workload.BLAS_THREADS,
        BACKEND,
        workload.CUDA_OR_CPU,
    ),
    device=None,
)
