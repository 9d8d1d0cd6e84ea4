"""R3's remark on mixed precision: it helps where arithmetic dominates (large width), else it only adds casts.

Beside the speed stand what it is bought with: the loss and accuracy reached, and the memory that weights, activations
and the optimizer's state take.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

import numpy as np

from wallsplit_workloads import mlp, torch_training, workload
from wallsplit_workloads.data import mnist
from wallsplit_workloads.workload import Device, Parameter, Result, RunContext, UnsupportedError, Workload

NATIVE_SINCE: Final[Mapping[str, tuple[int, int]]] = {"fp16": (7, 0), "tf32": (8, 0), "bf16": (8, 0)}
"""The compute capability whose tensor cores take a precision (CUDA C++ Programming Guide, "Compute Capabilities").

PyTorch runs bf16 on older GPUs, too, in emulation: `torch.cuda.is_bf16_supported` says so, and the speed says nothing.
"""
_OPTIMIZERS = ("sgd", "adam")


def run(context: RunContext) -> Result:
    """Train an MLP of the given width in one precision, validating after each epoch.

    Raises:
        UnsupportedError: this device does not compute in that precision.
    """
    import torch

    batch, width, precision = context.integer("batch"), context.integer("width"), context.text("precision")
    layers = (784, width, width, 10)
    device = torch_training.set_up(context)
    refuse_emulation(precision, context.device)
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    split = mnist(context.data_path, batch, context.optional_integer("steps"))
    model = torch_training.perceptron(layers).to(device)
    kind = torch.optim.Adam if context.text("optimizer") == "adam" else torch.optim.SGD
    optimizer = kind(model.parameters(), context.number("rate"))
    scaler = torch.amp.GradScaler(device.type) if precision == "fp16" else None  # fp16's range ends at 6e-8
    order = np.random.default_rng(context.integer("seed"))
    x_train, y_train, x_validation, y_validation = (
        torch.from_numpy(array).to(device)
        for array in (split.x_train, split.y_train, split.x_validation, split.y_validation)
    )

    def batches() -> Iterator[tuple[Any, Any]]:
        for chosen in torch.from_numpy(order.permutation(len(x_train))).to(device).split(batch):
            yield x_train[chosen], y_train[chosen]

    def autocast() -> AbstractContextManager[Any]:
        kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
        return torch.autocast(device.type, dtype=kinds[precision]) if precision in kinds else nullcontext()

    def train(x: Any, y: Any) -> Any:
        return torch_training.step(context.marks, model, optimizer, x, y, autocast(), scaler)

    def validate() -> tuple[float, float]:
        with autocast():
            return torch_training.scores(model, x_validation, y_validation)

    steps = replace(split.steps(batch), validation=0)  # validated at one stroke, which is no step of a batch
    arithmetic = mlp.arithmetic(batch, len(split.x_train), len(split.x_validation), layers)
    epochs, step_wall_ns = torch_training.fit(context, batches, steps.train, train, validate)
    return Result(
        data=split.record,
        model=mlp.shape(layers),
        steps=steps,
        arithmetic=replace(arithmetic, flops_per_validation_step=None),
        threads=torch_training.threads(),
        epochs=epochs,
        step_wall_ns=step_wall_ns,
    )


def refuse_emulation(precision: str, device: Device) -> None:
    """Raise UnsupportedError where the device has no arithmetic of its own in that precision.

    Raises:
        UnsupportedError: says what the device is and what to choose.
    """
    import torch

    if device == "cpu":
        if precision in ("tf32", "fp16"):
            raise UnsupportedError(f"precision={precision}: of GPUs alone; choose bf16, or add device=cuda")
        return
    needed = NATIVE_SINCE.get(precision)
    own = torch.cuda.get_device_capability()
    if needed is not None and own < needed:
        has, wants = (".".join(map(str, one)) for one in (own, needed))
        raise UnsupportedError(
            f"precision={precision}: this GPU, of compute capability {has}, would emulate it; it takes {wants}"
        )


WORKLOAD = Workload(
    "mixed-precision",
    "PyTorch in fp32, TF32, bf16 or fp16, small or large width",
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
        Parameter(
            "precision",
            str,
            "fp32",
            "of the products; bf16 and fp16 where autocast finds it safe, fp16 with its loss scaled",
            choices=("fp32", "tf32", "bf16", "fp16"),
        ),
        Parameter("optimizer", str, "sgd", "adam keeps two numbers more for each weight", choices=_OPTIMIZERS),
        Parameter("width", int, 128, "neurons in each of two hidden layers; try 128, 4096", minimum=1, maximum=65_536),
    ),
    extra="torch",
    device=None,
)
