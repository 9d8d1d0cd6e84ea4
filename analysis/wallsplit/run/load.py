"""Whether a run on the CPU had the machine to itself: the time its processes computed, beside its wall time."""

from wallsplit.run.manifest import CPU, RunManifest

LEAST_CORES = 0.5
"""Of a core, over the run; with less, most of a CPU run's wall time went to something else than computing it."""


def cores_had(run: RunManifest) -> float | None:
    """Return CPU time ÷ wall time of the run: 1 is one core all the time; None where not measured."""
    cpu_time_ns = run.load.cpu_time_ns if run.load else None
    return cpu_time_ns / run.wall_ns if cpu_time_ns is not None and run.wall_ns else None


def shared_cores(run: RunManifest) -> float | None:
    """Return the cores that a run on the CPU had, where its CPU time explains less than half of its wall; else None."""
    cores = cores_had(run)
    return cores if run.device == CPU and cores is not None and cores < LEAST_CORES else None


def in_words(cores: float) -> str:
    """Return the sentence about a run that had so little: without a full stop."""
    return f"the machine was busy: this run had {100 * cores:.0f} % of a core, so its times say little"
