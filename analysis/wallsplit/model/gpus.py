"""The physical GPUs that did something in the trace; adapters that merely exist are left out."""

from collections.abc import Mapping

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


def gpus(trace: Trace, used: Mapping[tuple[int, int], int]) -> Gpus:
    """Return one row per physical GPU in use (schema.GPUS), null where the export does not describe it.

    `used` tells the physical GPU behind each (pid, device) that did something.
    """
    devices: dict[int, set[int]] = {}
    for (_, device), gpu in used.items():
        devices.setdefault(gpu, set()).add(device)
    ordinals = [min(own) if len(own) == 1 else None for _, own in sorted(devices.items())]
    frame = pl.DataFrame(
        {"gpu": pl.Series(sorted(devices), dtype=pl.Int64), "device": pl.Series(ordinals, dtype=pl.Int32)}
    )
    return Gpus(conform(frame.join(_descriptions(trace), on="gpu", how="left").sort("gpu"), GPUS, "gpus"))


def memory_of_gpus(trace: Trace) -> dict[int, int]:
    """Return the bytes of memory of each physical GPU that the export describes, in use or not."""
    known = _descriptions(trace).select("gpu", "memory_bytes").drop_nulls()
    return dict(known.iter_rows())


def physical_gpus(trace: Trace) -> dict[tuple[int, int], int]:
    """Return the physical GPU behind each (pid, device), where the export tells: a process numbers devices itself."""
    raw = trace.scan("TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "pid"]).drop_nulls().collect()
    return {(int(pid), int(device)): int(gpu) for gpu, device, pid in raw.iter_rows()}


def _descriptions(trace: Trace) -> pl.DataFrame:
    if trace.has("TARGET_INFO_CUDA_GPU", "deviceId"):
        return _described(
            trace, "TARGET_INFO_CUDA_GPU", "deviceId", OLD, "computeCapabilityMajor", "computeCapabilityMinor"
        )
    key = "id" if trace.has("TARGET_INFO_GPU", "id") else "deviceId"
    return _described(trace, "TARGET_INFO_GPU", key, NEW, "computeMajor", "computeMinor")


def _described(
    trace: Trace, table: str, key: str, columns: dict[str, tuple[str, int]], major: str, minor: str
) -> pl.DataFrame:
    raw = trace.scan(table, [key, "name", major, minor, *(column for column, _ in columns.values())])
    version = pl.concat_str([pl.col(major).cast(pl.String), pl.lit("."), pl.col(minor).fill_null(0).cast(pl.String)])
    absent = [pl.lit(None, pl.Int64).alias(name) for name in NEW if name not in columns]
    described = raw.select(
        pl.col(key).alias("gpu"),
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
