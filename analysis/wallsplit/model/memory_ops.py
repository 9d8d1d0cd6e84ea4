"""Memory copies and sets on the GPU."""

import polars as pl

from wallsplit.model.rows import GPU_OPERATION, RawRows, gpu_operation
from wallsplit.schema import MEMORY_OPERATIONS, MEMORY_OPS, MemoryOperation, MemoryOps, conform

COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
SETS = "CUPTI_ACTIVITY_KIND_MEMSET"
MEMSET = len(MEMORY_OPERATIONS) - 1


def memory_ops(raw: RawRows) -> MemoryOps:
    """Return the copies and sets of a trace (schema.MEMORY_OPS): copies first, each in file order."""
    columns = [*GPU_OPERATION, "bytes"]
    copies = raw.read(COPIES, [*columns, "copyKind"])
    sets = raw.read(SETS, columns).with_columns(copyKind=pl.lit(MEMSET, pl.Int64))
    rows = pl.concat([copies, sets.select(copies.columns)])
    known = pl.col("copyKind").is_between(0, MEMSET).fill_null(value=False)
    code = rows.select(pl.when(known).then("copyKind").otherwise(0).cast(pl.UInt32)).to_series()
    frame = rows.select(
        *gpu_operation(),
        pl.Series(MEMORY_OPERATIONS, dtype=MemoryOperation).gather(code).alias("operation"),
        "bytes",
    )
    return MemoryOps(conform(frame, MEMORY_OPS, "memory_ops"))
