"""R2's Iris MLP in PyTorch, 4→10→3, full batch, and what it costs to ask for the loss with `item()`."""

from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from wallsplit.run.manifest import Data, Epoch, Steps
from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

LAYERS = (4, 10, 3)
TRAIN_SAMPLES = 120  # of 150


def run(context: RunContext) -> Result:
    """Train on Iris; epochs hold a loss only where `item()` was called."""
    import torch

    device = torch_training.set_up(context)
    x, y = (torch.from_numpy(array).to(device) for array in iris(context.integer("seed")))
    model = torch_training.perceptron(LAYERS).to(device)
    if context.flag("layer_marks"):
        torch_training.mark_layers(model, context.marks)
    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))
    marks, every, batch = context.marks, context.integer("item_every"), context.integer("batch")
    firsts = range(0, TRAIN_SAMPLES, batch)[: context.optional_integer("steps")]
    epochs, curve, item_wall_ns = [], [], 0
    for number in range(context.integer("epochs")):
        start, value = perf_counter_ns(), None
        with marks("epoch"):
            for first in firsts:
                with marks("step"):
                    with marks("data"):
                        inputs, wanted = x[first : first + batch], y[first : first + batch]
                    loss = torch_training.step(marks, model, optimizer, inputs, wanted)
            if (number + 1) % every == 0:
                with marks("metrics"):
                    item_start = perf_counter_ns()
                    value = loss.item()
                    item_wall_ns += perf_counter_ns() - item_start
        epochs.append(Epoch(perf_counter_ns() - start, loss=value))
        if value is not None:
            curve.append([number + 1, value])
            context.progress(progress_line(number, epochs[-1]))
    samples = min(TRAIN_SAMPLES, len(firsts) * batch)
    return Result(
        data=Data("iris", "scikit-learn's copy, a seeded choice of 120 rows", samples, 0),
        model=mlp.shape(LAYERS),
        steps=Steps(len(firsts)),
        arithmetic=mlp.arithmetic(batch, samples, 0, LAYERS),
        threads=torch_training.threads(),
        epochs=tuple(epochs),
        results={"item_calls": len(curve), "item_wall_ns": item_wall_ns, "loss_curve": curve},
    )


def iris(seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return measurements (120, 4) in cm and species (120,) of a seeded choice of the 150 flowers."""
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(len(x))[:TRAIN_SAMPLES]
    return x[chosen].astype(np.float32), y[chosen].astype(np.int64)


WORKLOAD = Workload(
    "iris-cpu",
    "Iris MLP in PyTorch, loss.item() every so many epochs",
    run,
    (
        workload.batch(TRAIN_SAMPLES, maximum=TRAIN_SAMPLES),
        workload.epochs(20_000),
        workload.STEPS,
        workload.SEED,
        Parameter("rate", float, 0.01, "learning rate of SGD", minimum=0, maximum=1e6),
        Parameter("item_every", int, 100, "epochs from one loss.item() to the next", minimum=1),
        Parameter("layer_marks", bool, True, "an NVTX range for every layer, from module hooks"),
        workload.torch_threads(),
    ),
    extra="torch",
)
