"""A study becomes one report, and each part of it a table for other programs."""

from collections.abc import Callable, Sequence
from typing import Final, get_args

import polars as pl

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.note import Note
from wallsplit.report import files as report_files
from wallsplit.report.document import Remarks, Report, Section
from wallsplit.report.tables import csv, parquet
from wallsplit.report.writing import File
from wallsplit.run.load import shared_cores
from wallsplit.run.manifest import CPU
from wallsplit_study import claims
from wallsplit_study.break_even import break_even
from wallsplit_study.breakdown import breakdown
from wallsplit_study.breakdown import frame as phases
from wallsplit_study.cells import Outcome, Part, latest
from wallsplit_study.end_to_end import end_to_end
from wallsplit_study.frames import summary
from wallsplit_study.grid import grid, headline
from wallsplit_study.items import items
from wallsplit_study.latency import latency
from wallsplit_study.learning import learning
from wallsplit_study.machine import machine
from wallsplit_study.operations import operations, steps
from wallsplit_study.remedies import causes
from wallsplit_study.search import search
from wallsplit_study.two_machines import OtherMachine, two_machines
from wallsplit_study.word2vec import word2vec

STEM: Final = "study"
_QUICK: Final = (
    "A quick study: every part at its smallest sizes, each run once. It shows that all of it works here; its times "
    "mean little."
)
SCATTER_LIMIT: Final = 0.5
"""Of (max − min) ÷ median over the repeats; above it a median is doubtful."""
SECTIONS: Final[tuple[Callable[[Sequence[Outcome]], Section | None], ...]] = (
    grid,
    learning,
    operations,
    steps,
    search,
    items,
    causes,
    word2vec,
    break_even,
    end_to_end,
    latency,
    machine,
)
"""The sections of a study in reading order; None where nothing of it was run."""


def report(
    outcomes: Sequence[Outcome],
    epochs: Sequence[Analysis] = (),
    other: OtherMachine | None = None,
    *,
    quick: bool = False,
) -> Report:
    """Return what there is to say about the outcomes and the profiled epochs; equal ones give an equal report.

    `other` is put beside them, in a section of its own; `quick` says that the sizes are too small to mean much.
    """
    kept = latest(outcomes)
    sections = [section for make in SECTIONS if (section := make(kept))]
    split = breakdown(epochs)
    sections += [split] if split else []
    beside = two_machines(kept, other) if other else None
    sections += [beside] if beside else []
    remarks = _remarks(kept, quick=quick)
    return Report(
        title="The study",
        headline=_headline(kept),
        figure=None,
        sections=(*((remarks,) if remarks else ()), *sections, claims.section()),
        source="measured runs",
    )


def files(
    outcomes: Sequence[Outcome],
    epochs: Sequence[Analysis] = (),
    other: OtherMachine | None = None,
    *,
    quick: bool = False,
) -> tuple[File, ...]:
    """Return the report's files, and `<part>.csv` and `<part>.parquet` of every part that was run.

    With profiled epochs also `breakdown.csv`: unlike all else they cannot be reckoned again from the cells.
    """
    kept = latest(outcomes)
    frames = {part: summary(kept, part) for part in get_args(Part)}
    tables = [(part, frame) for part, frame in frames.items() if not frame.is_empty()]
    return (
        *report_files.files(report(outcomes, epochs, other, quick=quick), STEM),
        *(csv(f"{part}.csv", frame) for part, frame in tables),
        *(parquet(f"{part}.parquet", frame) for part, frame in tables),
        *((csv("breakdown.csv", phases(epochs)),) if epochs else ()),
    )


def _headline(kept: Sequence[Outcome]) -> str:
    measured = sum(outcome.status == "measured" for outcome in kept)
    best = summary(kept, "grid").filter(pl.col("n") > 0).sort("median_ns", maintain_order=True)
    if best.is_empty():
        return f"{measured} runs measured"
    if faster := headline(best):
        return f"{measured} runs measured: {faster}"
    fast, slow = best.row(0, named=True), best.row(-1, named=True)
    epochs = (f"{row['approach']} at batch {row['batch']} takes {units.ns(row['median_ns'])}" for row in (fast, slow))
    return f"{measured} runs measured: an epoch of {', one of '.join(epochs)}"


def _remarks(kept: Sequence[Outcome], *, quick: bool) -> Section | None:
    failed = [outcome for outcome in kept if outcome.status == "failed"]
    notes = [Note("study", "warning", _QUICK)] if quick else []
    notes += [Note("study", "error", f"{name(outcome)} failed: {outcome.message}") for outcome in failed]
    for status in ("no GPU here", "not installed", "not supported here"):
        lacking = [outcome for outcome in kept if outcome.status == status]
        whose = ", ".join(dict.fromkeys(outcome.cell.workload for outcome in lacking))
        why = "; ".join(dict.fromkeys(outcome.message or status for outcome in lacking))
        notes += [Note("study", "info", f"{whose} not measured, {status}: {why}")] if lacking else []
    if any(outcome.run and len(outcome.run.epochs) == 1 for outcome in kept if outcome.cell.part == "grid"):
        notes.append(Note("study", "warning", "Runs of a single epoch: their time per epoch includes compilation."))
    notes += busy(kept)
    notes += _scatter(summary(kept, "grid"))
    return Section("notes", "Notes", (Remarks(tuple(notes)),)) if notes else None


def busy(kept: Sequence[Outcome]) -> list[Note]:
    """Return a warning where runs on the CPU had so little of it that their times say little."""
    runs = [outcome for outcome in kept if outcome.run and outcome.run.device == CPU]
    shared = [
        (cores, name(outcome)) for outcome in runs if outcome.run and (cores := shared_cores(outcome.run)) is not None
    ]
    if not shared:
        return []
    least, where = min(shared)
    text = (
        f"The machine was busy: in {len(shared)} of {len(runs)} runs on the CPU, CPU time explains less than half of "
        f"the wall time; least in {where}, which had {100 * least:.0f} % of a core. Their times say little: measure on "
        "an idle machine."
    )
    return [Note("busy_machine", "warning", text)]


def _scatter(grid: pl.DataFrame) -> list[Note]:
    """Return a warning where repeats of the grid differ so much that their medians say little."""
    noisy = grid.filter(pl.col("spread_ratio") > SCATTER_LIMIT).sort("spread_ratio", descending=True)
    if noisy.is_empty():
        return []
    worst, measured = noisy.row(0, named=True), grid.filter(pl.col("n") > 0).height
    text = (
        f"In {noisy.height} of {measured} places of the grid the repeats differ by more than "
        f"{units.ratio(SCATTER_LIMIT)} of their median, most in {worst['approach']} at batch {worst['batch']}: other "
        "programs ran meanwhile, or threads that idle by spinning. Measure on an idle machine."
    )
    return [Note("study", "warning", text)]


def name(outcome: Outcome) -> str:
    """Return what a person calls the outcome's cell: `numpy, batch 32, repeat 1`."""
    cell = outcome.cell
    varied = (
        f"{key.replace('_', ' ')} {cell.settings[key]}" for key in ("batch", "item_every") if key in cell.settings
    )
    details = varied if cell.approach == cell.workload else (cell.approach,)
    return ", ".join((cell.workload, *details, f"repeat {cell.repeat}"))
