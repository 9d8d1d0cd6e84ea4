"""R2's Iris MLP in PyTorch, 4→10→3, full batch, and what it costs to ask for the loss with `item()`.

The published loop prints its loss every 100 epochs, and printing a tensor calls `item()`, too: `print_every=0` is the
same program without that.
"""

from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallsplit.run.manifest import Data, Epoch, Steps
from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

LAYERS = (4, 10, 3)
TRAIN_SAMPLES, TEST_SAMPLES = 120, 30
SPLIT_SEED = 42
PRINT_EVERY = 100


@dataclass(frozen=True)
class Flowers:
    """Measurements (n, 4), each feature scaled so that those to train on span 0 to 1, and species (n,)."""

    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_test: NDArray[np.float32]
    y_test: NDArray[np.int64]


@dataclass
class Asked:
    """How often the loss was asked for, and by whom."""

    curve: list[list[float]]
    item_wall_ns: int = 0
    prints: int = 0


def run(context: RunContext) -> Result:
    """Train on Iris; epochs hold a loss only where `item()` was called for it."""
    import torch

    device = torch_training.set_up(context)
    flowers = iris()
    x, y = (torch.from_numpy(array).to(device) for array in (flowers.x_train, flowers.y_train))
    model = torch_training.perceptron(LAYERS).to(device)
    if context.flag("layer_marks"):
        torch_training.mark_layers(model, context.marks)
    batch = context.integer("batch")
    firsts = range(0, TRAIN_SAMPLES, batch)[: context.optional_integer("steps")]
    epochs, asked = _train(context, model, x, y, firsts)
    trained = torch_training.perceptron(LAYERS).to(device)  # without the layers' ranges
    trained.load_state_dict(model.state_dict())
    calls = torch_training.called_and_forwarded(trained, x)
    with torch.no_grad():
        predicted = trained(torch.from_numpy(flowers.x_test).to(device)).argmax(dim=1).cpu().numpy()
    samples = min(TRAIN_SAMPLES, len(firsts) * batch)
    return Result(
        data=Data("iris", f"scikit-learn's copy, split 80/20 with seed {SPLIT_SEED}, min-max scaled", samples, 0),
        model=mlp.shape(LAYERS),
        steps=Steps(len(firsts)),
        arithmetic=mlp.arithmetic(batch, samples, 0, LAYERS),
        threads=torch_training.threads(),
        epochs=epochs,
        results={
            "item_calls": len(asked.curve) + asked.prints,
            "print_calls": asked.prints,
            "item_wall_ns": asked.item_wall_ns,
            "loss_curve": asked.curve,
            "test_accuracy": float((predicted == flowers.y_test).mean()),
            "calls": calls,
        },
    )


def _train(context: RunContext, model: Any, x: Any, y: Any, firsts: range) -> tuple[tuple[Epoch, ...], Asked]:
    """Return the epochs, each from the end of the one before to its own, and what was asked of the losses.

    The device is waited for before the first clock and before the last one, nowhere else.
    """
    import torch

    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))
    marks, batch, last = context.marks, context.integer("batch"), context.integer("epochs") - 1
    every, print_every = context.integer("item_every"), context.integer("print_every")
    called = model.forward if context.text("call") == "forward" else model
    epochs: list[Epoch] = []
    asked = Asked([])
    torch_training.waited(x.device)
    start = perf_counter_ns()
    for number in range(last + 1):
        value = None
        with marks("epoch"):
            for first in firsts:
                with marks("step"):
                    with marks("data"):
                        inputs, wanted = x[first : first + batch], y[first : first + batch]
                    loss = torch_training.step(marks, called, optimizer, inputs, wanted)
            if (number + 1) % every == 0:
                with marks("metrics"):
                    item_start = perf_counter_ns()
                    value = loss.item()
                    asked.item_wall_ns += perf_counter_ns() - item_start
                    asked.curve.append([number + 1, value])
            if print_every and number % print_every == 0:
                with marks("print"):
                    context.progress(f"epoch {number}, loss {loss:.4f}")  # of a tensor, `:.4f` is item() first
                    asked.prints += 1
            if number == last:
                torch_training.waited(x.device)
        end = perf_counter_ns()
        epochs.append(Epoch(end - start, loss=value))
        start = end
    return tuple(epochs), asked


def iris() -> Flowers:
    """Return the 150 flowers, 120 of them to train on; the scaling is learnt from those alone."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MinMaxScaler

    x, y = load_iris(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=TEST_SAMPLES, random_state=SPLIT_SEED)
    scaler = MinMaxScaler().fit(x_train)
    return Flowers(
        scaler.transform(x_train).astype(np.float32),
        y_train.astype(np.int64),
        scaler.transform(x_test).astype(np.float32),
        y_test.astype(np.int64),
    )


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
        Parameter(
            "print_every", int, PRINT_EVERY, "epochs from one printed loss to the next; 0 prints none", minimum=0
        ),
        Parameter("call", str, "call", "model(x), which fires hooks, or model.forward(x)", choices=("call", "forward")),
        Parameter("layer_marks", bool, True, "where recorded, an NVTX range for every layer, from module hooks"),
        workload.torch_threads(),
    ),
    extra="torch",
)
