"""The tables: one question per file, each from the model alone; listed in BREAKDOWNS, in the order of the report."""

import polars as pl

from wallsplit import schema
from wallsplit.breakdowns import (
    anomalies,
    api_summary,
    graph_replays,
    kernel_families,
    kernel_summary,
    launches,
    memory_size_summary,
    memory_time_summary,
    nsys_messages,
    nvtx_gpu_projection,
    nvtx_groups,
    nvtx_summary,
    osrt_summary,
)
from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model

__all__ = ["BREAKDOWNS", "Breakdown", "tables"]

BREAKDOWNS: tuple[Breakdown, ...] = (
    Breakdown("api_summary", "CUDA API calls", schema.API_SUMMARY, api_summary.compute),
    Breakdown("kernel_families", "Kernel families", schema.KERNEL_FAMILIES, kernel_families.compute),
    Breakdown("kernel_summary", "Kernels", schema.KERNEL_SUMMARY, kernel_summary.compute),
    Breakdown(
        "memory_time_summary", "Memory operations: time", schema.MEMORY_TIME_SUMMARY, memory_time_summary.compute
    ),
    Breakdown(
        "memory_size_summary", "Memory operations: size", schema.MEMORY_SIZE_SUMMARY, memory_size_summary.compute
    ),
    Breakdown("launches", "Kernel launches", schema.LAUNCHES, launches.compute),
    Breakdown("nvtx_groups", "NVTX ranges by group", schema.NVTX_GROUPS, nvtx_groups.compute),
    Breakdown("nvtx_summary", "NVTX ranges", schema.NVTX_SUMMARY, nvtx_summary.compute),
    Breakdown(
        "nvtx_gpu_projection",
        "NVTX ranges projected onto the GPU",
        schema.NVTX_GPU_PROJECTION,
        nvtx_gpu_projection.compute,
    ),
    Breakdown("osrt_summary", "OS runtime calls", schema.OSRT_SUMMARY, osrt_summary.compute),
    Breakdown("graph_replays", "CUDA graph replays", schema.GRAPH_REPLAY_SUMMARY, graph_replays.compute),
    Breakdown("anomalies", "Anomalies", schema.ANOMALIES, anomalies.compute),
    Breakdown("nsys_messages", "Messages of nsys", schema.NSYS_MESSAGES, nsys_messages.compute),
)


def tables(model: Model, window: Window | None) -> dict[str, pl.DataFrame | None]:
    """Return every table by name, in the order of BREAKDOWNS; None for one that this trace's columns cannot give.

    Without a window a table covers the whole trace, else the rows that overlap it, at full length.

    Raises:
        SchemaError: a table has not the columns of its schema.
    """
    return {b.name: None if b.name in model.missing else _table(b, model, window) for b in BREAKDOWNS}


def _table(breakdown: Breakdown, model: Model, window: Window | None) -> pl.DataFrame | None:
    table = breakdown.compute(model, window)
    return None if table is None else schema.conform(table, breakdown.schema, breakdown.name)
