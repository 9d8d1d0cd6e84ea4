"""What the study ran on: machine, data, versions, threads, settings; no host name, for none is recorded."""

from collections.abc import Iterable, Mapping, Sequence

from wallsplit.report.document import Column, Fact, Facts, Section, Table
from wallsplit.run.manifest import RunManifest
from wallsplit_study.cells import Outcome, machine_of


def machine(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the machine as the measured runs describe it, and each workload's versions and threads."""
    runs = [outcome.run for outcome in outcomes if outcome.run]
    if not runs:
        return None
    identity = next((own for outcome in reversed(outcomes) if (own := machine_of(outcome))), {})
    return Section("machine", "Machine", (Facts(_facts(runs, identity)), _environments(runs)))


def _facts(runs: Sequence[RunManifest], identity: Mapping[str, str]) -> tuple[Fact, ...]:
    cpu = next((run.cpu for run in reversed(runs) if run.cpu), None)
    gpu = next((run.gpu for run in reversed(runs) if run.gpu), None)
    data = dict.fromkeys(f"{run.data.source} ({run.data.detail})" for run in runs if run.data)
    return (
        Fact("Processor", cpu.model if cpu else None),
        Fact("Physical cores", cpu.physical_cores if cpu else None, "count"),
        Fact("Logical cores", cpu.logical_cores if cpu else None, "count"),
        Fact("FP32 peak", _peak(cpu.peak_flops) if cpu else None, null="a factor of it cannot be read"),
        Fact("Peak from", cpu.peak_source if cpu else None),
        Fact("Memory", identity.get("memory")),
        Fact("GPU", gpu.name if gpu else identity.get("gpu"), null="none here"),
        Fact("Driver", identity.get("driver"), null="none here"),
        Fact("System", identity.get("system")),
        Fact("Data", "; ".join(data) or None),
    )


def _environments(runs: Sequence[RunManifest]) -> Table:
    seen = dict.fromkeys(
        (run.workload, run.device, _pairs(run.versions.items()), _threads(run), _settings(run)) for run in runs
    )
    columns = (
        Column("workload"),
        Column("device"),
        Column("versions"),
        Column("threads", null="not recorded"),
        Column("settings", null="not recorded"),
    )
    return Table("Versions, threads and settings", columns, tuple(seen), len(seen))


def _threads(run: RunManifest) -> str | None:
    return _pairs(sorted(run.threads.items())) or None


def _settings(run: RunManifest) -> str | None:
    return _pairs(run.settings.items()) or None


def _pairs(items: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in items)


def _peak(flops: int | None) -> str | None:
    return None if flops is None else f"{flops / 1e9:,.0f} GFLOP/s"
