"""How fast the approaches of the grid learn: loss over time, samples per second, time to a target accuracy."""

from collections.abc import Sequence
from itertools import accumulate
from statistics import median

from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit_study.cells import Outcome, extrapolated_to, samples_per_s
from wallsplit_study.charts import Point, Series, lines

KEY = "learning"
TARGET = 0.8
"""Ratio of validation samples classified right: MNIST and Fashion-MNIST reach it in the first epochs."""

Place = tuple[str, int]


def learning(outcomes: Sequence[Outcome]) -> Section | None:
    """Return throughput, scores and time to the target of every place of the grid; None without any epoch."""
    places = _by_place(outcomes)
    if not places:
        return None
    rows = tuple(_row(place, runs) for place, runs in places.items())
    columns = (
        Column("approach"),
        Column("batch", "count"),
        Column("training samples per s", "number"),
        Column("loss", "text"),
        Column("validation accuracy", "ratio"),
        Column("epochs", "count"),
        Column(f"time to {TARGET:.0%} validation accuracy", "ns", "not reached"),
    )
    meaning = (
        "Losses and accuracies are those of the last epoch run, so few epochs say how learning begins and not where it "
        "ends. Time to the target sums whole epochs, the first with its compilation included, imports left out; of "
        "jax-vmap the best of its models counts. Medians over the repeats."
    )
    table = Table("Throughput and time to a target", columns, rows, len(rows))
    return Section(KEY, "Learning", (*_figures(places), Paragraph(meaning), table))


def time_to_target_ns(outcome: Outcome, target: float = TARGET) -> int | None:
    """Return the time in ns until the end of the first epoch that reached the accuracy; None: none did.

    Epochs over a part of the samples, which a run extrapolates from, say nothing of it.
    """
    epochs = outcome.run.epochs if outcome.run and extrapolated_to(outcome) is None else ()
    ends = accumulate(epoch.wall_ns for epoch in epochs)
    reached = (end for end, epoch in zip(ends, epochs, strict=True) if (epoch.validation_accuracy or 0.0) >= target)
    return next(reached, None)


def _by_place(outcomes: Sequence[Outcome]) -> dict[Place, list[Outcome]]:
    """Return the measured outcomes of the grid by approach and batch, in order of both."""
    places: dict[Place, list[Outcome]] = {}
    for outcome in outcomes:
        batch = outcome.run.parameters.get("batch") if outcome.run else None
        if outcome.cell.part == "grid" and outcome.run and outcome.run.epochs and isinstance(batch, int):
            places.setdefault((outcome.cell.approach, batch), []).append(outcome)
    names = list(dict.fromkeys(name for name, _ in places))
    return dict(sorted(places.items(), key=lambda item: (names.index(item[0][0]), item[0][1])))


def _row(place: Place, outcomes: Sequence[Outcome]) -> tuple[Cell, ...]:
    lasts = [outcome.run.epochs[-1] for outcome in outcomes if outcome.run]
    losses = [epoch.loss for epoch in lasts if epoch.loss is not None]
    accuracies = [epoch.validation_accuracy for epoch in lasts if epoch.validation_accuracy is not None]
    rates = [rate for outcome in outcomes if (rate := samples_per_s(outcome)) is not None]
    times = [time_to_target_ns(outcome) for outcome in outcomes]
    reached = [time for time in times if time is not None]
    return (
        *place,
        median(rates) if rates else None,
        f"{median(losses):.4f}" if losses else None,
        median(accuracies) if accuracies else None,
        len(outcomes[-1].run.epochs) if outcomes[-1].run else None,
        round(median(reached)) if len(reached) == len(times) else None,
    )


def _figures(places: dict[Place, list[Outcome]]) -> tuple[Figure, ...]:
    """Return the loss over time at each approach's smallest batch, of its last repeat."""
    smallest: dict[str, tuple[int, Outcome]] = {}
    for (name, batch), outcomes in places.items():
        smallest.setdefault(name, (batch, outcomes[-1]))
    curves = {f"{name}, batch {batch:,}": _curve(outcome) for name, (batch, outcome) in smallest.items()}
    drawn = [Series(title, points, look) for look, (title, points) in enumerate(curves.items()) if points]
    if not drawn:
        return ()
    words = (f"{curve.title}: {curve.points[-1].value:.4f} after {curve.points[-1].at:,.2f} s" for curve in drawn)
    figure = Figure(
        name="loss",
        section=KEY,
        caption="Training loss against time, a point per epoch; each approach at its smallest batch",
        alt="; ".join(words),
        draw=lambda: lines(drawn, "seconds", "training loss", log_across=True),
    )
    return (figure,)


def _curve(outcome: Outcome) -> tuple[Point, ...]:
    epochs = outcome.run.epochs if outcome.run and extrapolated_to(outcome) is None else ()
    ends = accumulate(epoch.wall_ns for epoch in epochs)
    pairs = zip(ends, epochs, strict=True)
    return tuple(Point(end / 1e9, epoch.loss) for end, epoch in pairs if epoch.loss is not None and end)
