"""R1's operation table: each operation of a training step timed alone, its device waited for where there is one."""

from collections.abc import Callable
from itertools import groupby
from time import perf_counter_ns
from typing import Any

import numpy as np

from wallsplit.run.manifest import Steps
from wallsplit_workloads import mlp
from wallsplit_workloads.arrays import arrays
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.matmul import PARAMETERS
from wallsplit_workloads.mlp import Array
from wallsplit_workloads.timing import repeated
from wallsplit_workloads.workload import RATE, Result, RunContext, Workload

Operation = tuple[str, str, str, Callable[[dict[str, Array]], Array]]


def operations(xp: Any, rate: float) -> tuple[Operation, ...]:
    """Return (phase, printed text, name of the result, function of the results so far) of a training step, in order."""
    return (
        ("forward", "X @ W1 + b1", "z1", lambda v: v["x"] @ v["w1"] + v["b1"]),
        ("forward", "ReLU", "h", lambda v: xp.maximum(v["z1"], 0)),
        ("forward", "H @ W2 + b2", "z2", lambda v: v["h"] @ v["w2"] + v["b2"]),
        ("forward", "softmax", "p", lambda v: _softmax(xp, v["z2"])),
        ("metrics", "cross-entropy", "loss", lambda v: -xp.sum(v["t"] * xp.log(v["p"] + np.float32(1e-12)))),
        ("backward", "output gradient", "g2", lambda v: (v["p"] - v["t"]) / np.float32(v["x"].shape[0])),
        ("backward", "H.T @ G2", "dw2", lambda v: xp.transpose(v["h"]) @ v["g2"]),
        ("backward", "sum G2", "db2", lambda v: xp.sum(v["g2"], axis=0)),
        ("backward", "G2 @ W2.T", "gh", lambda v: v["g2"] @ xp.transpose(v["w2"])),
        ("backward", "ReLU gradient", "g1", lambda v: v["gh"] * xp.sign(v["h"])),
        ("backward", "X.T @ G1", "dw1", lambda v: xp.transpose(v["x"]) @ v["g1"]),
        ("backward", "sum G1", "db1", lambda v: xp.sum(v["g1"], axis=0)),
        ("update", "update W1", "w1", lambda v: v["w1"] - rate * v["dw1"]),
        ("update", "update b1", "b1", lambda v: v["b1"] - rate * v["db1"]),
        ("update", "update W2", "w2", lambda v: v["w2"] - rate * v["dw2"]),
        ("update", "update b2", "b2", lambda v: v["b2"] - rate * v["db2"]),
    )


def run(context: RunContext) -> Result:
    """Do the operations one by one over and over; the first, unmeasured steps of the clock are left out."""
    library = arrays(context)
    batch, seed = context.integer("batch"), context.integer("seed")
    generator = np.random.default_rng(seed)
    values = dict(zip(("w1", "b1", "w2", "b2"), map(library.put, mlp.initial_weights(seed)), strict=True))
    values["x"] = library.put(generator.random((batch, mlp.LAYERS[0]), np.float32))
    values["t"] = library.put(mlp.one_hot(generator.integers(0, mlp.LAYERS[-1], batch)))
    listed = operations(library.xp, context.number("rate"))
    times: list[list[int]] = [[] for _ in listed]

    def step() -> None:
        for phase, group in groupby(zip(listed, times, strict=True), key=lambda pair: pair[0][0]):
            with context.marks(phase):
                for (_, name, result, operation), measured in group:
                    with context.marks(name):
                        start = perf_counter_ns()
                        values[result] = operation(values)
                        library.wait(values[result])
                        measured.append(perf_counter_ns() - start)

    epochs, step_wall_ns = repeated(context, step)
    wanted = len(step_wall_ns)
    means = [int(np.mean(measured[-wanted:])) for measured in times]
    medians = [int(np.median(measured[-wanted:])) for measured in times]
    rows = [
        {"name": name, "phase": phase, "mean_ns": mean, "median_ns": median}
        for (phase, name, _, _), mean, median in zip(listed, means, medians, strict=True)
    ]
    return Result(
        model=mlp.shape(),
        steps=Steps(context.integer("steps")),
        arithmetic=mlp.arithmetic(batch, batch * context.integer("steps"), 0),
        threads=native_threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
        results={"operations": rows, "mean_of_all_ns": sum(means), "wait": library.waiting},
    )


def _softmax(xp: Any, logits: Array) -> Array:
    exponents = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    return exponents / xp.sum(exponents, axis=1, keepdims=True)


WORKLOAD = Workload("op-timing", "each operation of a training step timed alone", run, (*PARAMETERS, RATE), device=None)
