"""Hand-made manifests beside hand-made traces."""

from dataclasses import replace
from pathlib import Path

from wallsplit.manifest import Arithmetic, Capture, Cpu, Epoch, Generator, RunManifest, Steps, beside, sha256, to_json

TRAINING = RunManifest(
    Generator("wallsplit", "0.1.0"),
    workload="numpy",
    steps=Steps(train=2, validation=1),
    arithmetic=Arithmetic("2·B·in·out", flops_per_step=40, flops_per_validation_step=10, flops_per_epoch=85),
    cpu=Cpu(peak_flops=10**9, peak_source="by hand"),
    epochs=(Epoch(500),),
)
"""1 FLOP a nanosecond; the second of an epoch's two steps is smaller than the first (40 + 35 + 10)."""


def put_beside(trace: Path, manifest: RunManifest = TRAINING) -> RunManifest:
    """Write the manifest beside the trace, with the digest of the trace."""
    digest = sha256(trace)
    made = replace(manifest, capture=Capture("nsys", report_sha256=digest, export_sha256=digest))
    beside(trace).write_text(to_json(made), encoding="utf-8")
    return made
