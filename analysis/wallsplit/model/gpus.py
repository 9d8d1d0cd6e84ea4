"""The GPUs that did something in the trace; adapters that merely exist are left out."""

import polars as pl

from wallsplit.schema import GPUS, Gpus, conform
from wallsplit.trace import Trace

NEW = {  # schema column: (TARGET_INFO_GPU, factor)
    "sm_count": ("smCount", 1),
    "clock_hz": ("clockRate", 1),
    "memory_bytes": ("totalMemory", 1),
    "memory_bandwidth_bytes_per_s": ("memoryBandwidth", 1),
    "max_warps_per_sm": ("maxWarpsPerSm", 1),
    "max_blocks_per_sm": ("maxBlocksPerSm", 1),
    "max_registers_per_sm": ("maxRegistersPerSm", 1),
    "max_shared_memory_per_sm_bytes": ("maxShmemPerSm", 1),
}
OLD = {  # schema column: (TARGET_INFO_CUDA_GPU of 2020 and 2021, factor: kHz and MiB there)
    "sm_count": ("numMultiprocessors", 1),
    "clock_hz": ("coreClockRate", 1_000),
    "memory_bytes": ("globalMemorySize", 1 << 20),
    "max_warps_per_sm": ("maxWarpsPerMultiprocessor", 1),
    "max_blocks_per_sm": ("maxBlocksPerMultiprocessor", 1),
    "max_registers_per_sm": ("maxRegistersPerMultiprocessor", 1),
    "max_shared_memory_per_sm_bytes": ("maxSharedMemoryPerMultiprocessor", 1),
}


def gpus(trace: Trace, devices: list[int]) -> Gpus:
    """Return one row per device in use (schema.GPUS), null where the export does not describe it."""
    used = pl.DataFrame({"device": pl.Series(sorted(devices), dtype=pl.Int32)})
    if trace.has("TARGET_INFO_CUDA_GPU", "deviceId"):
        rows = _described(
            trace, "TARGET_INFO_CUDA_GPU", "deviceId", OLD, "computeCapabilityMajor", "computeCapabilityMinor"
        )
        frame = used.join(rows, left_on="device", right_on="gpu", how="left")
    else:
        key = "id" if trace.has("TARGET_INFO_GPU", "id") else "deviceId"
        rows = _described(trace, "TARGET_INFO_GPU", key, NEW, "computeMajor", "computeMinor")
        frame = _with_gpu_id(trace, used).join(rows, on="gpu", how="left")
    return Gpus(conform(frame.sort("device"), GPUS, "gpus"))


def _described(
    trace: Trace, table: str, key: str, columns: dict[str, tuple[str, int]], major: str, minor: str
) -> pl.DataFrame:
    raw = trace.scan(table, [key, "name", major, minor, *(column for column, _ in columns.values())])
    version = pl.concat_str([pl.col(major).cast(pl.String), pl.lit("."), pl.col(minor).fill_null(0).cast(pl.String)])
    absent = [pl.lit(None, pl.Int64).alias(name) for name in NEW if name not in columns]
    described = raw.select(
        pl.col(key).cast(pl.Int32, strict=False).alias("gpu"),
        pl.col("name").cast(pl.String),
        # Nothing has zero multiprocessors or bytes: exports write 0 where they do not know.
        *(_positive(column, factor).alias(name) for name, (column, factor) in columns.items()),
        *absent,
        version.alias("compute_capability"),
    )
    return _completed(described.unique("gpu", keep="first", maintain_order=True).collect())


def _completed(rows: pl.DataFrame) -> pl.DataFrame:
    """Give a row without figures those of the rows of its name, where they agree."""
    figures = [column for column in (*NEW, "compute_capability") if not column.startswith("memory")]
    known = pl.col("sm_count").is_not_null()
    like = rows.filter(known).select("name", *figures).unique().filter(pl.len().over("name") == 1)
    joined = rows.join(like, on="name", how="left", suffix="_of_like", maintain_order="left")
    taken = [pl.when(known).then(c).otherwise(pl.coalesce(f"{c}_of_like", c)).alias(c) for c in figures]
    return joined.with_columns(taken).select(rows.columns)


def _positive(column: str, factor: int) -> pl.Expr:
    value = pl.col(column)
    return pl.when(value > 0).then(value * factor).cast(pl.Int64)


def _with_gpu_id(trace: Trace, used: pl.DataFrame) -> pl.DataFrame:
    """Add `gpu`, the id in TARGET_INFO_GPU: CUDA's device numbers may be a selection (CUDA_VISIBLE_DEVICES)."""
    mapping = (
        trace.scan("TARGET_INFO_CUDA_DEVICE", ["cudaId", "gpuId"])
        .drop_nulls()
        .group_by(pl.col("cudaId").cast(pl.Int32, strict=False).alias("device"))
        .agg(pl.col("gpuId").cast(pl.Int32, strict=False).unique())
        .filter(pl.col("gpuId").list.len() == 1)  # processes that number their devices differently: the plain id
        .select("device", gpu=pl.col("gpuId").list.first())
        .collect()
    )
    return used.join(mapping, on="device", how="left").with_columns(pl.coalesce("gpu", "device"))
