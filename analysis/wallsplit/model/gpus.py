"""The physical GPUs that did something in the trace; adapters that merely exist are left out."""

from collections.abc import Mapping

import polars as pl

from wallsplit.schema import GPUS, Gpus, conform
from wallsplit.trace import Trace

AMOUNTS = {  # schema column: column of TARGET_INFO_GPU
    "sm_count": "smCount",
    "clock_hz": "clockRate",
    "memory_bytes": "totalMemory",
    "memory_bandwidth_bytes_per_s": "memoryBandwidth",
    "max_warps_per_sm": "maxWarpsPerSm",
    "max_blocks_per_sm": "maxBlocksPerSm",
    "max_registers_per_sm": "maxRegistersPerSm",
    "max_shared_memory_per_sm_bytes": "maxShmemPerSm",
}

MOST = {"smCount": 2**16, "maxWarpsPerSm": 2**16, "maxBlocksPerSm": 2**16}
"""Above it, or above 2^60 for the other amounts, a description is of no GPU: the figure is not known."""


def gpus(described: pl.DataFrame, used: Mapping[tuple[int, int], int]) -> Gpus:
    """Return one row per physical GPU in use (schema.GPUS), null where the export does not describe it.

    `described` is what `descriptions` returns; `used` tells the physical GPU behind each (pid, device) that did
    something.
    """
    devices: dict[int, set[int]] = {}
    for (_, device), gpu in used.items():
        devices.setdefault(gpu, set()).add(device)
    ordinals = [min(own) if len(own) == 1 else None for _, own in sorted(devices.items())]
    frame = pl.DataFrame(
        {"gpu": pl.Series(sorted(devices), dtype=pl.Int64), "device": pl.Series(ordinals, dtype=pl.Int32)}
    )
    return Gpus(conform(frame.join(described, on="gpu", how="left").sort("gpu"), GPUS, "gpus"))


def memory_of_gpus(described: pl.DataFrame) -> dict[int, int]:
    """Return the bytes of memory of each physical GPU that the export describes, in use or not."""
    known = described.select("gpu", "memory_bytes").drop_nulls()
    return dict(known.iter_rows())


def physical_gpus(trace: Trace) -> dict[tuple[int, int], int]:
    """Return the physical GPU behind each (pid, device), where the export tells: a process numbers devices itself."""
    raw = trace.read("TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "pid"]).drop_nulls()
    return {(int(pid), int(device)): int(gpu) for gpu, device, pid in raw.iter_rows()}


def descriptions(trace: Trace) -> pl.DataFrame:
    """Return what schema.GPUS has of each physical GPU that the export describes, but for the devices."""
    raw = trace.read("TARGET_INFO_GPU", ["id", "name", "computeMajor", "computeMinor", *AMOUNTS.values()])
    major, minor = pl.col("computeMajor").cast(pl.String), pl.col("computeMinor").fill_null(0).cast(pl.String)
    described = raw.select(
        pl.col("id").alias("gpu"),
        pl.col("name").cast(pl.String),
        # Nothing has zero multiprocessors or bytes: exports write 0 where they do not know.
        *(
            pl.when(pl.col(amount).is_between(1, MOST.get(amount, 2**60))).then(amount).alias(name)
            for name, amount in AMOUNTS.items()
        ),
        pl.concat_str([major, pl.lit("."), minor]).alias("compute_capability"),
    )
    return _completed(described.unique("gpu", keep="first", maintain_order=True))


def _completed(rows: pl.DataFrame) -> pl.DataFrame:
    """Give a row without figures those of the rows of its name, where they agree."""
    figures = [column for column in (*AMOUNTS, "compute_capability") if not column.startswith("memory")]
    known = pl.col("sm_count").is_not_null()
    like = rows.filter(known).select("name", *figures).unique().filter(pl.len().over("name") == 1)
    joined = rows.join(like, on="name", how="left", suffix="_of_like", maintain_order="left")
    taken = [pl.when(known).then(c).otherwise(pl.coalesce(f"{c}_of_like", c)).alias(c) for c in figures]
    return joined.with_columns(taken).select(rows.columns)
