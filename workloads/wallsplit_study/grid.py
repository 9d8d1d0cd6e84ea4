"""R1's grid: time per epoch, approach against batch size, its floors, and published figures beside it."""

from collections.abc import Sequence

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, lines
from wallsplit_study.frames import summary
from wallsplit_study.tables import PLACES, median_or_status, places

KEY = "grid"
_MEANING = (
    "Time per epoch is the median over the epochs after the first, which compiles (of a run of one epoch: that one); "
    "shown is the median over the repeats, which took turns. An epoch is 48,000 training and 12,000 validation samples "
    "unless the table says otherwise; one of jax-vmap trains five models."
)


def grid(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the grid and its floors; None where nothing of it was run."""
    frame = summary(outcomes, "grid")
    if frame.is_empty():
        return None
    measured = frame.filter(pl.col("n") > 0)
    blocks = (
        *((figure(measured),) if not measured.is_empty() else ()),
        Paragraph(_MEANING),
        medians(frame),
        *((floors(measured),) if not measured.is_empty() else ()),
        beside_published(frame),
        places("Every place of the grid", frame, ("approach", "batch", "train_samples", *PLACES)),
    )
    return Section(KEY, "Time per epoch", blocks)


def medians(frame: pl.DataFrame) -> Table:
    """Return approaches as rows, batch sizes as columns, median time per epoch or why there is none."""
    batches = frame["batch"].drop_nulls().unique().sort().to_list()
    found = {(row["approach"], row["batch"]): row for row in frame.iter_rows(named=True)}
    names = frame["approach"].unique(maintain_order=True).to_list()
    rows = tuple((name, *(median_or_status(found.get((name, batch))) for batch in batches)) for name in names)
    columns = (Column("approach"), *(Column(f"batch {batch:,}", "ns", "not run") for batch in batches))
    return Table("Median time per epoch", columns, rows, len(rows))


def floors(measured: pl.DataFrame) -> Table:
    """Return the fastest batch of each approach, the fastest approach first, and how the slowest place compares."""
    slowest = measured.sort("median_ns", descending=True, maintain_order=True).row(0, named=True)
    best = measured.sort("median_ns", maintain_order=True).unique("approach", keep="first", maintain_order=True)
    rows = tuple(
        (row["approach"], row["median_ns"], row["batch"], _ratio(slowest["median_ns"], row["median_ns"]))
        for row in best.iter_rows(named=True)
    )
    columns = (
        Column("approach"),
        Column("floor", "ns"),
        Column("at batch", "count"),
        Column(f"times as fast as {_named(slowest)}", "number"),
    )
    return Table(
        "The floor of each approach, and its speed-up against the slowest place measured", columns, rows, len(rows)
    )


def beside_published(frame: pl.DataFrame) -> Table:
    """Return the published times per epoch, ours at the same batch (best, smallest) beside them."""
    rows = tuple(
        (p.approach, p.batch, p.seconds * 1e9, _ours(frame, p.approach, p.batch), p.note) for p in published.EPOCHS
    )
    columns = (
        Column("approach"),
        Column("batch", "count"),
        Column("published", "ns"),
        Column("measured here", "ns", "not measured"),
        Column("what was published"),
    )
    caption = f"Published beside measured, whole epochs only. Published: {published.R1}"
    return Table(caption, columns, rows, len(rows))


def figure(measured: pl.DataFrame) -> Figure:
    """Return the lines of time per epoch over batch size, published points hollow."""
    names = measured["approach"].unique(maintain_order=True).to_list()
    looks = {name: look for look, name in enumerate(dict.fromkeys([*names, *(p.approach for p in published.EPOCHS)]))}
    series = [
        Series(
            name,
            tuple(
                _point(row) for row in measured.filter(pl.col("approach") == name).sort("batch").iter_rows(named=True)
            ),
            looks[name],
        )
        for name in names
    ]
    comparable = measured["train_samples"].eq(published.TRAIN_SAMPLES).any()
    theirs = published.EPOCHS if comparable else ()
    at = [(p.approach, Point(p.batch, p.seconds)) for p in theirs if isinstance(p.batch, int)]
    for name in dict.fromkeys(approach for approach, _ in at):
        points = tuple(point for approach, point in at if approach == name)
        series.append(Series(name, points, looks[name], published=True))
    ticks = sorted({int(point.at) for one in series for point in one.points})
    words = (f"{_named(row)}: {units.ns(row['median_ns'])}" for row in measured.iter_rows(named=True))
    return Figure(
        name=KEY,
        section=KEY,
        caption="Seconds per epoch against batch size: median, lowest and highest repeat; published figures hollow",
        alt="; ".join(words),
        draw=lambda: lines(series, "batch size", "seconds per epoch", ticks=ticks, log_across=True, log_up=True),
    )


def _point(row: dict[str, int]) -> Point:
    return Point(row["batch"] or 0, row["median_ns"] / 1e9, row["min_ns"] / 1e9, row["max_ns"] / 1e9)


def _ours(frame: pl.DataFrame, approach: str, batch: int | str) -> int | None:
    whole = (pl.col("approach") == approach) & (pl.col("train_samples") == published.TRAIN_SAMPLES) & (pl.col("n") > 0)
    own = frame.filter(whole)
    if batch == "smallest":
        own = own.sort("batch").head(1)
    elif batch != "best":
        own = own.filter(pl.col("batch") == batch)
    value = own["median_ns"].min()
    return value if isinstance(value, int) else None


def _named(row: dict[str, int]) -> str:
    return f"{row['approach']} at batch {row['batch']:,}" if row["batch"] else str(row["approach"])


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None
