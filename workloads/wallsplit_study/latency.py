"""Latency and throughput of every workload that was measured, with what they cost: energy and memory."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit_study.cells import Outcome, samples_per_s
from wallsplit_study.learning import TARGET, time_to_target_ns

KEY: Final = "latency"
NOT_MEASURED: Final = "not measured"
_MEANING = (
    "Samples per s, of word2vec words, leave validation out, and the first epoch but where epochs are many (Iris). A "
    "step is what the host waits for: of a framework that queues its work a device may still be busy when it returns; "
    f"percentiles are over all steps of a run, those that compile included. Time to {TARGET:.0%} validation accuracy "
    "sums whole epochs. Energy is that of the whole run, imports included, by the meters of the processor's packages "
    "and of the GPU, whoever used them. Memory is the most that was in use: of the host by the largest process of the "
    "run, of the GPU as the framework counts it. Everything is a median over the repeats."
)

Value = Callable[[Outcome], float | None]


def latency(outcomes: Sequence[Outcome]) -> Section | None:
    """Return a row for each measured place that trains in steps or epochs; None without any."""
    table = latency_table(outcomes)
    return None if table is None else Section(KEY, "Latency and throughput", (Paragraph(_MEANING), table))


def latency_table(outcomes: Sequence[Outcome]) -> Table | None:
    """Return latency, throughput and cost, a row a workload, variant and batch; None without any."""
    places = _by_place(outcomes)
    if not places:
        return None
    columns = (
        *(Column("workload"), Column("variant"), Column("batch", "count", "its own")),
        *(column for column, _ in _VALUES),
        Column(f"time to {TARGET:.0%}", "ns", "no accuracy"),
    )
    rows = tuple(
        (*place, *(_median(value, own) for _, value in _VALUES), _target(own)) for place, own in places.items()
    )
    return Table("Latency, throughput and cost, a row a workload and variant", columns, rows, len(rows))


def throughput(outcome: Outcome) -> float | None:
    """Return training samples per second; of a run of so many epochs that only their sum was kept, over all of them."""
    run = outcome.run
    if run is None or run.epochs or run.data is None or not outcome.epochs_wall_ns:
        return samples_per_s(outcome)
    epochs, samples = run.parameters.get("epochs"), run.data.train_samples
    return epochs * samples * 1e9 / outcome.epochs_wall_ns if isinstance(epochs, int) and samples else None


def energy_j(outcome: Outcome) -> float | None:
    """Return the energy of the run in J, of all meters that counted; None without any."""
    counted = outcome.run.energy_mj if outcome.run else {}
    return sum(counted.values()) / 1e3 if counted else None


def host_memory_bytes(outcome: Outcome) -> int | None:
    """Return the most host memory of a process of the run; None where it was not counted."""
    return outcome.run.peak_memory_bytes.get("process") if outcome.run else None


def gpu_memory_bytes(outcome: Outcome) -> int | None:
    """Return the most GPU memory in use, by whoever counted most; None where nobody did."""
    counted = outcome.run.peak_memory_bytes if outcome.run else {}
    return max((size for name, size in counted.items() if name != "process"), default=None)


def _by_place(outcomes: Sequence[Outcome]) -> dict[tuple[str, str, int | None], list[Outcome]]:
    """Return the measured outcomes with a time per step or per sample by workload, variant and batch, in that order."""
    places: dict[tuple[str, str, int | None], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.run and (outcome.step_median_ns is not None or throughput(outcome) is not None):
            batch = outcome.run.parameters.get("batch")
            place = outcome.cell.workload, outcome.cell.approach, batch if type(batch) is int else None
            places.setdefault(place, []).append(outcome)
    workloads = list(dict.fromkeys(workload for workload, _, _ in places))
    return dict(sorted(places.items(), key=lambda item: (workloads.index(item[0][0]), item[0][2] or 0)))


def _median(value: Value, outcomes: Sequence[Outcome]) -> Cell:
    """Return the median over the repeats; None unless every one of them has the value."""
    values = [value(outcome) for outcome in outcomes]
    known = [one for one in values if one is not None]
    return median(known) if len(known) == len(values) else None


def _target(outcomes: Sequence[Outcome]) -> Cell:
    """Return the median time to the target, or that a repeat did not reach it; None where no accuracy was taken."""
    epochs = [epoch for outcome in outcomes if outcome.run for epoch in outcome.run.epochs]
    if all(epoch.validation_accuracy is None for epoch in epochs):
        return None
    return _median(time_to_target_ns, outcomes) or "not reached"


_VALUES: Final[tuple[tuple[Column, Value], ...]] = (
    (Column("samples per s", "number", NOT_MEASURED), throughput),
    (Column("step, median", "ns", NOT_MEASURED), lambda one: one.step_median_ns),
    (Column("95th percentile", "ns", NOT_MEASURED), lambda one: one.step_p95_ns),
    (Column("99th percentile", "ns", NOT_MEASURED), lambda one: one.step_p99_ns),
    (Column("energy, J", "number", NOT_MEASURED), energy_j),
    (Column("peak memory, host", "bytes", NOT_MEASURED), host_memory_bytes),
    (Column("peak memory, GPU", "bytes", NOT_MEASURED), gpu_memory_bytes),
)
