"""The study of two machines side by side, each named: what is measured on both, and how they compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import polars as pl

from wallsplit.report.document import Column, Fact, Facts, Paragraph, Section, Table
from wallsplit_study.cells import VALUE_TITLES, Outcome, Part, latest, machines
from wallsplit_study.frames import PLACE, summary

_MEANING = (
    "Medians of the same places under the same number of epochs, each machine by itself; nothing is averaged over the "
    "two. Below 1 the other machine is the faster one. What no machine measured is left out."
)


@dataclass(frozen=True)
class OtherMachine:
    """A study that was measured elsewhere, and where it lies."""

    source: str
    outcomes: Sequence[Outcome]


def two_machines(here: Sequence[Outcome], other: OtherMachine) -> Section | None:
    """Return the places of both studies, their medians in ns and the other's ÷ this one's; None without any."""
    there = latest(other.outcomes)
    parts = [both for part in get_args(Part) if (both := _both(here, there, part)).height]
    rows = tuple(row for frame in parts for row in frame.rows())
    if not rows:
        return None
    columns = (
        Column("part"),
        Column("workload"),
        Column("approach"),
        Column("batch", "count"),
        Column("item() every … epochs", "count"),
        Column("what is compared"),
        Column("this machine", "ns", "not measured"),
        Column("the other", "ns", "not measured"),
        Column("the other ÷ this", "number"),
    )
    names = (Fact("This machine", title(here)), Fact(f"The other ({other.source})", title(there)))
    table = Table("Two machines", columns, rows, len(rows))
    return Section("two-machines", "Two machines", (Facts(names), Paragraph(_MEANING), table))


def title(outcomes: Sequence[Outcome]) -> str | None:
    """Return the machine of the outcomes in words; None where they do not tell."""
    return "; ".join(_in_words(machine) for machine in machines(outcomes)) or None


def _in_words(machine: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in machine.items())


def _both(here: Sequence[Outcome], there: Sequence[Outcome], part: Part) -> pl.DataFrame:
    """Return a row for each place that either machine measured, in the order of the first, then of the second."""
    ours, theirs = (
        summary(outcomes, part).filter(pl.col("n") > 0).select(*PLACE, "median_ns") for outcomes in (here, there)
    )
    joined = ours.join(theirs, on=PLACE, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")
    return joined.select(
        "part",
        "workload",
        "approach",
        "batch",
        "item_every",
        pl.lit(VALUE_TITLES[part]).alias("compared"),
        "median_ns",
        "median_ns_right",
        (pl.col("median_ns_right") / pl.col("median_ns")).alias("ratio"),
    )
