"""R2's table: what `loss.item()` costs by how often it is called, and the loss curve it draws."""

from collections.abc import Sequence

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, lines
from wallsplit_study.frames import summary
from wallsplit_study.results import numbers, whole

KEY = "item"
_MEANING = (
    "Each call copies a number to the host and waits for it. On a CPU there is nothing to wait for, so only a GPU can "
    f"show a cost. Published: {published.ITEM_EPOCHS:,} epochs, {published.R2}, GPU; on its CPU the "
    f"same model took {published.IRIS_CPU_SECONDS:.2f} s."
)


def items(outcomes: Sequence[Outcome]) -> Section | None:
    """Return seconds by interval of `item()`, ours and the published ones; None where nothing of it was run."""
    frame = summary(outcomes, "item")
    if frame.is_empty():
        return None
    theirs = {one.item_every: one for one in published.ITEMS}
    rows = tuple(
        (
            row["approach"],
            row["item_every"],
            *_calls(outcomes, row["approach"], row["item_every"]),
            row["epochs"],
            row["median_ns"],
            row["min_ns"],
            row["max_ns"],
            row["n"],
            row["status"],
            theirs[row["item_every"]].seconds * 1e9 if row["item_every"] in theirs else None,
        )
        for row in frame.iter_rows(named=True)
    )
    columns = (
        Column("approach"),
        Column("item() every … epochs", "count"),
        Column("calls", "count"),
        Column("time inside item()", "ns"),
        Column("epochs", "count"),
        Column("median", "ns", "not measured"),
        Column("min", "ns"),
        Column("max", "ns"),
        Column("repeats", "count"),
        Column("status"),
        Column(f"published, GPU, {published.ITEM_EPOCHS:,} epochs", "ns"),
    )
    table = Table("Time of all epochs by how often the loss is fetched", columns, rows, len(rows))
    curve = loss_curve(outcomes)
    blocks = (*_figures(frame), Paragraph(_MEANING), table, *((curve,) if curve else ()))
    return Section(KEY, "Cost of item()", blocks)


def loss_curve(outcomes: Sequence[Outcome]) -> Figure | None:
    """Return the loss over the epochs of the run that fetched it most often; None where no run fetched it."""
    curves = [(one.cell.approach, _curve(one)) for one in outcomes if one.cell.part == KEY]
    approach, points = max(curves, key=lambda curve: len(curve[1]), default=("", ()))
    if not points:
        return None
    return Figure(
        name="iris-loss",
        section=KEY,
        caption="Loss of the Iris model over its epochs",
        alt=f"{approach}: from {points[0].value:.4f} after epoch {points[0].at:,.0f} to {points[-1].value:.4f} "
        f"after epoch {points[-1].at:,.0f}",
        draw=lambda: lines([Series(approach, points, 0)], "epoch", "loss"),
    )


def _curve(outcome: Outcome) -> tuple[Point, ...]:
    curve = outcome.run.results.get("loss_curve") if outcome.run else None
    pairs = [numbers(pair) for pair in curve] if isinstance(curve, list) else []
    return tuple(Point(*pair) for pair in pairs if len(pair) == 2)


def _calls(outcomes: Sequence[Outcome], approach: str, every: int | None) -> tuple[int | None, int | None]:
    """Return the calls of item() in a run, and the time in ns inside them, of the last repeat."""
    for outcome in reversed(outcomes):
        run = outcome.run if outcome.cell.part == KEY and outcome.cell.approach == approach else None
        if run and run.parameters.get("item_every") == every:
            return whole(run.results, "item_calls"), whole(run.results, "item_wall_ns")
    return None, None


def _figures(frame: pl.DataFrame) -> tuple[Figure, ...]:
    measured = frame.filter((pl.col("n") > 0) & (pl.col("item_every") > 0))
    if measured.is_empty():
        return ()
    names = measured["approach"].unique(maintain_order=True).to_list()
    series = []
    for look, name in enumerate(names):
        own = measured.filter(pl.col("approach") == name).sort("item_every").iter_rows(named=True)
        points = (Point(r["item_every"], r["median_ns"] / 1e9, r["min_ns"] / 1e9, r["max_ns"] / 1e9) for r in own)
        series.append(Series(name, tuple(points), look))
    if measured["epochs"].eq(published.ITEM_EPOCHS).all():
        theirs = tuple(Point(one.item_every, one.seconds) for one in published.ITEMS)
        series.append(Series("iris-gpu", theirs, len(names), published=True))
    ticks = sorted({int(point.at) for one in series for point in one.points})
    words = (
        f"{row['approach']} every {row['item_every']:,}: {units.ns(row['median_ns'])}"
        for row in measured.iter_rows(named=True)
    )
    figure = Figure(
        name=KEY,
        section=KEY,
        caption="Seconds of all epochs by the interval of item()",
        alt="; ".join(words),
        draw=lambda: lines(series, "epochs from one item() to the next", "seconds", ticks=ticks, log_across=True),
    )
    return (figure,)
