"""The generated blocks on R2, R3 and word2vec: calls of item(), hooks, causes and their remedies."""

from typing import Any

import polars as pl

from wallsplit import units
from wallsplit.report.document import Cell, Column
from wallsplit.report.markdown import escape
from wallsplit_study import published
from wallsplit_study.frames import summary
from wallsplit_study.items import cost, published_cost
from wallsplit_study.page.text import ABSENT, Study, paragraph, table, with_error
from wallsplit_study.remedies import compared_within
from wallsplit_study.results import records, text, texts, whole
from wallsplit_study.tables import median_or_status


def items(study: Study) -> str:
    """Return R2's times by interval, both programs, the published ones and what a call costs."""
    frame = summary(study.outcomes, "item")
    mine = {(row["approach"], row["item_every"]): median_or_status(row) for row in frame.iter_rows(named=True)}
    theirs = {item.item_every: item for item in published.ITEMS}
    prints = published.ITEM_EPOCHS // published.ITEM_PRINTED_EVERY
    programs = ("iris-cpu, printing", "iris-cpu, no printing")
    rows = tuple(
        (
            every,
            published.ITEM_EPOCHS // every,
            published.ITEM_EPOCHS // every + prints,
            *(mine.get((program, every)) for program in programs),
            theirs[every].seconds * 1e9 if every in theirs else None,
        )
        for every in sorted({every for _, every in mine if every} | set(theirs))
    )
    columns = (
        Column("item() every … epochs", "count"),
        Column("calls", "count"),
        Column("with the printing's, at least", "count"),
        Column("our CPU, printing", "ns", ABSENT),
        Column("our CPU, no printing", "ns", ABSENT),
        Column("published, GPU", "ns"),
    )
    return table(columns, rows)


def item_cost(study: Study) -> str:
    """Return in words what a call of item() costs in each program, with its standard error."""
    fitted = {name: cost(study.outcomes, f"iris-cpu, {name}") for name in ("printing", "no printing")}
    takes = [
        f"{with_error(line.per, line.per_error)} a call with {name}"
        for name, line in fitted.items()
        if line is not None
    ]
    floors = [units.ns(line.floor) for line in fitted.values() if line is not None]
    slope = published_cost()
    measured = (
        f"On our CPU: {'; '.join(takes)}, of {' and '.join(floors)} in all." if takes else f"On our CPU: {ABSENT}."
    )
    return paragraph(
        f"The slope of the time over the calls is what a call costs. Published, on the GPU: "
        f"{with_error(slope.per, slope.per_error)} a call. {measured}"
    )


def forward(study: Study) -> str:
    """Return in words what calling `forward` skips, as the last run of the Iris model found it."""
    found = next((ways for run in reversed(study.runs) if (ways := records(run, "calls"))), [])
    said = "; ".join(
        f"`{escape(text(way, 'way') or ABSENT)}` fired the hooks of {len(texts(way.get('hooks_fired')))} modules "
        f"({escape(', '.join(texts(way.get('hooks_fired'))))}) and took {units.ns(whole(way, 'median_ns') or 0)}"
        for way in found
    )
    return paragraph(f"Here, of the model and its three layers: {said}." if said else f"Here: {ABSENT}.")


def causes(study: Study) -> str:
    """Return samples per second of R3's causes as they are and remedied, where both were measured."""
    frame = summary(study.outcomes, "causes").filter(pl.col("n") > 0)
    firsts: dict[tuple[Any, ...], dict[str, Any]] = {}
    rows: list[tuple[Cell, ...]] = []
    for row in frame.iter_rows(named=True):
        group = (row["workload"], compared_within(row["approach"]))
        before = firsts.setdefault(group, row)
        if before is not row:
            name = f"{row['workload']}, {group[1]}" if group[1] else str(row["workload"])
            rates = [None if rate is None else round(rate) for rate in (before["samples_per_s"], row["samples_per_s"])]
            rows.append((name, before["approach"], rates[0], row["approach"], rates[1]))
    columns = (
        Column("workload"),
        Column("as it is"),
        Column("samples per s", "count", ABSENT),
        Column("remedied"),
        Column("samples per s", "count", ABSENT),
    )
    return table(columns, tuple(rows))


def word2vec(study: Study) -> str:
    """Return in words how long word2vec takes by its workers."""
    frame = summary(study.outcomes, "word2vec").filter(pl.col("n") > 0)
    takes = [f"{units.ns(row['median_ns'])} with {escape(row['approach'])}" for row in frame.iter_rows(named=True)]
    return paragraph(f"word2vec (Gensim, generated Zipf corpus) takes {' and '.join(takes) or ABSENT}.")
