"""From the start of a process to a target accuracy: what that goes to, and what one product alone would predict."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import Final

from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit.run.manifest import RunManifest
from wallsplit_study.cells import Outcome
from wallsplit_study.learning import TARGET, time_to_target_ns
from wallsplit_study.operations import LIBRARIES

KEY: Final = "end-to-end"
BATCH: Final = 32
NAMED: Final = ("start", "imports", "data", "compilation")
_MEANING = (
    f"From the start of the process to the end of the epoch that reaches {TARGET:.0%} validation accuracy, batch "
    f"{BATCH}; where none does, to the end of the run. Start is Python and wallsplit itself, and NumPy with it. "
    "Compilation is what is compiled before the first epoch, and what the first epoch takes beyond the median of the "
    "others: frameworks compile in it (of a single epoch that cannot be told). The rest is making the model, copying "
    "it, and ending. Of the repeats, the one with the median total. A product alone predicts its own time, (32, 784) @ "
    "(784, 128), times the FLOPs of the epochs ÷ its own: what one would expect who times a product and scales it up."
)


@dataclass(frozen=True)
class Way:
    """A run from the start of its process: parts in ns, which add up to `total_ns`."""

    approach: str
    parts_ns: dict[str, int | None]
    """By NAMED; None where a run did not tell."""
    epochs: int
    epochs_ns: int
    total_ns: int
    reached: bool
    flops: int | None

    @property
    def rest_ns(self) -> int:
        """What no part has."""
        return self.total_ns - self.epochs_ns - sum(part or 0 for part in self.parts_ns.values())


def end_to_end(outcomes: Sequence[Outcome]) -> Section | None:
    """Return what each approach of the grid spends until it has learned; None where none was run at batch 32."""
    table = ways_table(outcomes)
    return None if table is None else Section(KEY, "End to end", (Paragraph(_MEANING), table))


def ways_table(outcomes: Sequence[Outcome]) -> Table | None:
    """Return a row for each approach, of its repeats the one with the median total; None without any."""
    repeats: dict[str, list[Way]] = {}
    for outcome in outcomes:
        if (way := way_of(outcome)) is not None:
            repeats.setdefault(way.approach, []).append(way)
    if not repeats:
        return None
    rows = tuple(_row(_typical(ways), outcomes) for ways in repeats.values())
    columns = (
        Column("approach"),
        *(Column(name, "ns", "in start" if name == "imports" else "not told") for name in NAMED),
        Column("epochs", "count"),
        Column("their time", "ns"),
        Column("rest", "ns"),
        Column("in all", "ns"),
        Column("target"),
        Column("predicted by a product alone", "ns", "not measured"),
        Column("in all ÷ predicted", "number"),
    )
    return Table("From the start of a process to the target", columns, rows, len(rows))


def way_of(outcome: Outcome) -> Way | None:
    """Return the way of a run of the grid at batch 32; None of any other, and of one that does not tell its start."""
    run = outcome.run
    if outcome.cell.part != "grid" or run is None or not run.epochs or run.parameters.get("batch") != BATCH:
        return None
    if run.wall_ns is None or "start" not in run.preparation_ns:
        return None
    walls = [epoch.wall_ns for epoch in run.epochs]
    target_ns = time_to_target_ns(outcome)
    count = len(walls) if target_ns is None else _count(walls, target_ns)
    slower_ns = max(0, walls[0] - round(median(walls[1:]))) if len(walls) > 1 else 0
    compiled_ns = run.preparation_ns.get("compilation", 0) + slower_ns
    parts: dict[str, int | None] = {name: run.preparation_ns.get(name) for name in NAMED}
    return Way(
        outcome.cell.approach,
        {**parts, "compilation": compiled_ns},
        count,
        sum(walls[:count]) - slower_ns,
        run.preparation_ns["start"] + run.wall_ns - sum(walls[count:]),
        target_ns is not None,
        _flops(run, count),
    )


def predicted_ns(outcomes: Sequence[Outcome], approach: str, flops: int | None) -> int | None:
    """Return how long so many operations would take at the rate of one product alone in the approach's library.

    None where the product was not measured there, or the operations are not known.
    """
    library = next((library for library, trains in LIBRARIES if trains == approach), None)
    rates = [
        outcome.step_median_ns / outcome.run.arithmetic.flops_per_step
        for outcome in outcomes
        if (outcome.cell.workload, outcome.cell.approach) == ("matmul", library) and outcome.step_median_ns
        if outcome.run and outcome.run.arithmetic and outcome.run.arithmetic.flops_per_step
    ]
    return round(flops * median(rates)) if flops and rates else None


def _row(way: Way, outcomes: Sequence[Outcome]) -> tuple[Cell, ...]:
    predicted = predicted_ns(outcomes, way.approach, way.flops)
    return (
        way.approach,
        *(way.parts_ns[name] for name in NAMED),
        way.epochs,
        way.epochs_ns,
        way.rest_ns,
        way.total_ns,
        "reached" if way.reached else "not reached",
        predicted,
        way.total_ns / predicted if predicted else None,
    )


def _typical(ways: Sequence[Way]) -> Way:
    middle = median_low(way.total_ns for way in ways)
    return next(way for way in ways if way.total_ns == middle)


def _count(walls: Sequence[int], until_ns: int) -> int:
    """Return how many epochs take so long together."""
    return next(count for count in range(1, len(walls) + 1) if sum(walls[:count]) >= until_ns)


def _flops(run: RunManifest, epochs: int) -> int | None:
    per_epoch = run.arithmetic.flops_per_epoch if run.arithmetic else None
    return None if per_epoch is None else epochs * per_epoch
