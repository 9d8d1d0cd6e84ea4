"""The figures every summary shows of one quantity, and which rows a window keeps."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit import native
from wallsplit.errors import TraceError
from wallsplit.ledger.ledger import Window
from wallsplit.model.names import Names

MOST = 1 << 63
DURATION = pl.col("end") - pl.col("start")


def overlapping(rows: pl.DataFrame, window: Window | None) -> pl.DataFrame:
    """Return the rows whose [start, end) meets the window, at full length; all rows without a window.

    A row of length zero overlaps a window it lies in.
    """
    if window is None:
        return rows
    begins_before_end = pl.col("start") < window.end_ns
    ends_after_start = (pl.col("end") > window.start_ns) | (pl.col("start") >= window.start_ns)
    return rows.filter(begins_before_end & ends_after_start)


def statistics_of(value: pl.Expr, prefix: str, unit: str, *, total: bool = True) -> list[pl.Expr]:
    """Return aggregations named as `schema.statistics` names them; all null where every value is null.

    The standard deviation is the sample's, and 0 for a single value, as `nsys stats` prints it.
    """
    p = f"{prefix}_" if prefix else ""
    measured = value.count() > 0
    sums = [pl.when(measured).then(value.sum()).alias(f"{p}total_{unit}")] if total else []
    return [
        *sums,
        value.mean().alias(f"{p}avg_{unit}"),
        value.median().alias(f"{p}med_{unit}"),
        value.min().alias(f"{p}min_{unit}"),
        value.max().alias(f"{p}max_{unit}"),
        pl.when(measured).then(value.std(ddof=1).fill_null(0.0)).alias(f"{p}stddev_{unit}"),
    ]


def summarise(rows: pl.DataFrame, by: Sequence[str | pl.Expr], value: pl.Expr, unit: str) -> pl.DataFrame:
    """Return one row per distinct `by`: how many rows there are and the statistics of `value`, in `unit`.

    Raises:
        TraceError: the values add up to more than 64 bits hold, as those of no real trace do.
    """
    values = rows.select(*by, value=value).rechunk()  # a sum of floats differs by how threads cut the column
    check_sum(values["value"], unit)
    figures = pl.len().cast(pl.Int64).alias("count"), *statistics_of(pl.col("value"), "", unit)
    return values.group_by(pl.exclude("value")).agg(*figures)


def summarise_groups(
    groups: npt.NDArray[np.uint32], values: npt.NDArray[np.int64], size: int, prefix: str, unit: str
) -> pl.DataFrame:
    """Return what `summarise` does, `prefix` before its names, of values by group: a row per `group` that has any.

    Groups are numbers below `size`.

    Raises:
        TraceError: the values add up to more than 64 bits hold, as those of no real trace do.
    """
    found = native.statistics(values, groups, size)
    if found is None or abs(float(np.float64(found.total).sum())) >= MOST:
        rows = pl.DataFrame({"group": groups, "value": values})
        check_sum(rows["value"], unit)
        figures = pl.len().cast(pl.Int64).alias("count"), *statistics_of(pl.col("value"), prefix, unit)
        return rows.group_by("group").agg(*figures)
    p = f"{prefix}_" if prefix else ""
    names = ("count", f"{p}total_{unit}", f"{p}avg_{unit}", f"{p}med_{unit}", f"{p}min_{unit}", f"{p}max_{unit}")
    columns = dict(zip((*names, f"{p}stddev_{unit}"), found, strict=True))
    every = pl.DataFrame({"group": np.arange(size, dtype=np.uint32), **columns})
    return every.filter(pl.col("count") > 0)


def summarise_names(rows: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Return count, share and statistics of the lengths of rows, in ns, by `name`, a row of `names`.

    Raises:
        TraceError: the values add up to more than 64 bits hold, as those of no real trace do.
    """
    length = (rows["end"] - rows["start"]).to_numpy()
    summary = summarise_groups(rows["name"].to_numpy().astype(np.uint32), length, len(names.texts), "", "ns")
    return with_share(summary.rename({"group": "name"}))


def check_sum(values: pl.Series, unit: str) -> None:
    """Return if the values add up.

    Raises:
        TraceError: to more than 64 bits hold, as those of no real trace do.
    """
    if abs(float(values.cast(pl.Float64).sum())) >= MOST:
        raise TraceError(
            f"the {unit} of {len(values):,} rows add up to more than 64 bits hold, as those of no recording do; "
            "export the report again"
        )


def with_share(summary: pl.DataFrame) -> pl.DataFrame:
    """Return `summary` with `share_ratio`: total ÷ sum of the totals listed, null where that sum is 0."""
    listed = pl.col("total_ns").sum()
    return summary.with_columns(share_ratio=pl.when(listed != 0).then(pl.col("total_ns") / listed))


def largest_first(summary: pl.DataFrame, total: str, *names: str) -> pl.DataFrame:
    """Return `summary` by falling `total`, equal ones by `names`: the same order on every run."""
    by_name = summary.select(total, *names).with_row_index("row").sort(*names, nulls_last=True)
    # One stable sort after the other: of a million rows faster by far than one sort by all columns together.
    return summary[by_name.sort(total, descending=True, nulls_last=True, maintain_order=True)["row"]]
