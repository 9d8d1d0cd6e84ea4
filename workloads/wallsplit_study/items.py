"""R2's table: what `loss.item()` costs by how often it is called, fitted, and the loss curve it draws."""

from collections.abc import Sequence

import polars as pl

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.charts import Point, Series, lines
from wallsplit_study.fitting import Line, line
from wallsplit_study.frames import summary
from wallsplit_study.results import numbers, records, text, texts, whole

KEY = "item"
_PRINTS = published.ITEM_EPOCHS // published.ITEM_PRINTED_EVERY
_MEANING = (
    "Each call copies a number to the host and waits for it. On a CPU there is nothing to wait for, so only a GPU can "
    f"show what waiting costs. The published loop prints its loss every {published.ITEM_PRINTED_EVERY} epochs, and "
    f"printing a tensor calls item(), too: in {published.ITEM_EPOCHS:,} epochs each of its rows made at least "
    f"{_PRINTS} calls beyond those it names. Measured here are both programs, its printing kept and its printing "
    f"removed. Published: {published.ITEM_EPOCHS:,} epochs, {published.R2}, GPU; on its CPU the same model took "
    f"{published.IRIS_CPU_SECONDS:.2f} s."
)


def items(outcomes: Sequence[Outcome]) -> Section | None:
    """Return seconds by interval of `item()`, ours and the published ones; None where nothing of it was run."""
    frame = summary(outcomes, "item")
    if frame.is_empty():
        return None
    curve = loss_curve(outcomes)
    blocks = (
        *_figures(frame),
        Paragraph(_MEANING),
        intervals(frame, outcomes),
        published_intervals(),
        costs(outcomes),
        *_ways(outcomes),
        *((curve,) if curve else ()),
    )
    return Section(KEY, "Cost of item()", blocks)


def intervals(frame: pl.DataFrame, outcomes: Sequence[Outcome]) -> Table:
    """Return the time of all epochs by program and interval; calls are those of the program, printing included."""
    rows = tuple(
        (
            row["approach"],
            row["item_every"],
            *_calls(outcomes, row["approach"], row["item_every"]),
            *(row[name] for name in ("epochs", "median_ns", "min_ns", "max_ns", "n", "status")),
        )
        for row in frame.iter_rows(named=True)
    )
    columns = (
        Column("approach"),
        Column("item() every … epochs", "count"),
        Column("calls in all", "count"),
        Column("time inside item(), printing left out", "ns"),
        Column("epochs", "count"),
        Column("median", "ns", "not measured"),
        Column("min", "ns"),
        Column("max", "ns"),
        Column("repeats", "count"),
        Column("status"),
    )
    return Table("Time of all epochs by how often the loss is fetched", columns, rows, len(rows))


def published_intervals() -> Table:
    """Return the published seconds by interval, with the calls they name and those their printing adds."""
    rows = tuple((row.item_every, row.calls, row.calls + _PRINTS, row.seconds * 1e9) for row in published.ITEMS)
    columns = (
        Column("item() every … epochs", "count"),
        Column("calls it names", "count"),
        Column("calls with its printing, at least", "count"),
        Column("all epochs", "ns"),
    )
    return Table(f"Published, {published.R2}, GPU", columns, rows, len(rows))


def costs(outcomes: Sequence[Outcome]) -> Table:
    """Return what a call costs by program, and in the published one: the slope of the time of all epochs over calls."""
    names = dict.fromkeys(outcome.cell.approach for outcome in outcomes if outcome.cell.part == KEY)
    fitted = {name: cost(outcomes, name) for name in names}
    rows = tuple(
        (name, *((found.per, found.per_error, found.floor, found.floor_error) if found else (None,) * 4))
        for name, found in [*fitted.items(), ("published, GPU", published_cost())]
    )
    columns = (
        Column("approach"),
        Column("a call costs", "change_ns", "not fitted"),
        Column("± standard error of it", "ns"),
        Column("all epochs without a call", "ns"),
        Column("± standard error of that", "ns"),
    )
    return Table(
        "Time of all epochs = a + b × calls, least squares over every run: b is what a call costs",
        columns,
        rows,
        len(rows),
    )


def _ways(outcomes: Sequence[Outcome]) -> tuple[Table, ...]:
    """Return what calling the model's `forward` skips, as the last run found; nothing where no run looked."""
    runs = [outcome.run for outcome in outcomes if outcome.cell.part == KEY and outcome.run]
    found = next((calls for run in reversed(runs) if (calls := records(run, "calls"))), [])
    rows = tuple(
        (text(way, "way"), ", ".join(texts(way.get("hooks_fired"))) or None, whole(way, "median_ns")) for way in found
    )
    columns = (Column("call"), Column("hooks that fire", null="none"), Column("host time of a call", "ns"))
    table = Table(
        "Calling the Iris model, and calling its forward: hooks registered on every module", columns, rows, len(rows)
    )
    return (table,) if rows else ()


def published_cost() -> Line:
    """Return the line through the published rows: their time in ns over their calls, those of the printing included."""
    fitted = line([row.calls + _PRINTS for row in published.ITEMS], [row.seconds * 1e9 for row in published.ITEMS])
    assert fitted is not None  # five intervals
    return fitted


def cost(outcomes: Sequence[Outcome], approach: str) -> Line | None:
    """Return the line through a program's runs: their time in ns over their calls of item(); None of one interval."""
    points = [
        (calls, outcome.epochs_wall_ns)
        for outcome in outcomes
        if outcome.cell.part == KEY
        and outcome.cell.approach == approach
        and outcome.run
        and outcome.epochs_wall_ns is not None
        if (calls := whole(outcome.run.results, "item_calls")) is not None
    ]
    return line([calls for calls, _ in points], [wall for _, wall in points])


def loss_curve(outcomes: Sequence[Outcome]) -> Figure | None:
    """Return the loss over the epochs of the run that fetched it most often; None where no run fetched it."""
    curves = [(outcome.cell.approach, _curve(outcome)) for outcome in outcomes if outcome.cell.part == KEY]
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
        theirs = tuple(Point(row.item_every, row.seconds) for row in published.ITEMS)
        series.append(Series("iris-gpu", theirs, len(names), published=True))
    ticks = sorted({int(point.at) for curve in series for point in curve.points})
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
