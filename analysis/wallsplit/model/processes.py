"""Processes by name. Only base names: a command line is the user's own business."""

import polars as pl

from wallsplit.schema import PROCESSES, Processes, conform
from wallsplit.trace import Trace


def processes(trace: Trace, pids: list[int]) -> Processes:
    """Return the names of the processes in `pids` (schema.PROCESSES)."""
    raw = trace.read("PROCESSES", ["pid", "name"])
    named = raw.select(
        pl.col("pid").cast(pl.Int32, strict=False),
        pl.col("name").cast(pl.String).str.replace(r"^.*[/\\]", ""),
    )
    named = named.drop_nulls().filter(pl.col("pid").is_in(pids)).unique("pid", keep="first", maintain_order=True)
    return Processes(conform(named.sort("pid"), PROCESSES, "processes"))
