"""Hand-made manifests, beside hand-made traces and in hand-made analyses."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wallsplit.analysis import Analysis
from wallsplit.arithmetic.work import LedgerArithmetic, Peak, Work
from wallsplit.ledger.ledger import Ledger
from wallsplit.run.manifest import (
    Arithmetic,
    Baseline,
    Capture,
    Cpu,
    Data,
    Epoch,
    Generator,
    Gpu,
    ModelShape,
    RunManifest,
    Steps,
    beside,
    sha256,
    to_json,
)
from wallsplit.run.nvml import NvmlSummary
from wallsplit.run.perturbation import Perturbation

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


def with_run(analysis: Analysis, names: Sequence[str] = ("numpy", "python")) -> Analysis:
    """Return the analysis with a run of which everything is known; every text of its manifest is one of the names."""
    first, *_, last = names
    run = replace(
        TRAINING,
        workload=first,
        parameters={name: name for name in names},
        device="gpu",
        data=Data(first, last, 48_000, 12_000),
        model=ModelShape(101_770, (784, 128, 10)),
        arithmetic=Arithmetic(last, 40, 10, 85),
        versions={name: name for name in names},
        threads=dict.fromkeys(names, 2),
        cpu=Cpu(first, 8, peak_flops=10**9, peak_source=last),
        gpu=Gpu(last),
        git_commit=first,
        epochs=(Epoch(500, None, 0.5, 0.9, 0.6, 0.8), Epoch(400)),
        capture=Capture(last, first, tuple(names)),
        baseline=Baseline(first, (100, 101, 102), (120, 121, 122)),
    )
    return replace(
        analysis,
        run=run,
        arithmetic=tuple(_arithmetic(ledger, first) for ledger in analysis.ledgers),
        perturbation=Perturbation("perturbed", "every profiled run was slower", 0.2, 0.1, 0.3),
        nvml=NvmlSummary(7, 1, 0.95, 12.5, 2, 3.25),
    )


def _arithmetic(ledger: Ledger, source: str) -> LedgerArithmetic:
    kernel = ledger.accounts["gpu.kernel"] if ledger.device is not None else None
    wall_ns, whole = ledger.wall_ns, ledger.gpu_complete is not False
    window = Work("window", 1, wall_ns, 1_000, max(1, wall_ns // 100), kernel, kernel, whole)
    step = Work("step", 3, max(1, wall_ns // 4), 300, None, None, None)
    return LedgerArithmetic(ledger.pid, ledger.device, "counted", source, Peak(10**9, source), None, (window, step))
