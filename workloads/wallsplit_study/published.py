"""Figures of published experiments, kept apart from ours: what was printed, on which machine, and what follows from it.

R1: an MNIST MLP, 784→128→10, in several frameworks on one GPU and its host's CPU. R2: an Iris MLP in PyTorch.
"""

from dataclasses import dataclass
from typing import Final, Literal

R1: Final = "published experiment, Quadro RTX 5000 / Core i9-10885H"
R2: Final = "published experiment, RTX 3080 Ti / Core i9-12900KF"


@dataclass(frozen=True)
class EpochTime:
    """A published time of one epoch (48,000 training and 12,000 validation samples), at a batch size or at the best."""

    approach: str
    seconds: float
    batch: int | Literal["best", "smallest"]
    note: str
    source: str = R1


EPOCHS: Final = (
    EpochTime("keras-gpu", 6.5, 32, "model.fit with validation"),
    EpochTime("keras-gpu", 2.3, "best", "floor, whatever the batch"),
    EpochTime("keras-cpu", 4.4, 32, "model.fit with validation"),
    EpochTime("keras-cpu", 11.3, "smallest", "smallest batch of the published sweep, which is not named"),
    EpochTime("keras-cpu", 1.4, "best", "floor"),
    EpochTime("numpy", 0.84, 2048, "best; slower again at 4,096"),
    EpochTime("jax-cpu", 0.14, 4096, "best"),
    EpochTime("cupy-sample", 443 / 5, "best", "443 s for 5 epochs, the loop unchanged from NumPy"),
)


FLOORS: Final = {epoch.approach: epoch.seconds for epoch in EPOCHS if epoch.note.startswith("floor")}
"""Seconds of an epoch that no batch gets below, as published."""


def epoch_seconds(approach: str, batch: int | Literal["best", "smallest"]) -> float:
    """Return the published seconds of an epoch at this batch size.

    Raises:
        KeyError: nothing was published for it.
    """
    return {(epoch.approach, epoch.batch): epoch.seconds for epoch in EPOCHS}[approach, batch]


@dataclass(frozen=True)
class OperationTime:
    """A published time per step in µs of one operation of a training step at batch 32, on the GPU and on the CPU."""

    name: str
    gpu_us: float
    cpu_us: float
    source: str = R1


OPERATIONS: Final = (
    OperationTime("X @ W1 + b1", 541, 162),
    OperationTime("all operations", 4447, 751),
)
MATMUL: Final = OperationTime("(32, 784) @ (784, 128) alone", 109, 272)


@dataclass(frozen=True)
class ItemTime:
    """A published time of 20,000 epochs of the Iris MLP on the GPU, `loss.item()` called every so many epochs."""

    item_every: int
    calls: int
    seconds: float
    source: str = R2


ITEMS: Final = (
    ItemTime(1, 20_000, 11.0),
    ItemTime(100, 200, 10.43),
    ItemTime(200, 100, 10.02),
    ItemTime(1000, 20, 10.12),
    ItemTime(2000, 10, 9.74),
)
ITEM_EPOCHS: Final = 20_000
ITEM_PRINTED_EVERY: Final = 100
"""Epochs from one printed loss to the next in R2's loop, whatever the interval of its table: each is an `item()`."""
TRAIN_SAMPLES: Final = 48_000
VALIDATION_SAMPLES: Final = 12_000
IRIS_CPU_SECONDS: Final = 2.90

SMS, LANES_PER_SM, CLOCK_HZ = 48, 64, 1.8e9
PEAK_FLOPS: Final = SMS * LANES_PER_SM * 2 * CLOCK_HZ
"""Of the Quadro RTX 5000, a fused multiply-add counted as two operations: 11.06e12 per second."""
LAYER_MULTIPLY_ADDS: Final = 32 * 784 * 128
LAYER_FLOPS: Final = 2 * LAYER_MULTIPLY_ADDS
LAYER_SECONDS: Final = LAYER_FLOPS / PEAK_FLOPS
EPOCH_STEPS: Final = (1500, 375)  # training, validation
EPOCH_API_SECONDS: Final = 2.7
LAUNCH_SECONDS: Final = (5e-6, 15e-6)  # of one kernel launch
SMI_RATIOS: Final = (0.9, 1.0)  # what nvidia-smi showed during an epoch
SMS_BUSY: Final = {32: 3, 2048: 42}  # by batch size, "about"
RULE_PARAMETERS, RULE_BATCH = 500_000, 256
"""R1's rule: with fewer parameters than about this, and smaller batches, a good CPU is faster than a GPU."""
KERAS_STEP_SECONDS: Final = (epoch_seconds("keras-gpu", 32) - epoch_seconds("keras-gpu", "best")) / sum(EPOCH_STEPS)
"""What a step of Keras' on the GPU takes, whatever its arithmetic: what the epoch's floor leaves of 6.5 s, 2.24 ms."""
