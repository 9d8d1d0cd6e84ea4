"""The outcomes of a study as frames: one row a measured place, with median and spread over the repeats."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from wallsplit_study.cells import Outcome, Part, extrapolated_to, first_epoch_ns, samples_per_s, value_ns
from wallsplit_study.results import whole

CELLS: Final = {
    "part": pl.String,
    "workload": pl.String,
    "approach": pl.String,
    "asked_device": pl.String,
    "batch": pl.Int64,
    "item_every": pl.Int64,
    "epochs": pl.Int64,
    "repeat": pl.Int64,
    "status": pl.String,
    "message": pl.String,
    "value_ns": pl.Int64,
    "first_epoch_ns": pl.Int64,
    "compile_ns": pl.Int64,
    "steps": pl.Int64,
    "train_samples": pl.Int64,
    "extrapolated_from": pl.Int64,
    "samples_per_s": pl.Float64,
    "device": pl.String,
    "processor": pl.String,
}

PLACE: Final = ("part", "workload", "approach", "asked_device", "batch", "item_every", "epochs")


def cells(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """Return one row per outcome; times in ns, null = not measured.

    `steps` and `train_samples` are those of the epoch that `value_ns` is the time of; where it was extrapolated, it was
    so from `extrapolated_from` training samples. `asked_device` is the cell's own setting, null where it has none;
    `device` is where a run was.
    """
    rows = [
        (
            outcome.cell.part,
            outcome.cell.workload,
            outcome.cell.approach,
            outcome.cell.settings.get("device"),
            _integer(outcome, "batch"),
            _integer(outcome, "item_every"),
            _integer(outcome, "epochs"),
            outcome.cell.repeat,
            outcome.status,
            outcome.message,
            value_ns(outcome),
            first_epoch_ns(outcome),
            whole(outcome.run.results, "compile_wall_ns") if outcome.run else None,
            _steps(outcome),
            *_samples(outcome),
            samples_per_s(outcome),
            outcome.run.device if outcome.run else None,
            _processor(outcome),
        )
        for outcome in outcomes
    ]
    return pl.DataFrame(rows, schema=CELLS, orient="row")


def summary(outcomes: Sequence[Outcome], part: Part) -> pl.DataFrame:
    """Return one row per place of a part: median, min and max of its value in ns over n repeats, and its status.

    `spread_ratio` is (max − min) ÷ median. A place that is not measured has n = 0 and nulls, never a number.
    """
    value, status, seen = pl.col("value_ns"), pl.col("status"), pl.col("status") == "measured"
    return (
        cells([outcome for outcome in outcomes if outcome.cell.part == part])
        .group_by(PLACE, maintain_order=True)
        .agg(
            value.median().round().cast(pl.Int64).alias("median_ns"),
            value.min().alias("min_ns"),
            value.max().alias("max_ns"),
            ((value.max() - value.min()) / value.median()).alias("spread_ratio"),
            value.count().cast(pl.Int64).alias("n"),
            pl.when(seen.any()).then(pl.lit("measured")).otherwise(status.last()).alias("status"),
            pl.col("first_epoch_ns", "compile_ns").median().round().cast(pl.Int64),
            pl.col("steps", "train_samples", "extrapolated_from", "device").drop_nulls().last(),
            pl.col("samples_per_s").median(),
            pl.col("message").drop_nulls().last(),
            pl.col("processor").drop_nulls().last(),
        )
    )


def _integer(outcome: Outcome, name: str) -> int | None:
    """Return a whole-number parameter: as the run had it, else as it was asked for."""
    value = outcome.run.parameters.get(name) if outcome.run else None
    asked = outcome.cell.settings.get(name, "")
    if value is None and asked.isdecimal() and len(asked) < 19:  # what 64 bits hold
        return int(asked)
    return value if type(value) is int else None


def _samples(outcome: Outcome) -> tuple[int | None, int | None]:
    """Return the training samples of an epoch, and of how many of them it was extrapolated."""
    taken = outcome.run.data.train_samples if outcome.run and outcome.run.data else None
    to = extrapolated_to(outcome)
    return (taken, None) if to is None else (to, taken)


def _steps(outcome: Outcome) -> int | None:
    """Return the steps of an epoch, training and validation."""
    run = outcome.run
    if run is None or run.steps is None or run.steps.train is None:
        return None
    steps = run.steps.train + (run.steps.validation or 0)
    samples, taken = _samples(outcome)
    return round(steps * samples / taken) if samples and taken else steps


def _processor(outcome: Outcome) -> str | None:
    if outcome.run is None:
        return None
    if outcome.run.gpu:
        return outcome.run.gpu.name
    return outcome.run.cpu.model if outcome.run.cpu else None
