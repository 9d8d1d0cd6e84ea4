"""The run manifest beside traces/keras-gpu.reconstructed.sqlite: what the published study says of its run, no more.

With it a report of that trace sets arithmetic against overhead, for the epoch and for a step, without being asked.
"""

from pathlib import Path

from wallsplit.run.manifest import Capture, Data, Epoch, Generator, Gpu, RunManifest, Steps, sha256
from wallsplit_study import published
from wallsplit_workloads import mlp

GENERATOR = "samples.reconstruct_keras_gpu"
BATCH, VALIDATION_SAMPLES = 32, 12_000
MEMORY_BYTES = 16 << 30  # data sheet


def manifest(trace: Path) -> RunManifest:
    """Return the manifest of the published epoch, bound to the file of the trace by its SHA-256.

    The epoch's time is published; FLOPs are modelled as the workloads of this repository model theirs.
    """
    train, validation = published.EPOCH_STEPS
    return RunManifest(
        Generator(GENERATOR, "1"),
        workload="keras-gpu",
        parameters={"batch": BATCH, "epochs": 1},
        device="gpu",
        data=Data("mnist", "as published", published.TRAIN_SAMPLES, VALIDATION_SAMPLES),
        model=mlp.shape(),
        steps=Steps(train, validation),
        arithmetic=mlp.arithmetic(BATCH, published.TRAIN_SAMPLES, VALIDATION_SAMPLES),
        gpu=Gpu("Quadro RTX 5000", published.SMS, published.LANES_PER_SM, round(published.CLOCK_HZ), MEMORY_BYTES),
        epochs=(Epoch(round(published.epoch_seconds("keras-gpu", BATCH) * 1e9)),),
        capture=Capture("written by " + GENERATOR, export_sha256=sha256(trace)),
    )
