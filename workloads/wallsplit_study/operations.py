"""R1's operation table, and what lies between one product, one training step and one step of an epoch."""

from collections.abc import Sequence
from statistics import median

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, dots
from wallsplit_study.frames import summary
from wallsplit_study.results import records, text, whole
from wallsplit_study.tables import median_or_status, places

_SCHEMA = {"approach": pl.String, "name": pl.String, "phase": pl.String, "mean_ns": pl.Float64}
LIBRARIES = (
    ("numpy", "numpy"),
    ("tensorflow", "keras-cpu"),
    ("jax", "jax-cpu"),
    ("tensorflow on a GPU", "keras-gpu"),
    ("jax on a GPU", "jax-gpu"),
)
"""A library, and the approach of the grid that trains with it."""


def operations(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the time of each operation of a training step, timed alone, and what waiting for it is."""
    frame = operation_times(outcomes)
    if frame.is_empty():
        return None
    wide = frame.pivot("approach", index=["name", "phase"], values="mean_ns", maintain_order=True)
    libraries = wide.columns[2:]
    rows = [(*row[:2], *row[2:], *_published(row[0])) for row in wide.iter_rows()]
    totals = [frame.filter(pl.col("approach") == library)["mean_ns"].sum() for library in libraries]
    rows.append(("all operations", None, *totals, *_published("all operations")))
    columns = (
        Column("operation"),
        Column("phase", null=""),
        *(Column(library, "ns") for library in libraries),
        Column("published, CPU", "ns", ""),
        Column("published, GPU", "ns", ""),
    )
    table = Table("Each operation of a training step timed alone", columns, tuple(rows), len(rows))
    meaning = (
        "Means over the steps of a run, as published, and the median of these over the repeats. Where a library "
        "computes beside the program each operation is waited for, so that the sum may be more than a step takes. "
        "On a CPU that is not what makes TensorFlow's sum long: an eager operation returns when it has computed. "
        "Its compiled step is shorter because it is dispatched once instead of operation by operation. Published: "
        f"{published.R1}, batch 32, 1,000 steps."
    )
    return Section("operations", "Operations", (_figure(wide), Paragraph(meaning), table, *_waits(outcomes)))


def operation_times(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """Return one row per library and operation: the median over the repeats of its mean time in ns."""
    rows = [
        (outcome.cell.approach, text(row, "name"), text(row, "phase"), whole(row, "mean_ns"))
        for outcome in outcomes
        if outcome.cell.workload == "op-timing" and outcome.run
        for row in records(outcome.run, "operations")
    ]
    return (
        pl.DataFrame(rows, schema=_SCHEMA, orient="row")
        .drop_nulls(["name", "mean_ns"])
        .group_by("approach", "name", "phase", maintain_order=True)
        .agg(pl.col("mean_ns").median())
    )


def steps(outcomes: Sequence[Outcome]) -> Section | None:
    """Return one product alone, the compiled step, and a step of an epoch side by side, per library."""
    frame = summary(outcomes, "ops").filter(pl.col("workload") != "op-timing")
    if frame.is_empty():
        return None
    rows = [row for library, approach in LIBRARIES if (row := _ladder(frame, outcomes, library, approach))]
    rows += _published_ladder()
    columns = (
        Column("library"),
        Column("matmul alone", "ns", "not measured"),
        Column("eager step", "ns", "not measured"),
        Column("compiled step, waited for", "ns", "not measured"),
        Column("compiled steps, back to back", "ns", "not measured"),
        Column("step of an epoch", "ns", "not measured"),
        Column("epoch", "ns", "not measured"),
        Column("step of an epoch ÷ matmul", "number"),
        Column("if a step of an epoch is the shorter", null=""),
    )
    meaning = (
        "The same product, (32, 784) @ (784, 128), alone, inside a training step, and inside a training loop: the "
        "epoch's training time ÷ its training steps. An eager step is the same function uncompiled. Back to back, "
        "steps are waited for once, at the end, as an epoch's are; a step of an epoch chooses its samples and keeps "
        "scores beyond that. Medians. The published epochs hold 1,500 training and 375 validation steps that cannot "
        f"be told apart, so their step of an epoch is not derived. Published: {published.R1}."
    )
    details = places("Every place", frame, ("workload", "approach", "median_ns", "min_ns", "max_ns", "n", "status"))
    table = Table("From one product to an epoch, batch 32", columns, tuple(rows), len(rows))
    return Section("steps", "Product, step, epoch", (Paragraph(meaning), table, details))


def _ladder(frame: pl.DataFrame, outcomes: Sequence[Outcome], library: str, approach: str) -> tuple[Cell, ...] | None:
    named = {(row["workload"], row["approach"]): row for row in frame.iter_rows(named=True)}
    keys = (("matmul", library), ("train-step", f"{library}, eager"), ("train-step", library))
    own = [named.get(key) for key in keys]
    if not any(own):
        return None
    matmul, eager, waited_for = (median_or_status(row) for row in own)
    eager = waited_for if library == "numpy" else eager  # it compiles nothing
    in_row = _back_to_back(outcomes, library)
    in_epoch, epoch = _epoch_step(outcomes, approach)
    ratio = in_epoch / matmul if isinstance(in_epoch, int) and isinstance(matmul, int) and matmul else None
    shortest = own[2]["min_ns"] if own[2] else None
    why = why_shorter(in_epoch, waited_for if isinstance(waited_for, int) else None, in_row, shortest)
    return library, matmul, eager, waited_for, in_row, in_epoch, epoch, ratio, why


def why_shorter(in_epoch: int | None, alone: int | None, back_to_back: int | None, shortest: int | None) -> str | None:
    """Return why a step of an epoch is shorter than the same step alone, although it does more; None where it is not.

    All in ns: the step in the epoch, alone and waited for, alone and back to back, and the shortest repeat of it alone.
    """
    if in_epoch is None or alone is None or in_epoch >= alone:
        return None
    if back_to_back is not None and back_to_back < alone:
        rest = "" if in_epoch >= back_to_back else ", which is more still: measure both again"
        return f"steps overlap: an epoch waits at its end only, and so does this one in {units.ns(back_to_back)}{rest}"
    if shortest is not None and in_epoch >= shortest:
        return f"scatter: alone, the shortest repeat took {units.ns(shortest)}"
    return "not explained by overlap or scatter: the machine changed between the two; measure both again"


def _back_to_back(outcomes: Sequence[Outcome], library: str) -> int | None:
    """Return the median over the repeats of a compiled step's mean time in ns, waited for after the last step only."""
    times = [
        time
        for outcome in outcomes
        if outcome.cell.workload == "train-step" and outcome.cell.approach == library and outcome.run
        if (time := whole(outcome.run.results, "back_to_back_step_wall_ns")) is not None
    ]
    return round(median(times)) if times else None


def _waits(outcomes: Sequence[Outcome]) -> tuple[Table, ...]:
    """Return what waiting for the device is in each library, as its runs say; nothing where none says it."""
    said = {
        outcome.cell.approach: text(outcome.run.results, "wait")
        for outcome in outcomes
        if outcome.cell.workload == "op-timing" and outcome.run
    }
    rows = tuple((library, wait) for library, wait in said.items() if wait)
    columns = (Column("library"), Column("what is waited for after an operation"))
    return (Table("Waiting", columns, rows, len(rows)),) if rows else ()


def _epoch_step(outcomes: Sequence[Outcome], approach: str) -> tuple[int | None, int | None]:
    """Return the median time of a training step within an epoch at batch 32, and of a whole epoch, in ns."""
    runs = [
        outcome.run
        for outcome in outcomes
        if outcome.cell.part == "grid" and outcome.cell.approach == approach and outcome.run
        if outcome.run.parameters.get("batch") == 32
    ]
    later = [(run, epoch) for run in runs for epoch in run.epochs[1:] or run.epochs]
    per_step = [
        epoch.train_wall_ns / run.steps.train
        for run, epoch in later
        if run.steps and run.steps.train and epoch.train_wall_ns
    ]
    full = [epoch.wall_ns for run, epoch in later if run.data and run.data.train_samples == published.TRAIN_SAMPLES]
    return (round(median(per_step)) if per_step else None), (round(median(full)) if full else None)


def _published_ladder() -> list[tuple[Cell, ...]]:
    gpu, cpu = (published.epoch_seconds(approach, 32) for approach in ("keras-gpu", "keras-cpu"))
    return [
        (
            "published, GPU",
            published.MATMUL.gpu_us * 1e3,
            None,
            "about as on the CPU",
            None,
            None,
            gpu * 1e9,
            None,
            None,
        ),
        (
            "published, CPU",
            published.MATMUL.cpu_us * 1e3,
            None,
            "about as on the GPU",
            None,
            None,
            cpu * 1e9,
            None,
            None,
        ),
    ]


def _published(name: str) -> tuple[float | None, float | None]:
    """Return CPU and GPU time in ns, where they were published."""
    found = next((entry for entry in published.OPERATIONS if entry.name == name), None)
    return (found.cpu_us * 1e3, found.gpu_us * 1e3) if found else (None, None)


def _figure(wide: pl.DataFrame) -> Figure:
    names, libraries = wide["name"].to_list(), wide.columns[2:]
    series = [
        Series(library, tuple(Point(i, v / 1e3) for i, v in enumerate(wide[library]) if v is not None), look)
        for look, library in enumerate(libraries)
    ]
    for title, column in (("CPU", 0), ("GPU", 1)):
        times = [(row, _published(name)[column]) for row, name in enumerate(names)]
        points = tuple(Point(row, time / 1e3) for row, time in times if time is not None)
        series.append(Series(title, points, len(series), published=True))
    words = [f"{entry.title}: {_in_words(entry, names)}" for entry in series if not entry.published]
    return Figure(
        name="operations",
        section="operations",
        caption="Each operation of a training step timed alone; published figures are hollow",
        alt="; ".join(words),
        draw=lambda: dots(names, series, "µs"),
    )


def _in_words(series: Series, names: Sequence[str]) -> str:
    return ", ".join(f"{names[int(point.at)]} {units.ns(point.value * 1e3)}" for point in series.points)
