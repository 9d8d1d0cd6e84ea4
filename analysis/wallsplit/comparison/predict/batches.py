"""The time of a step by batch size, T(b) = c + m·b, from measured runs, and where one kind of run overtakes another."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import median

from wallsplit.frozen import dataclass
from wallsplit.run.manifest import RunManifest


@dataclass(frozen=True)
class BatchLine:
    """What a step takes by batch size, through the smallest and the largest batch measured."""

    name: str
    """The workload, or command, and the device."""
    step_ns: Mapping[int, float]
    """Measured, by batch size, ascending: the median of its runs. Validation, where epochs hold some, is in it."""
    constant_ns: float
    """c: what a step takes whatever its batch."""
    per_sample_ns: float
    """m: what each sample adds."""

    @property
    def errors(self) -> dict[int, float]:
        """Return (line - measured) ÷ measured at the batch sizes in between."""
        between = list(self.step_ns.items())[1:-1]
        return {b: (self.constant_ns + self.per_sample_ns * b) / ns - 1 for b, ns in between}


@dataclass(frozen=True)
class BreakEven:
    """Where two lines cross."""

    small: str
    """The one that is faster below, or always."""
    large: str
    batch: float | None
    """None: never, in batches above 0."""
    measured: tuple[int, int] | None
    """Neighbouring batch sizes, measured with both, between which the faster one changes; None where there are none."""


@dataclass(frozen=True)
class Batches:
    """All lines that two batch sizes or more give, and where they cross."""

    lines: tuple[BatchLine, ...]
    crossings: tuple[BreakEven, ...]


def batches(manifests: Iterable[RunManifest]) -> Batches:
    """Return the lines through the measured steps of runs, one a workload and device, and their crossings."""
    measured: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for manifest in manifests:
        batch, ns = manifest.parameters.get("batch"), _step_ns(manifest)
        if type(batch) is int and batch > 0 and ns is not None:
            name = manifest.workload or manifest.command or "program"
            measured[f"{name}, {manifest.device}" if manifest.device else name][batch].append(ns)
    lines = tuple(
        _line(name, {batch: median(runs) for batch, runs in sorted(by_batch.items())})
        for name, by_batch in sorted(measured.items())
        if len(by_batch) > 1
    )
    return Batches(lines, tuple(break_even(one, other) for one, other in combinations(lines, 2)))


def break_even(one: BatchLine, other: BatchLine) -> BreakEven:
    """Return where two lines cross: b* = (c₁ - c₂) ÷ (m₂ - m₁)."""
    constant, per_sample = one.constant_ns - other.constant_ns, one.per_sample_ns - other.per_sample_ns
    batch = -constant / per_sample if constant * per_sample < 0 else None
    first = one if constant < 0 or (constant == 0 and per_sample <= 0) else other
    second = other if first is one else one
    return BreakEven(first.name, second.name, batch, _bracket(one, other))


def _step_ns(manifest: RunManifest) -> float | None:
    """Return what a training step took: by the epochs, the first apart where there are others."""
    if manifest.steps is None or manifest.steps.train < 1 or not manifest.epochs:
        return None
    epochs = manifest.epochs[1:] or manifest.epochs
    walls = [epoch.wall_ns if epoch.train_wall_ns is None else epoch.train_wall_ns for epoch in epochs]
    return median(walls) / manifest.steps.train


def _line(name: str, step_ns: Mapping[int, float]) -> BatchLine:
    low, high = min(step_ns), max(step_ns)
    per_sample = (step_ns[high] - step_ns[low]) / (high - low)
    return BatchLine(name, step_ns, step_ns[low] - per_sample * low, per_sample)


def _bracket(one: BatchLine, other: BatchLine) -> tuple[int, int] | None:
    both: Sequence[int] = sorted(set(one.step_ns) & set(other.step_ns))
    faster = {b: one.step_ns[b] < other.step_ns[b] for b in both}
    return next(((low, high) for low, high in pairwise(both) if faster[low] != faster[high]), None)
