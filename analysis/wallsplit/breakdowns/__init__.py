"""The tables: one question per file, each from the model alone; in the order of the report."""

from collections.abc import Iterator

import polars as pl

from wallsplit.breakdowns import (
    anomalies,
    api_summary,
    graph_replays,
    kernel_families,
    kernel_summary,
    launches,
    memory_size_summary,
    memory_time_summary,
    nsys_messages,
    nvtx_gpu_projection,
    nvtx_groups,
    nvtx_summary,
    osrt_summary,
)
from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.cores import Each, in_turn
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model

__all__ = ["BREAKDOWNS", "Breakdown", "each_table", "tables"]

BREAKDOWNS: tuple[Breakdown, ...] = (
    api_summary.TABLE,
    kernel_families.TABLE,
    kernel_summary.TABLE,
    memory_time_summary.TABLE,
    memory_size_summary.TABLE,
    launches.TABLE,
    nvtx_groups.TABLE,
    nvtx_summary.TABLE,
    nvtx_gpu_projection.TABLE,
    osrt_summary.TABLE,
    graph_replays.TABLE,
    anomalies.TABLE,
    nsys_messages.TABLE,
)


def tables(model: Model, window: Window | None) -> dict[str, pl.DataFrame | None]:
    """Return every table by name, in the order of BREAKDOWNS; None for one that this trace's columns cannot give.

    Without a window a table covers the whole trace, else the rows that overlap it, at full length.

    Raises:
        SchemaError: a table has not the columns of its schema.
    """
    return dict(each_table(model, window, in_turn))


def each_table(model: Model, window: Window | None, each: Each) -> Iterator[tuple[str, pl.DataFrame | None]]:
    """Give what `tables` returns, name and table at a time; `each` may work on several."""

    def table(breakdown: Breakdown) -> tuple[str, pl.DataFrame | None]:
        return breakdown.name, breakdown.of(model, window)

    return each(table, BREAKDOWNS)
