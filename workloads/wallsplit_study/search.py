"""R1's hyper-parameter search: five learning rates mapped over with vmap, in a pool of processes, one by one."""

from collections.abc import Iterable, Sequence
from statistics import median

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, dots
from wallsplit_study.frames import summary
from wallsplit_study.results import numbers, records, whole

_MEANING = (
    "Whole search: from the workload's start to its end, imports, processes, data and compilation included. Training: "
    "of it, the epochs alone; of processes side by side, those of the slowest model. CPU time: of all processes and "
    "their threads, those that only spin while they wait included; processes that each use every core make it many "
    "times the work. Keras in five processes is the search as published."
)


def search(outcomes: Sequence[Outcome]) -> Section | None:
    """Return what five learning rates cost, each way; None where nothing of it was run."""
    frame = summary(outcomes, "search")
    if frame.is_empty():
        return None
    slowest = frame["median_ns"].max()
    rows = tuple(
        (
            row["approach"],
            row["median_ns"],
            row["min_ns"],
            row["max_ns"],
            _median(training_ns(outcome) for outcome in of(outcomes, row["approach"])),
            _median(cpu_time_ns(outcome) for outcome in of(outcomes, row["approach"])),
            slowest / row["median_ns"] if row["median_ns"] and isinstance(slowest, int) else None,
            row["n"],
            row["status"],
        )
        for row in frame.iter_rows(named=True)
    )
    columns = (
        Column("approach"),
        Column("whole search", "ns", "not measured"),
        Column("min", "ns"),
        Column("max", "ns"),
        Column("training", "ns", "not measured"),
        Column("CPU time", "ns", "not measured"),
        Column("whole search, times as fast as the slowest", "number"),
        Column("repeats", "count"),
        Column("status"),
    )
    measured = frame.filter(pl.col("n") > 0)
    figures = () if measured.is_empty() else (_figure(measured),)
    table = Table("Five models, five learning rates", columns, rows, len(rows))
    return Section("search", "Search", (*figures, Paragraph(_MEANING), table))


def training_ns(outcome: Outcome) -> int | None:
    """Return the time in ns of the epochs of all models, as they ran: side by side, or one after the other."""
    if outcome.run is None:
        return None
    if outcome.epochs_wall_ns is not None:
        return outcome.epochs_wall_ns
    sums = [int(sum(numbers(model.get("wall_ns")))) for model in records(outcome.run, "models")]
    processes = whole(outcome.run.parameters, "processes") or 0
    if not sums or 1 < processes < len(sums):
        return None
    return sum(sums) if processes == 1 else max(sums)


def cpu_time_ns(outcome: Outcome) -> int | None:
    """Return the time in ns that all threads of a run and of its processes computed, or spun."""
    return outcome.run.load.cpu_time_ns if outcome.run and outcome.run.load else None


def of(outcomes: Sequence[Outcome], approach: str) -> list[Outcome]:
    """Return the outcomes of one way to search."""
    return [outcome for outcome in outcomes if outcome.cell.part == "search" and outcome.cell.approach == approach]


def _median(values: Iterable[int | None]) -> int | None:
    times = [time for time in values if time is not None]
    return round(median(times)) if times else None


def _figure(measured: pl.DataFrame) -> Figure:
    rows = list(measured.iter_rows(named=True))
    points = [Point(i, row["median_ns"] / 1e9, row["min_ns"] / 1e9, row["max_ns"] / 1e9) for i, row in enumerate(rows)]
    return Figure(
        name="search",
        section="search",
        caption="The whole search: median, lowest and highest repeat",
        alt="; ".join(f"{row['approach']}: {units.ns(row['median_ns'])}" for row in rows),
        draw=lambda: dots([row["approach"] for row in rows], [Series("whole search", tuple(points), 0)], "s"),
    )
