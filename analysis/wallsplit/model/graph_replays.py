"""Replays of CUDA graphs recorded as a whole: what runs inside is not recorded."""

import polars as pl

from wallsplit.model.rows import GPU_OPERATION, RawRows, gpu_operation
from wallsplit.schema import GRAPH_REPLAYS, GraphReplays, conform

TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"


def graph_replays(raw: RawRows) -> GraphReplays:
    """Return the graph replays of a trace (schema.GRAPH_REPLAYS), in file order."""
    rows = raw.read(TABLE, [*GPU_OPERATION, "graphId", "graphExecId"])
    frame = rows.select(
        *gpu_operation(),
        pl.col("graphId").alias("graph"),
        pl.coalesce("graphExecId", "graphId").alias("executable"),
    )
    return GraphReplays(conform(frame, GRAPH_REPLAYS, "graph_replays"))
