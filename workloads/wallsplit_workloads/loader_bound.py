"""R3, cause 1: the device waits for samples that are slow to decode. Remedy: workers, prefetch, pinned memory."""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallsplit.errors import WallsplitError
from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload


class CompressedImages:
    """A map-style data set of compressed images, decoded and filtered when asked for, as photographs would be."""

    def __init__(self, images: NDArray[np.float32], labels: NDArray[np.int64], passes: int) -> None:
        self._files = [zlib.compress(image.tobytes()) for image in images]
        self._labels, self._passes = labels, passes

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[NDArray[np.float32], int]:
        image = np.frombuffer(zlib.decompress(self._files[index]), np.float32).reshape(28, 28)
        for _ in range(self._passes):
            image = (2 * image + np.roll(image, 1, axis=0) + np.roll(image, 1, axis=1)) / np.float32(4)
        return image.reshape(-1), int(self._labels[index])


def run(context: RunContext) -> Result:
    """Train the MNIST MLP from a DataLoader over slow samples.

    Raises:
        WallsplitError: memory is to be pinned, or copied without waiting, on a CPU.
    """
    batch, workers, pinned = context.integer("batch"), context.integer("workers"), context.flag("pin_memory")
    not_waiting = context.flag("non_blocking")
    for name, asked in (("pin_memory", pinned), ("non_blocking", not_waiting)):
        if asked and context.device == "cpu":
            raise WallsplitError(f"{name}=true: only memory that a GPU reads is pinned or copied; add device=cuda")
    import torch

    device = torch_training.set_up(context)
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    loader = torch.utils.data.DataLoader(
        CompressedImages(split.x_train, split.y_train, context.integer("decode_passes")),
        batch_size=batch,
        shuffle=context.flag("shuffle"),
        num_workers=workers,
        prefetch_factor=context.integer("prefetch") if workers else None,
        pin_memory=pinned,
        persistent_workers=workers > 0,
        multiprocessing_context="spawn" if workers else None,  # after CUDA or OpenMP threads, fork is unsafe
    )
    model = torch_training.perceptron(mlp.LAYERS).to(device)
    optimizer = torch.optim.SGD(model.parameters(), context.number("rate"))

    def batches() -> Iterator[tuple[Any, Any]]:
        for x, y in loader:
            yield x.to(device, non_blocking=not_waiting), y.to(device, non_blocking=not_waiting)

    steps = split.steps(batch)
    epochs, step_wall_ns = torch_training.fit(
        context, batches, steps.train, lambda x, y: torch_training.step(context.marks, model, optimizer, x, y)
    )
    return Result(
        data=replace(split.record, validation_samples=0),
        model=mlp.shape(),
        steps=replace(steps, validation=0),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), 0),
        threads={**torch_training.threads(), "loader_workers": workers},
        epochs=epochs,
        step_wall_ns=step_wall_ns,
    )


WORKLOAD = Workload(
    "loader-bound",
    "PyTorch starved by slow decoding; remedy: workers, prefetch, pin_memory, non_blocking",
    run,
    (
        workload.batch(),
        workload.epochs(),
        replace(workload.STEPS, default=200),
        workload.SEED,
        workload.RATE,
        workload.SHUFFLE,
        workload.DATA,
        workload.CUDA_OR_CPU,
        workload.torch_threads(),
        Parameter("workers", int, 0, "loader processes; 0 decodes in the training loop", minimum=0, maximum=256),
        Parameter("prefetch", int, 2, "batches each worker keeps ready", minimum=1, maximum=1024),
        Parameter("pin_memory", bool, False, "page-locked host memory, which a GPU reads by itself"),
        Parameter("non_blocking", bool, False, "do not wait for copies to the GPU; takes effect from pinned memory"),
        Parameter("decode_passes", int, 10, "filter passes over each image: how slow decoding is", minimum=0),
    ),
    extra="torch",
    device=None,
)
