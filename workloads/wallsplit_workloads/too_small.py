"""R3, cause 2: so little work per operation that launching it is what takes time. Remedy: a CUDA graph, or batch."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from wallsplit.errors import WallsplitError
from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.marks import Marks
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

LAYERS = (784, *[16] * 8, 10)  # deep and narrow: many operations, little in each


def run(context: RunContext) -> Result:
    """Train a deep, narrow MLP on whole batches that are on the device already.

    Raises:
        WallsplitError: a CUDA graph is wanted on a CPU.
    """
    batch, graphed, marks = context.integer("batch"), context.flag("cuda_graph"), context.marks
    if graphed and context.device == "cpu":
        raise WallsplitError("cuda_graph=true: a CPU has no CUDA graphs; add device=cuda, or try a bigger batch")
    import torch

    device = torch_training.set_up(context)
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    steps = len(split.x_train) // batch  # a CUDA graph has one shape, so the smaller last batch is left out
    model = torch_training.perceptron(LAYERS).to(device)
    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))
    order = np.random.default_rng(context.integer("seed"))
    x_train, y_train = (torch.from_numpy(array).to(device) for array in (split.x_train, split.y_train))

    def batches() -> Iterator[tuple[Any, Any]]:
        for chosen in torch.from_numpy(order.permutation(len(x_train))).to(device).split(batch):
            yield x_train[chosen], y_train[chosen]

    train: Callable[[Any, Any], Any] = partial(torch_training.step, marks, model, optimizer)
    if graphed:
        with marks("graph_capture"):
            train = replayed(model, optimizer, marks, x_train[:batch], y_train[:batch])
    epochs, step_wall_ns = torch_training.fit(context, batches, steps, train)
    return Result(
        data=replace(split.record, train_samples=steps * batch, validation_samples=0),
        model=mlp.shape(LAYERS),
        steps=replace(split.steps(batch), train=steps, validation=0),
        arithmetic=mlp.arithmetic(batch, steps * batch, 0, LAYERS),
        threads=torch_training.threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
    )


def replayed(model: Any, optimizer: Any, marks: Marks, x: Any, y: Any) -> Callable[[Any, Any], Any]:
    """Return a step that copies its batch into fixed memory and replays one recorded graph.

    Warm-up on a side stream and capture as PyTorch's notes on CUDA semantics ask for ("Whole-network capture").
    """
    import torch

    x, y = x.clone(), y.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch_training.step(marks, model, optimizer, x, y)
    torch.cuda.current_stream().wait_stream(stream)
    optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = torch_training.step(marks, model, optimizer, x, y)

    def train(new_x: Any, new_y: Any) -> Any:
        with marks("replay"):
            x.copy_(new_x)
            y.copy_(new_y)
            graph.replay()
        return loss.clone()

    return train


WORKLOAD = Workload(
    "too-small",
    "PyTorch with too little work per launch; remedy: cuda_graph, or a bigger batch",
    run,
    (
        workload.batch(8),
        workload.epochs(),
        replace(workload.STEPS, default=500),
        workload.SEED,
        workload.RATE,
        workload.DATA,
        workload.CUDA_OR_CPU,
        workload.torch_threads(),
        Parameter("cuda_graph", bool, False, "record the step once and replay it as one launch"),
    ),
    extra="torch",
    device=None,
)
