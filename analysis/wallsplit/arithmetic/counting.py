"""Arithmetic of a trace: steps and epochs counted in its windows, their FLOPs, the GPU work measured in them."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from wallsplit import units
from wallsplit.arithmetic.peaks import Peaks
from wallsplit.arithmetic.work import LedgerArithmetic, Peak, Scope, Work, modelled_ns
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, clip, intersect, merge, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.timeline import Layers
from wallsplit.model import Model
from wallsplit.run.manifest import Arithmetic, RunManifest

MARKED: Final[tuple[Scope, ...]] = ("epoch", "step", "validation_step")
"""NVTX ranges, in no domain, that say what the program was at."""
INSIDE_RATIO = 0.9
"""A range counts in a window that holds so much of it: the last step may outlive the last CUDA call a little."""

Ranges = dict[tuple[int, str], tuple[Times, Times]]
"""Starts and ends of the marked ranges by process and name."""


@dataclass(frozen=True)
class Question:
    """What is known besides the trace: the run's manifest, and what the user gave on the command line."""

    run: RunManifest | None = None
    flops: int | None = None
    """Of each process, in the window."""
    peak_flops_per_s: int | None = None
    whole_trace: bool = True
    """The window is the default one, which holds the whole run."""


def arithmetic(
    model: Model, activities: Sequence[Activity], ledgers: Sequence[Ledger], window: Window, question: Question
) -> tuple[LedgerArithmetic, ...]:
    """Return the arithmetic of each ledger, in their order; of one whose FLOPs are not known, what was measured."""
    ranges = marked_ranges(model)
    layers = {(one.pid, one.device): one.layers for one in activities}
    peaks = Peaks(model.gpus, ledgers, question.run, question.peak_flops_per_s)
    stated = question.run.arithmetic if question.run and question.flops is None else None
    formula = stated.formula if stated else None
    alone = len({ledger.pid for ledger in ledgers}) == 1
    result = []
    for ledger in ledgers:
        own = ledger.window or window
        inside = {name: _inside(ranges.get((ledger.pid, name)), own) for name in MARKED}
        flops, counted = _flops(question, inside, unmarked=not ranges, alone=alone)
        peak = peaks.of(ledger)
        works = [_window_work(ledger, flops, peak.known)]
        if stated is not None:
            gpu = _gpu_work(layers[ledger.pid, ledger.device], own) if ledger.device is not None else None
            works += [
                _mean_work(name, found, gpu, ledger, _flops_per(stated, name), peak.known)
                for name, found in inside.items()
                if len(found[0])
            ]
        result.append(
            LedgerArithmetic(ledger.pid, ledger.device, counted, formula, peak.known, peak.unknown, tuple(works))
        )
    return tuple(result)


def marked_ranges(model: Model) -> Ranges:
    """Return the epochs and steps that the program marked, whole and in order of their starts."""
    texts = model.names.texts
    result: Ranges = {}
    for name in MARKED:
        rows = (texts == name).arg_true().cast(pl.Int32)
        mine = model.annotations.where(pl.col("range").is_in(rows.implode()), ~pl.col("is_library")).frame.sort("start")
        for (pid,), frame in mine.group_by("pid", maintain_order=True):
            result[int(str(pid)), name] = frame["start"].to_numpy(), frame["end"].to_numpy()
    return result


def marked(model: Model, name: Scope, window: Window) -> list[tuple[int, int]]:
    """Return start and end of the ranges of that name in the window, of all processes, in order."""
    ranges = [_inside(ends, window) for (_, other), ends in marked_ranges(model).items() if other == name]
    return sorted(pair for starts, ends in ranges for pair in zip(starts.tolist(), ends.tolist(), strict=True))


def _flops(
    question: Question, inside: dict[Scope, tuple[Times, Times]], *, unmarked: bool, alone: bool
) -> tuple[int | None, str]:
    """Return the FLOPs of a process in a window, and in words how they were counted, or why they are not known."""
    if question.flops is not None:
        return question.flops, f"{units.flops(question.flops)}, given with --flops"
    run = question.run
    if run is None or run.arithmetic is None:
        return None, "not known: the manifest does not state them"
    counts = {name: len(starts) for name, (starts, _) in inside.items()}
    if any(counts.values()):
        return _marked_flops(run, run.arithmetic, counts)
    if unmarked and run.epochs and run.arithmetic.flops_per_epoch is not None:
        if question.whole_trace and alone:
            count, flops = len(run.epochs), run.arithmetic.flops_per_epoch
            return count * flops, f"{_times(count, 'epoch', flops)}, epochs as in the manifest: none is marked"
        return None, "not known: no epoch or step is marked in the trace, so none can be placed in this window"
    return None, "not known: no epoch or step that the manifest describes lies in this window"


def _marked_flops(run: RunManifest, stated: Arithmetic, counts: dict[Scope, int]) -> tuple[int | None, str]:
    """Count whole epochs where all steps marked are theirs, since the last of them may be a smaller one; else steps."""
    epochs, train, validation = counts["epoch"], counts["step"], counts["validation_step"]
    theirs = (epochs * run.steps.train, epochs * run.steps.validation) if run.steps else None
    whole = (train, validation) in ((0, 0), theirs)
    if epochs and whole and stated.flops_per_epoch is not None:
        return epochs * stated.flops_per_epoch, f"{_times(epochs, 'epoch', stated.flops_per_epoch)}, marked by NVTX"
    parts = [
        (count, name, flops)
        for count, name, flops in (
            (train, "step", stated.flops_per_step),
            (validation, "validation_step", stated.flops_per_validation_step),
        )
        if count and flops is not None
    ]
    if not parts:
        return None, "not known: the manifest does not state those of what is marked in this window"
    total = sum(count * flops for count, _, flops in parts)
    return total, f"{' + '.join(_times(*part) for part in parts)}, marked by NVTX"


def _times(count: int, name: str, flops: int) -> str:
    return f"{units.count(count)} {name}{'s' if count != 1 else ''} × {units.flops(flops)}"


def _flops_per(stated: Arithmetic, name: Scope) -> int | None:
    return {
        "epoch": stated.flops_per_epoch,
        "step": stated.flops_per_step,
        "validation_step": stated.flops_per_validation_step,
    }.get(name)


def _inside(ranges: tuple[Times, Times] | None, window: Window) -> tuple[Times, Times]:
    """Return the ranges of which the window holds at least INSIDE_RATIO, whole."""
    if ranges is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    starts, ends = ranges
    held = np.minimum(ends, window.end_ns) - np.maximum(starts, window.start_ns)
    chosen = (held > 0) & (held >= INSIDE_RATIO * (ends - starts))
    return starts[chosen], ends[chosen]


def _gpu_work(layers: Layers | None, window: Window) -> tuple[Intervals, Intervals] | None:
    """Return the instants a kernel ran, and those a kernel or an opaque graph replay ran; None = not measured."""
    if layers is None:
        return None
    kernels, replays = (clip(layers[name], window.start_ns, window.end_ns) for name in ("gpu.kernel", "gpu.graph"))
    return kernels, merge([kernels, replays])


def _window_work(ledger: Ledger, flops: int | None, peak: Peak | None) -> Work:
    on_gpu = ledger.device is not None
    kernel, graph = ledger.accounts["gpu.kernel"], ledger.accounts["gpu.graph"]
    return Work(
        per="window",
        count=1,
        wall_ns=ledger.wall_ns,
        flops=flops,
        modelled_ns=None if flops is None or peak is None else modelled_ns(flops, peak),
        measured_ns=kernel if on_gpu else None,
        measured_at_most_ns=(kernel or 0) + (graph or 0) if on_gpu else None,
        measured_is_whole=ledger.gpu_complete is not False,
    )


def _mean_work(
    name: Scope,
    ranges: tuple[Times, Times],
    gpu: tuple[Intervals, Intervals] | None,
    ledger: Ledger,
    flops: int | None,
    peak: Peak | None,
) -> Work:
    """Return the mean of ranges of one name; GPU work is what ran while one of them was open, whoever launched it."""
    starts, ends = ranges
    count = len(starts)
    within = [round(total_ns(intersect(work, union(starts, ends))) / count) for work in gpu or ()]
    return Work(
        per=name,
        count=count,
        wall_ns=round(int((ends - starts).sum()) / count),
        flops=flops,
        modelled_ns=None if flops is None or peak is None else modelled_ns(flops, peak),
        measured_ns=within[0] if within else None,
        measured_at_most_ns=within[1] if within else None,
        measured_is_whole=ledger.gpu_complete is not False,
    )
