"""What the tables of a study share: the columns of a measured place, and frames made into tables."""

from collections.abc import Sequence

import polars as pl

from wallsplit import units
from wallsplit.report.document import Cell, Column, Table

_COLUMNS = {
    "approach": Column("approach"),
    "workload": Column("workload"),
    "batch": Column("batch", "count"),
    "item_every": Column("item() every … epochs", "count"),
    "epochs": Column("epochs", "count"),
    "train_samples": Column("training samples", "count"),
    "steps": Column("steps", "count"),
    "compile_ns": Column("compiled before it", "ns"),
    "extrapolated_from": Column("extrapolated from", "count"),
    "median_ns": Column("median", "ns", "not measured"),
    "min_ns": Column("min", "ns"),
    "max_ns": Column("max", "ns"),
    "spread_ratio": Column("(max − min) ÷ median", "ratio"),
    "n": Column("repeats", "count"),
    "first_epoch_ns": Column("first epoch", "ns"),
    "samples_per_s": Column("samples per s", "number"),
    "status": Column("status"),
}
PLACES = ("median_ns", "min_ns", "max_ns", "spread_ratio", "n", "first_epoch_ns", "status")


def places(caption: str, frame: pl.DataFrame, shown: Sequence[str]) -> Table:
    """Return the named columns of a summary, a row for every place, measured or not."""
    return Table(caption, tuple(_COLUMNS[name] for name in shown), tuple(frame.select(shown).rows()), frame.height)


def median_or_status(row: dict[str, Cell] | None) -> Cell:
    """Return the median of a row of a summary in ns, or why there is none; None where the place was not run.

    An extrapolated one is a text that says so.
    """
    if row is None:
        return None
    if not row["n"]:
        return row["status"]
    time_ns, taken = row["median_ns"], row.get("extrapolated_from")
    if isinstance(time_ns, int) and isinstance(taken, int):
        return f"≈ {units.ns(time_ns)}, from {units.count(taken)} samples"
    return time_ns
