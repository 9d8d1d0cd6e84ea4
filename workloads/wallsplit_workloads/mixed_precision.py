"""R3's remark on mixed precision: autocast helps where arithmetic dominates (large width), else it only adds casts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train an MLP of the given width in fp32 or under autocast to bfloat16, which needs no loss scaling."""
    import torch

    batch, width = context.integer("batch"), context.integer("width")
    layers = (784, width, width, 10)
    device = torch_training.set_up(context)
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    model = torch_training.perceptron(layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))
    order = np.random.default_rng(context.integer("seed"))
    x_train, y_train = (torch.from_numpy(array).to(device) for array in (split.x_train, split.y_train))

    def batches() -> Iterator[tuple[Any, Any]]:
        for chosen in torch.from_numpy(order.permutation(len(x_train))).to(device).split(batch):
            yield x_train[chosen], y_train[chosen]

    def train(x: Any, y: Any) -> Any:
        precision = torch.autocast(device.type, dtype=torch.bfloat16, enabled=context.flag("autocast"))
        return torch_training.step(context.marks, model, optimizer, x, y, precision)

    steps = split.steps(batch)
    epochs, step_wall_ns = torch_training.fit(context, batches, steps.train, train)
    return Result(
        data=replace(split.record, validation_samples=0),
        model=mlp.shape(layers),
        steps=replace(steps, validation=0),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), 0, layers),
        threads=torch_training.threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
    )


WORKLOAD = Workload(
    "mixed-precision",
    "PyTorch in fp32 or under autocast, small or large width",
    run,
    (
        workload.batch(256),
        workload.epochs(),
        replace(workload.STEPS, default=50),
        workload.SEED,
        workload.RATE,
        workload.DATA,
        workload.CUDA_OR_CPU,
        workload.torch_threads(default=None),
        Parameter("autocast", bool, False, "bfloat16 where autocast finds it safe, instead of fp32"),
        Parameter("width", int, 128, "neurons in each of two hidden layers; try 128, 4096", minimum=1, maximum=65_536),
    ),
    extra="torch",
    device=None,
)
