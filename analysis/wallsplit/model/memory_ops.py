"""Memory copies and sets on the GPU."""

import polars as pl

from wallsplit.model.rows import GPU_OPERATION, RawRows, gpu_operation, is_node
from wallsplit.schema import MEMORY_OPERATIONS, MEMORY_OPS, MemoryOperation, MemoryOps, conform

COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
SETS = "CUPTI_ACTIVITY_KIND_MEMSET"
MEMSET = len(MEMORY_OPERATIONS) - 1
PAGEABLE = 0  # of ENUM_CUDA_MEM_KIND


def memory_ops(raw: RawRows) -> MemoryOps:
    """Return the copies and sets of a trace (schema.MEMORY_OPS): copies first, each in file order."""
    columns = [*GPU_OPERATION, "bytes", "graphNodeId"]
    copies = raw.read(COPIES, [*columns, "copyKind", "srcKind", "dstKind"])
    none = pl.lit(None, pl.Int64)
    sets = raw.read(SETS, columns).with_columns(copyKind=pl.lit(MEMSET, pl.Int64), srcKind=none, dstKind=none)
    rows = raw.sizes(pl.concat([copies, sets.select(copies.columns)]))
    known = pl.col("copyKind").is_between(0, MEMSET).fill_null(value=False)
    code = rows.select(pl.when(known).then("copyKind").otherwise(0).cast(pl.UInt32)).to_series()
    pageable = (pl.col("srcKind") == PAGEABLE) | (pl.col("dstKind") == PAGEABLE).fill_null(value=False)
    is_pageable = pl.when(pl.col("srcKind").is_not_null()).then(pageable)
    frame = rows.select(
        *gpu_operation(),
        pl.Series(MEMORY_OPERATIONS, dtype=MemoryOperation).gather(code).alias("operation"),
        "bytes",
        is_pageable.alias("is_pageable"),
        is_node(),
    )
    return MemoryOps(conform(frame, MEMORY_OPS, "memory_ops"))
