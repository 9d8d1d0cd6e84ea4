"""Page faults on managed memory, where nsys recorded them."""

import polars as pl

from wallsplit.model.rows import TIMES, RawRows, device, pid
from wallsplit.schema import CPU_PAGE_FAULTS, GPU_PAGE_FAULTS, CpuPageFaults, GpuPageFaults, conform

BY_GPU = "CUDA_UM_GPU_PAGE_FAULT_EVENTS"
BY_CPU = "CUDA_UM_CPU_PAGE_FAULT_EVENTS"


def gpu_page_faults(raw: RawRows) -> GpuPageFaults:
    """Return the groups of page faults that GPUs raised (schema.GPU_PAGE_FAULTS), in file order."""
    rows = raw.read(BY_GPU, ["globalPid", "deviceId", "numberOfPageFaults"])
    faults = pl.col("numberOfPageFaults").fill_null(0).clip(0).alias("faults")
    return GpuPageFaults(conform(rows.select(*TIMES, pid("globalPid"), device(), faults), GPU_PAGE_FAULTS, BY_GPU))


def cpu_page_faults(raw: RawRows) -> CpuPageFaults:
    """Return the page faults that the host raised (schema.CPU_PAGE_FAULTS), in file order."""
    rows = raw.read_instants(BY_CPU, ["globalPid"])
    frame = rows.select(pl.col("start").alias("time"), pid("globalPid"))
    return CpuPageFaults(conform(frame, CPU_PAGE_FAULTS, BY_CPU))
