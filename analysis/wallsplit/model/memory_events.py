"""Allocations and releases of memory that CUDA made, where nsys recorded them."""

import polars as pl

from wallsplit.model.rows import RawRows, device, pid
from wallsplit.schema import MEMORY_EVENTS, MEMORY_KINDS, MemoryEvents, MemoryKind, conform

TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
RELEASE = 1  # of ENUM_CUDA_DEV_MEM_EVENT_OPER
UNKNOWN = len(MEMORY_KINDS) - 1


def memory_events(raw: RawRows) -> MemoryEvents:
    """Return the allocations and releases of a trace (schema.MEMORY_EVENTS), in file order."""
    rows = raw.read_instants(TABLE, ["globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"])
    rows = raw.sizes(rows)
    kind = pl.col("memKind").fill_null(UNKNOWN).clip(0, UNKNOWN).cast(pl.UInt32)
    frame = rows.select(
        pl.col("start").alias("time"),
        pid("globalPid"),
        device(),
        pl.col("address").fill_null(0),
        pl.col("bytes").fill_null(0),
        pl.Series(MEMORY_KINDS, dtype=MemoryKind).gather(rows.select(kind).to_series()).alias("kind"),
        (pl.col("memoryOperationType") == RELEASE).fill_null(value=False).alias("is_release"),
    )
    return MemoryEvents(conform(frame, MEMORY_EVENTS, "memory_events"))
