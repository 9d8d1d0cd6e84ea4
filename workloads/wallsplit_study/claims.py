"""What the published experiments claim, recomputed from their own figures: slips, what holds, what nothing shows."""

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from wallsplit import units
from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.published import EPOCH_API_SECONDS, EPOCH_STEPS, LAYER_FLOPS, LAYER_SECONDS, PEAK_FLOPS
from wallsplit_workloads import mlp

Verdict = Literal["slip", "holds", "contradiction", "not shown"]

KERNELS: Final = (7, 3)
"""Of a training and of a validation step in the reconstructed trace: assumed, none is published."""
KERNEL_SECONDS: Final = 2e-6
"""The least a kernel of the reconstructed trace takes, whatever its arithmetic: assumed."""
TILES: Final = (32, 64, 128)
"""Rows and columns of a product's result that one block computes: usual sizes, none is published."""


@dataclass(frozen=True)
class Claim:
    """A published statement, the figure that follows from the published figures, and how the two go together."""

    what: str
    published: str
    recomputed: str
    verdict: Verdict
    why: str


def claims() -> tuple[Claim, ...]:
    """Return the claims of R1 and R2 that need a second look, recomputed."""
    return (*_arithmetic(), *_overhead(), *_other())


def section() -> Section:
    """Return the claims as a section of the study."""
    columns = (Column("figure"), Column("published"), Column("recomputed"), Column("verdict"), Column("why"))
    rows = tuple((claim.what, claim.published, claim.recomputed, claim.verdict, claim.why) for claim in claims())
    where = f"Figures of the {published.R1}, and of the {published.R2}; peak = SMs × lanes × 2 × clock."
    table = Table("What was published, and what follows from it", columns, rows, len(rows))
    return Section("claims", "Published claims", (Paragraph(where), table))


def reached(batch: int, tile: int) -> int:
    """Return how many SMs the forward product of layer 1 can reach: a block per tile of its result, an SM per block."""
    rows, columns = batch, mlp.LAYERS[1]
    return min(published.SMS, ceil(rows / tile) * ceil(columns / tile))


def epoch_flops() -> int:
    """Return the operations of the published epoch, training and validation."""
    flops = mlp.arithmetic(32, published.TRAIN_SAMPLES, published.VALIDATION_SAMPLES).flops_per_epoch
    assert flops is not None  # of an epoch of that many samples
    return flops


def kernel_seconds() -> float:
    """Return how long kernels run in an epoch at batch 32, as the reconstructed trace assumes."""
    count = sum(steps * kernels for steps, kernels in zip(EPOCH_STEPS, KERNELS, strict=True))
    return count * KERNEL_SECONDS + epoch_flops() / PEAK_FLOPS


def _arithmetic() -> tuple[Claim, ...]:
    """Return what is claimed of the arithmetic of one layer's product."""
    operation_s = published.OPERATIONS[0].gpu_us / 1e6
    achieved = LAYER_FLOPS / operation_s
    multiply_adds = published.LAYER_MULTIPLY_ADDS
    return (
        Claim(
            "arithmetic of X @ W1 at peak",
            "0.3 µs",
            f"{LAYER_SECONDS * 1e6:.2f} µs",
            "slip",
            f"{multiply_adds / 1e6:.1f} M multiply-adds are {LAYER_FLOPS / 1e6:.1f} MFLOP, and the peak of "
            f"{PEAK_FLOPS / 1e12:.1f} TFLOP/s counts a multiply-add as two",
        ),
        Claim(
            "the GPU “works” so much of the time",
            "0.06 %",
            units.fine_ratio(LAYER_SECONDS / operation_s),
            "slip",
            f"arithmetic at peak ÷ measured time of X @ W1 + b1, {operation_s * 1e6:g} µs",
        ),
        Claim(
            "share of the GPU's capability used",
            "0.00003 %",
            units.fine_ratio(achieved / PEAK_FLOPS),
            "slip",
            f"{achieved / 1e9:.1f} GFLOP/s ÷ {PEAK_FLOPS / 1e12:.1f} TFLOP/s; published was operations ÷ operations "
            f"per second, {multiply_adds / PEAK_FLOPS:.1e}, which is a time",
        ),
    )


def _overhead() -> tuple[Claim, ...]:
    """Return what is claimed of an epoch's overhead, and of the launches in it."""
    steps = sum(EPOCH_STEPS)
    epoch_s, cpu_s = (published.epoch_seconds(approach, 32) for approach in ("keras-gpu", "keras-cpu"))
    arithmetic_s, kernels_s = epoch_flops() / PEAK_FLOPS, kernel_seconds()
    step_s, (launch_s, slow_launch_s) = epoch_s / steps, published.LAUNCH_SECONDS
    smi = published.SMI_RATIOS[0]
    rest_s = epoch_s - EPOCH_API_SECONDS
    product_us, biased_us = published.MATMUL.gpu_us, published.OPERATIONS[0].gpu_us
    launch = f"{launch_s * 1e6:g} to {slow_launch_s * 1e6:g} µs"
    return (
        Claim(
            "the whole epoch is overhead",
            f"all of {epoch_s:g} s",
            f"{units.ratio(1 - kernels_s / epoch_s)} to {units.ratio(1 - arithmetic_s / epoch_s)}",
            "holds",
            f"the source counts API calls ({EPOCH_API_SECONDS:g} s) and framework together: arithmetic is "
            f"{arithmetic_s * 1e3:.1f} ms at peak, {kernels_s * 1e3:.0f} ms with kernels of at least "
            f"{KERNEL_SECONDS * 1e6:g} µs (assumed)",
        ),
        Claim(
            "nvidia-smi shows 90–100 %",
            f"beside 0.3 µs of arithmetic in {biased_us - 1:g} µs",
            f"{smi * step_s * 1e3:.1f} ms of kernels, or more, in each step of {step_s * 1e3:.1f} ms",
            "contradiction",
            "nvidia-smi counts the time in which any kernel runs; the reconstruction's run "
            f"{units.ratio(kernels_s / epoch_s)} of the epoch. For both to hold, kernels would have to take "
            f"{smi * epoch_s / arithmetic_s:,.0f} times as long as their arithmetic at peak, or another program's run",
        ),
        Claim(
            "launch overhead of a product, and with its bias",
            f"{product_us - 1:g} µs and {biased_us - 1:g} µs",
            f"at most {slow_launch_s * 1e6:g} µs and {2 * slow_launch_s * 1e6:g} µs",
            "slip",
            f"by the same source a launch takes {launch}, and these are one launch and two: the rest is Python, the "
            "framework, and waiting after each operation",
        ),
        Claim(
            "API time of a batch",
            f"{EPOCH_API_SECONDS:g} s ÷ {steps:,} = {EPOCH_API_SECONDS / steps * 1e3:.2f} ms",
            f"{EPOCH_API_SECONDS / steps / slow_launch_s:.0f} launches of {slow_launch_s * 1e6:g} µs",
            "not shown",
            f"a batch has one graph launch, of {launch}; calls made once, such as loading code, are in the "
            f"{EPOCH_API_SECONDS:g} s and look like a cost of every batch once divided",
        ),
        Claim(
            "framework and Python of the GPU's epoch",
            f"{epoch_s:g} s − {EPOCH_API_SECONDS:g} s = {rest_s:.1f} s",
            f"at least {rest_s:.1f} s",
            "not shown",
            f"calls on several threads add up to more than they take. If the framework took {rest_s:.1f} s of the "
            f"CPU's epoch of {cpu_s:g} s, too, its arithmetic ran in {cpu_s - rest_s:.1f} s, at "
            f"{epoch_flops() / (cpu_s - rest_s) / 1e9:.0f} GFLOP/s: possible, measured by nobody",
        ),
    )


def _other() -> tuple[Claim, ...]:
    """Return what is claimed of multiprocessors, of other frameworks, and of R2's `item()`."""
    gpu_epoch, jax_epoch = published.epoch_seconds("keras-gpu", 32), published.epoch_seconds("jax-cpu", 4096)
    train, validation = EPOCH_STEPS
    few, many = published.SMS_BUSY
    by_tile = (f"{reached(few, tile)} and {reached(many, tile)} in tiles of {tile} × {tile}" for tile in TILES)
    every, rarest = published.ITEMS[0], published.ITEMS[-1]
    least = published.ITEM_EPOCHS // published.ITEM_PRINTED_EVERY
    most_each_s = (every.seconds - rarest.seconds) / (every.calls - least)
    most = (published.ITEMS[1].calls - rarest.calls) * most_each_s
    return (
        Claim(
            "graph launches of a training epoch",
            f"{train + validation:,}",
            f"{train:,} + {validation:,}",
            "slip",
            "training and validation steps were counted together",
        ),
        Claim(
            f"SMs busy at batch {few} and at {many:,}",
            f"about {published.SMS_BUSY[few]} and {published.SMS_BUSY[many]} of {published.SMS}",
            "; ".join(by_tile),
            "not shown",
            f"blocks of the forward product of layer 1, ({few} or {many:,}, {mlp.LAYERS[1]}), an SM each; which tiles "
            "the library took is not published, and no square one gives both",
        ),
        Claim(
            "JAX on the CPU against Keras on the GPU, per epoch",
            "45 ×",
            f"{gpu_epoch / jax_epoch:.0f} ×",
            "holds",
            f"{gpu_epoch:g} s at batch 32 ÷ {jax_epoch:g} s at batch 4,096: their batches differ, too",
        ),
        Claim(
            "calls of item() in R2's rows",
            ", ".join(str(row.calls) for row in published.ITEMS[1:]),
            f"at least {least} each",
            "slip",
            f"the published loop prints the loss every {published.ITEM_PRINTED_EVERY} epochs, an item() of its own. "
            f"{every.calls - least:,} calls fewer saved {every.seconds - rarest.seconds:.2f} s, "
            f"{most_each_s * 1e6:.0f} µs each; so the {published.ITEMS[1].calls - rarest.calls} that tell the rows "
            f"apart are {most * 1e3:.0f} ms, and the rows differ by "
            f"{published.ITEMS[1].seconds - rarest.seconds:.2f} s",
        ),
    )
