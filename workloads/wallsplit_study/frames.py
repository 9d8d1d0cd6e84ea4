"""The outcomes of a study as frames: one row a measured place, with median and spread over the repeats."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from wallsplit_study.cells import Outcome, Part, first_epoch_ns, samples_per_s, value_ns

CELLS: Final = {
    "part": pl.String,
    "workload": pl.String,
    "approach": pl.String,
    "device": pl.String,
    "batch": pl.Int64,
    "item_every": pl.Int64,
    "epochs": pl.Int64,
    "repeat": pl.Int64,
    "status": pl.String,
    "message": pl.String,
    "value_ns": pl.Int64,
    "first_epoch_ns": pl.Int64,
    "train_samples": pl.Int64,
    "samples_per_s": pl.Float64,
    "processor": pl.String,
}

PLACE: Final = ("part", "workload", "approach", "device", "batch", "item_every", "epochs")


def cells(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """Return one row per outcome; times in ns, null = not measured."""
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
            outcome.run.data.train_samples if outcome.run and outcome.run.data else None,
            samples_per_s(outcome),
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
            pl.col("first_epoch_ns").median().round().cast(pl.Int64),
            pl.col("train_samples").last(),
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


def _processor(outcome: Outcome) -> str | None:
    if outcome.run is None:
        return None
    if outcome.run.gpu:
        return outcome.run.gpu.name
    return outcome.run.cpu.model if outcome.run.cpu else None
