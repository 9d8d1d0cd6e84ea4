"""Processes and threads by name. Only base names: a command line is the user's own business."""

import polars as pl

from wallsplit.model.names import NameTable
from wallsplit.model.rows import pid
from wallsplit.schema import PROCESSES, THREADS, Processes, Threads, conform
from wallsplit.trace import Trace


def processes(trace: Trace, pids: list[int]) -> Processes:
    """Return the names of the processes in `pids` (schema.PROCESSES)."""
    raw = trace.scan("PROCESSES", ["pid", "name"])
    named = raw.select(
        pl.col("pid").cast(pl.Int32, strict=False),
        pl.col("name").cast(pl.String).str.replace(r"^.*[/\\]", ""),
    ).collect()
    named = named.drop_nulls().filter(pl.col("pid").is_in(pids)).unique("pid", keep="first", maintain_order=True)
    return Processes(conform(named.sort("pid"), PROCESSES, "processes"))


def threads(trace: Trace, names: NameTable, pids: list[int]) -> Threads:
    """Return the named threads of the processes in `pids` (schema.THREADS)."""
    raw = trace.scan("ThreadNames", ["globalTid", "nameId"]).drop_nulls()
    rows = raw.select(pl.col("globalTid").alias("thread"), "nameId", pid("globalTid")).collect()
    rows = rows.filter(pl.col("pid").is_in(pids)).unique("thread", keep="first", maintain_order=True)
    texts = names.lookup(rows["nameId"].unique())
    name = pl.Series([texts.get(row) for row in rows["nameId"]], dtype=pl.String)
    frame = rows.select("thread", "pid", name.alias("name")).drop_nulls().sort("thread")
    return Threads(conform(frame, THREADS, "threads"))
