"""R3, cause 3: many small copies and `item()` in the loop. Remedy: one copy a batch, the loss fetched once an epoch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train the MNIST MLP, moving samples one by one, or batches."""
    import torch

    batch, batched, marks = context.integer("batch"), context.flag("batched"), context.marks
    device = torch_training.set_up(context)
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    model = torch_training.perceptron(mlp.LAYERS).to(device)
    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))
    order = np.random.default_rng(context.integer("seed"))
    x_train, y_train = torch.from_numpy(split.x_train), torch.from_numpy(split.y_train)

    def batches() -> Iterator[tuple[Any, Any]]:
        for chosen in torch.from_numpy(order.permutation(len(x_train))).split(batch):
            x, y = x_train[chosen], y_train[chosen]
            if batched:
                yield x.to(device), y.to(device)
            else:  # copy=True: on the CPU, too, a sample is copied
                yield (
                    torch.stack([sample.to(device, copy=True) for sample in x]),
                    torch.stack([label.to(device, copy=True) for label in y]),
                )

    def train(x: Any, y: Any) -> Any:
        loss = torch_training.step(marks, model, optimizer, x, y)
        if batched:
            return loss
        with marks("item"):
            return loss.item()

    steps = split.steps(batch)
    epochs, step_wall_ns = torch_training.fit(context, batches, steps.train, train)
    return Result(
        data=replace(split.record, validation_samples=0),
        model=mlp.shape(),
        steps=replace(steps, validation=0),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), 0),
        threads=torch_training.threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
    )


WORKLOAD = Workload(
    "transfer-bound",
    "PyTorch with a copy per sample and item() per step; remedy: batched",
    run,
    (
        workload.batch(),
        workload.epochs(),
        replace(workload.STEPS, default=500),
        workload.SEED,
        workload.RATE,
        workload.DATA,
        workload.CUDA_OR_CPU,
        workload.torch_threads(),
        Parameter("batched", bool, False, "one copy per batch, the loss fetched once per epoch"),
    ),
    extra="torch",
    device=None,
)
