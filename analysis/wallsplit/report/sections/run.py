"""The run: what was run, on what, as the manifest beside the trace says."""

from collections.abc import Mapping

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Fact, Facts, Paragraph, Section
from wallsplit.report.sections.arithmetic import nvidia_smi
from wallsplit.run import load
from wallsplit.run.manifest import RunManifest


def run(analysis: Analysis, _top: int) -> Section | None:
    """Return the manifest's facts about program, data and machine; None without a manifest."""
    if analysis.run is None:
        return None
    facts = (*_program(analysis.run), *_clock(analysis.run), *_machine(analysis.run))
    blocks: list[Block] = [Facts(tuple(fact for fact in facts if fact.value is not None))]
    if analysis.arithmetic is None and analysis.nvml and (said := nvidia_smi(analysis.nvml, analysis)):
        blocks.append(Paragraph(said))  # else it stands beside the arithmetic
    return Section("run", "The run", tuple(blocks))


def _program(run: RunManifest) -> list[Fact]:
    data, model, steps = run.data, run.model, run.steps
    source = None
    if data:
        source = f"{data.source} ({data.detail})" if data.detail else data.source
        counts = ((data.train_samples, "to train on"), (data.validation_samples, "to validate with"))
        source += "".join(f", {units.count(n)} {what}" for n, what in counts if n is not None)
    layers = f", layers {' → '.join(map(str, model.layers))}" if model and model.layers else ""
    per_epoch = f"{units.count(steps.train)} training, {units.count(steps.validation)} validation" if steps else None
    return [
        Fact("Workload" if run.workload else "Program", run.workload or run.command),
        Fact("Device", run.device),
        Fact("Parameters", _listed(run.parameters)),
        Fact("Data", source),
        Fact("Model", f"{units.count(model.parameter_count)} parameters{layers}" if model else None),
        Fact("Steps per epoch", per_epoch),
        Fact("How FLOPs are reckoned", run.arithmetic.formula if run.arithmetic else None),
        Fact("Commit", run.git_commit),
    ]


def _clock(run: RunManifest) -> list[Fact]:
    walls = [epoch.wall_ns for epoch in run.epochs]
    spread = f", {units.ns(min(walls))} to {units.ns(max(walls))}" if len(walls) > 1 else ""
    last = run.epochs[-1] if run.epochs else None
    scores = (
        {"loss": last.loss, "accuracy": last.accuracy, "validation accuracy": last.validation_accuracy} if last else {}
    )
    return [
        Fact("Wall time by the program's own clock", run.wall_ns, "ns"),
        Fact("CPU time ÷ wall time", load.cores_had(run), "number"),
        Fact(
            "Epochs by the program's own clock",
            f"{units.count(len(walls))}, mean {units.ns(sum(walls) / len(walls))}{spread}" if walls else None,
        ),
        Fact("Last epoch", ", ".join(f"{k} {v:.4f}" for k, v in scores.items() if v is not None) or None),
    ]


def _machine(run: RunManifest) -> list[Fact]:
    cpu, gpu, capture = run.cpu, run.gpu, run.capture
    cores = f", {cpu.physical_cores} cores" if cpu and cpu.physical_cores else ""
    return [
        Fact("Versions", _listed(run.versions)),
        Fact("Threads", _listed(run.threads)),
        Fact("Settings", _listed(run.settings)),
        Fact("CPU", f"{cpu.model}{cores}" if cpu and cpu.model else None),
        Fact("GPU", gpu.name if gpu else None),
        Fact("Profiled with", " ".join((capture.tool, capture.version or "", *capture.arguments)) if capture else None),
    ]


def _listed(values: Mapping[str, object]) -> str | None:
    return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None) or None
