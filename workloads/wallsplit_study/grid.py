"""R1's grid: time per epoch, approach against batch size, what is paid an epoch, a step and once, and the published."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, lines
from wallsplit_study.fitting import Line, line
from wallsplit_study.frames import summary
from wallsplit_study.tables import PLACES, median_or_status, places

KEY = "grid"
_SEVERAL: Final = ("jax-vmap", "jax-vmap-gpu")  # an epoch of theirs trains five models
BASELINE_BATCH: Final = 32
_BASELINES: Final = ("keras-cpu", "keras-gpu")
_MEANING = (
    "Time per epoch is the median over the epochs after the first, which compiles (of a run of one epoch: that one); "
    "shown is the median over the repeats, which took turns. An epoch is 48,000 training and 12,000 validation samples "
    "unless the table says otherwise; one of jax-vmap trains five models. “≈” marks an epoch extrapolated from a part "
    "of its samples."
)
_LINES = (
    "Each approach pays a for an epoch, whatever the batch, and b for each of its steps: epoch = a + b × steps, "
    "training and validation steps together. a is its floor and holds the arithmetic; b is its tax per step. Least "
    "squares through the medians of the batches, as if all were wrong by the same ratio; ± are standard errors, which "
    "also hold how far a line is from being right. The published lines go through one floor and one epoch of 1,875 "
    "steps, so that they have no error"
)


def grid(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the grid, what each approach pays an epoch, a step and once; None where nothing of it was run."""
    frame = summary(outcomes, "grid")
    if frame.is_empty():
        return None
    measured = frame.filter(pl.col("n") > 0)
    blocks = (
        *((figure(measured),) if not measured.is_empty() else ()),
        Paragraph(_MEANING),
        medians(frame),
        Paragraph(f"{_LINES}; {_published_smallest()}."),
        taxes(measured),
        first_epochs(measured),
        beside_published(frame),
        places("Every place of the grid", frame, ("approach", "batch", "train_samples", "steps", *PLACES)),
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


def taxes(measured: pl.DataFrame) -> Table:
    """Return a and b of every approach with their errors, its fastest batch, and how that compares with Keras at 32."""
    rows: list[tuple[Cell, ...]] = []
    for name in measured["approach"].unique(maintain_order=True):
        own = measured.filter(pl.col("approach") == name)
        fastest = own.sort("median_ns", maintain_order=True).row(0, named=True)
        rows.append((name, *_terms(fitted(own)), fastest["median_ns"], fastest["batch"], speed_up(measured, fastest)))
    rows += [(f"{name}, published", *_terms(published_line(name)), None, None, None) for name in published.FLOORS]
    columns = (
        Column("approach"),
        Column("a: floor of an epoch", "change_ns", "not fitted"),
        Column("± of a", "ns"),
        Column("b: tax per step", "change_ns", "not fitted"),
        Column("± of b", "ns"),
        Column("fastest measured", "ns"),
        Column("at batch", "count"),
        Column(f"times as fast as Keras at batch {BASELINE_BATCH} on the same device", "number"),
    )
    return Table("Epoch = a + b × steps", columns, tuple(rows), len(rows))


def fitted(own: pl.DataFrame) -> Line | None:
    """Return the line through an approach's medians in ns over its steps; None with fewer than three batches."""
    known = own.drop_nulls(["steps", "median_ns"])
    if known["steps"].n_unique() < 3:
        return None
    return line(known["steps"].to_list(), known["median_ns"].to_list(), relative=True)


def published_line(approach: str) -> Line:
    """Return the line through a published floor and the published epoch at batch 32, in ns."""
    floor, steps = published.FLOORS[approach] * 1e9, sum(published.EPOCH_STEPS)
    return Line(floor, (published.epoch_seconds(approach, 32) * 1e9 - floor) / steps, None, None)


def speed_up(measured: pl.DataFrame, row: Mapping[str, Any]) -> float | None:
    """Return how many times as fast a place is as Keras at batch 32 on the same device; None without that."""
    baseline = measured.filter(_same_epoch(row), pl.col("approach").is_in(_BASELINES), batch=BASELINE_BATCH)
    if baseline.is_empty() or row["approach"] in _SEVERAL or not row["median_ns"]:
        return None
    return float(baseline["median_ns"][0] / row["median_ns"])


def headline(frame: pl.DataFrame) -> str | None:
    """Return how much faster the same mathematics runs than in Keras at batch 32, a device each; None without that."""
    measured = frame.filter(pl.col("n") > 0)
    said = []
    for base in measured.filter(pl.col("approach").is_in(_BASELINES), batch=BASELINE_BATCH).iter_rows(named=True):
        own = measured.filter(_same_epoch(base), ~pl.col("approach").is_in(_SEVERAL))
        own = own.sort("median_ns", maintain_order=True)
        fastest, alike = own.row(0, named=True), own.filter(batch=BASELINE_BATCH).row(0, named=True)
        if fastest["median_ns"] == base["median_ns"]:
            continue
        slow, fast = units.ns(base["median_ns"]), units.ns(fastest["median_ns"])
        text = (
            f"an epoch of {slow} in {_named(base)} takes {fast} in {_named(fastest)}: the same mathematics, "
            f"{_times(speed_up(measured, fastest))} faster, no hardware changed"
        )
        if alike["batch"] != fastest["batch"]:
            text += f" ({_times(speed_up(measured, alike))} at batch {BASELINE_BATCH}, in {alike['approach']})"
        said.append(text)
    return "; ".join(said) or None


def first_epochs(measured: pl.DataFrame) -> Table:
    """Return the first epoch of every place beside the later ones, and what was paid once, compilation included."""
    rows = tuple(
        (
            row["approach"],
            row["batch"],
            row["first_epoch_ns"],
            row["median_ns"],
            row["compile_ns"],
            row["first_epoch_ns"] - row["median_ns"] + (row["compile_ns"] or 0),
        )
        for row in measured.drop_nulls("first_epoch_ns").iter_rows(named=True)
    )
    columns = (
        Column("approach"),
        Column("batch", "count"),
        Column("first epoch", "ns"),
        Column("later epochs", "ns"),
        Column("compiled before the first", "ns", "in the first epoch, or nothing"),
        Column("paid once", "change_ns"),
    )
    return Table("First epochs, kept apart: a published epoch contains what is paid once", columns, rows, len(rows))


def beside_published(frame: pl.DataFrame) -> Table:
    """Return the published times per epoch, ours at the same batch (best, smallest) beside them, first epochs, too."""
    rows = tuple(
        (p.approach, p.batch, p.seconds * 1e9, *_ours(frame, p.approach, p.batch), p.note) for p in published.EPOCHS
    )
    columns = (
        Column("approach"),
        Column("batch", "count"),
        Column("published", "ns"),
        Column("measured here", "ns", "not measured"),
        Column("first epoch here", "ns", "not measured"),
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
    ticks = sorted({int(point.at) for curve in series for point in curve.points})
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


def _ours(frame: pl.DataFrame, approach: str, batch: int | str) -> tuple[Cell, Cell]:
    """Return our time per epoch and that of the first epoch, at a batch, at the smallest one, or at the best."""
    whole = (pl.col("approach") == approach) & (pl.col("train_samples") == published.TRAIN_SAMPLES) & (pl.col("n") > 0)
    own = frame.filter(whole)
    if batch == "smallest":
        own = own.sort("batch").head(1)
    elif batch != "best":
        own = own.filter(pl.col("batch") == batch)
    if own.is_empty():
        return None, None
    best = own.sort("median_ns", maintain_order=True).row(0, named=True)
    return median_or_status(best), best["first_epoch_ns"]


def _published_smallest() -> str:
    """Return which batch the published epoch at the smallest one would have had, by the line of its approach."""
    slowest = next(epoch for epoch in published.EPOCHS if epoch.batch == "smallest")
    own = published_line(slowest.approach)
    steps = (slowest.seconds * 1e9 - own.floor) / own.per
    batch = (published.TRAIN_SAMPLES + published.VALIDATION_SAMPLES) / steps
    about = f"about {round(steps, -1):,.0f} steps, a batch of about {batch:.0f}"
    return f"by its line, {slowest.approach}'s {slowest.seconds:g} s are {about}"


def _same_epoch(row: Mapping[str, Any]) -> pl.Expr:
    """Return whether a place is an epoch of as many samples on the same device."""
    return pl.col("device").eq_missing(row["device"]) & pl.col("train_samples").eq_missing(row["train_samples"])


def _terms(fitted: Line | None) -> tuple[float | None, ...]:
    return (fitted.floor, fitted.floor_error, fitted.per, fitted.per_error) if fitted else (None,) * 4


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f} ×" if ratio < 10 else f"{ratio:.0f} ×"


def _named(row: dict[str, int]) -> str:
    return f"{row['approach']} at batch {row['batch']:,}" if row["batch"] else str(row["approach"])
