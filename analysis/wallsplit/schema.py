"""Every frame's columns, types and units, in one place.

Times are integers in ns on the trace clock, intervals are half-open `[start, end)`. `pid` is the process id that nsys
packs into its global ids, `thread` the full `globalTid`. A `name` or `range` column holds rows of `Names`, never text:
names are looked up once, at the edge.
"""

from collections.abc import Sequence
from typing import NewType

import polars as pl

from wallsplit.errors import SchemaError

API_CLASSES = ("setup", "alloc", "launch", "memcpy", "memset", "graph_build", "other", "sync")
"""Classes of a CUDA API call, in the order of the ledger's accounts."""

MEMORY_OPERATIONS = (
    "[CUDA memcpy Unknown]",
    "[CUDA memcpy Host-to-Device]",
    "[CUDA memcpy Device-to-Host]",
    "[CUDA memcpy Host-to-Array]",
    "[CUDA memcpy Array-to-Host]",
    "[CUDA memcpy Array-to-Array]",
    "[CUDA memcpy Array-to-Device]",
    "[CUDA memcpy Device-to-Array]",
    "[CUDA memcpy Device-to-Device]",
    "[CUDA memcpy Host-to-Host]",
    "[CUDA memcpy Peer-to-Peer]",
    "[CUDA memcpy Unified Host-to-Device]",
    "[CUDA memcpy Unified Device-to-Host]",
    "[CUDA memcpy Unified Device-to-Device]",
    "[CUDA memset]",
)
"""Labels as `nsys stats` prints them; a copy's position is its `copyKind`."""

NVTX_STYLES = ("PushPop", "StartEnd")

ApiClass = pl.Enum(API_CLASSES)
MemoryOperation = pl.Enum(MEMORY_OPERATIONS)
NvtxStyle = pl.Enum(NVTX_STYLES)

Kernels = NewType("Kernels", pl.DataFrame)
GraphReplays = NewType("GraphReplays", pl.DataFrame)
MemoryOps = NewType("MemoryOps", pl.DataFrame)
ApiCalls = NewType("ApiCalls", pl.DataFrame)
NvtxRanges = NewType("NvtxRanges", pl.DataFrame)
OsrtCalls = NewType("OsrtCalls", pl.DataFrame)
MpiCalls = NewType("MpiCalls", pl.DataFrame)
ProfilerOverhead = NewType("ProfilerOverhead", pl.DataFrame)
StepRows = NewType("StepRows", pl.DataFrame)
Gpus = NewType("Gpus", pl.DataFrame)
Processes = NewType("Processes", pl.DataFrame)
Diagnostics = NewType("Diagnostics", pl.DataFrame)

KERNELS = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "device": pl.Int32(),
        "correlation_id": pl.Int64(),
        "name": pl.Int32(),  # demangled
        "short_name": pl.Int32(),
        "is_comm": pl.Boolean(),  # of a communication library (model/communication.py)
        "is_node": pl.Boolean(),  # a node of a graph, recorded by node
        "blocks": pl.Int64(),  # of the grid, at least 1
        "threads": pl.Int32(),  # of a block, at least 1
        "registers": pl.Int32(),  # per thread; null where not recorded, like the next two
        "static_shared_bytes": pl.Int32(),  # per block
        "dynamic_shared_bytes": pl.Int32(),
    }
)
GRAPH_REPLAYS = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "device": pl.Int32(),
        "correlation_id": pl.Int64(),
        "graph": pl.Int64(),  # graphId; null where not recorded
        "executable": pl.Int64(),  # graphExecId, else graphId
    }
)
MEMORY_OPS = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "device": pl.Int32(),
        "correlation_id": pl.Int64(),
        "operation": MemoryOperation,
        "bytes": pl.Int64(),  # null where not recorded
        "is_pageable": pl.Boolean(),  # the source or the destination is pageable host memory; null where not recorded
        "is_node": pl.Boolean(),  # a node of a graph, recorded by node
    }
)
API_CALLS = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "thread": pl.Int64(),
        "correlation_id": pl.Int64(),
        "name": pl.Int32(),  # normalised: equal names are equal rows
        "api_class": ApiClass,  # by name
        "booked_class": ApiClass,  # graph_build for every call made during a stream capture
        "return_value": pl.Int32(),  # null where not recorded
    }
)
NVTX_RANGES = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "thread": pl.Int64(),  # -1 where a range ends on another thread than it began
        "style": NvtxStyle,
        "range": pl.Int32(),  # "DOMAIN:text" where the process names the domain
        "text": pl.Int32(),  # without the domain
        "is_library": pl.Boolean(),  # a library's own domain (cuBLAS, CCCL, NCCL …): not the user's steps
    }
)
OSRT_CALLS = pl.Schema(
    {"start": pl.Int64(), "end": pl.Int64(), "pid": pl.Int32(), "thread": pl.Int64(), "name": pl.Int32()}
)
MPI_CALLS = pl.Schema(
    {"start": pl.Int64(), "end": pl.Int64(), "pid": pl.Int32(), "thread": pl.Int64(), "name": pl.Int32()}
)
PROFILER_OVERHEAD = pl.Schema({"start": pl.Int64(), "end": pl.Int64(), "pid": pl.Int32(), "thread": pl.Int64()})
STEP_ROWS = pl.Schema(  # steps of one process on one device, in order
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "kind": pl.Int32(),  # position among the kinds of steps, the most frequent first
        "host_start": pl.Int64(),  # when the host began the step; `start` may be the GPU's time
    }
)
GPUS = pl.Schema(  # devices in use, one row each; null = not recorded
    {
        "device": pl.Int32(),
        "name": pl.String(),
        "sm_count": pl.Int64(),
        "clock_hz": pl.Int64(),
        "memory_bytes": pl.Int64(),
        "memory_bandwidth_bytes_per_s": pl.Int64(),
        "max_warps_per_sm": pl.Int64(),
        "max_blocks_per_sm": pl.Int64(),
        "max_registers_per_sm": pl.Int64(),
        "max_shared_memory_per_sm_bytes": pl.Int64(),
        "compute_capability": pl.String(),
    }
)
PROCESSES = pl.Schema({"pid": pl.Int32(), "name": pl.String()})  # name: the executable's base name only
DIAGNOSTICS = pl.Schema({"severity": pl.Int64(), "text": pl.String()})  # nsys: 1 information, 2 warning, 3 error


def conform(frame: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Return `frame` with exactly the columns of `schema`, in its order.

    Raises:
        SchemaError: a column is missing or has another type.
    """
    got = frame.schema
    wrong = [f"{c}: want {t}, got {got.get(c, 'nothing')}" for c, t in schema.items() if got.get(c) != t]
    if wrong:
        raise SchemaError(f"frame {name}: {'; '.join(wrong)}; please report this")
    return frame.select(schema.names())


def empty(schema: pl.Schema) -> pl.DataFrame:
    """Return a frame of `schema` without rows."""
    return pl.DataFrame(schema=schema)


def statistics(prefix: str, unit: str, *, total: bool = True) -> dict[str, pl.DataType]:
    """Return the statistics columns of a summary: `[prefix_]total_unit, avg, med, min, max, stddev`."""
    p = f"{prefix}_" if prefix else ""
    integer = {"total", "min", "max"}
    kinds: Sequence[str] = (("total",) if total else ()) + ("avg", "med", "min", "max", "stddev")
    return {f"{p}{k}_{unit}": pl.Int64() if k in integer else pl.Float64() for k in kinds}


API_SUMMARY = pl.Schema(
    {
        "name": pl.String(),
        "class": pl.String(),
        "count": pl.Int64(),
        **statistics("", "ns"),
        "share_ratio": pl.Float64(),
    }
)
KERNEL_SUMMARY = pl.Schema(
    {"name": pl.String(), "count": pl.Int64(), **statistics("", "ns"), "share_ratio": pl.Float64()}
)
MEMORY_TIME_SUMMARY = pl.Schema(
    {"operation": pl.String(), "count": pl.Int64(), **statistics("", "ns"), "share_ratio": pl.Float64()}
)
MEMORY_SIZE_SUMMARY = pl.Schema({"operation": pl.String(), "count": pl.Int64(), **statistics("", "bytes")})
LAUNCHES = pl.Schema(
    {
        "pid": pl.Int64(),
        "tid": pl.Int64(),
        "device": pl.Int64(),
        "api_name": pl.String(),
        "kernel_name": pl.String(),
        "count": pl.Int64(),
        "queue_count": pl.Int64(),
        "shared_call": pl.Boolean(),
        **statistics("api", "ns", total=False),
        **statistics("queue", "ns", total=False),
        **statistics("kernel", "ns", total=False),
        **statistics("total", "ns", total=False),
    }
)
NVTX_SUMMARY = pl.Schema(
    {
        "range": pl.String(),
        "style": pl.String(),
        "count": pl.Int64(),
        **statistics("", "ns"),
        "share_ratio": pl.Float64(),
    }
)
NVTX_GPU_PROJECTION = pl.Schema(
    {
        "range": pl.String(),
        "style": pl.String(),
        "count": pl.Int64(),
        "gpu_op_count": pl.Int64(),
        **statistics("projected", "ns"),
        "range_total_ns": pl.Int64(),
        "gpu_op_avg": pl.Float64(),
        "level_avg": pl.Float64(),
        "child_avg": pl.Float64(),
    }
)
OSRT_SUMMARY = pl.Schema(
    {"name": pl.String(), "count": pl.Int64(), **statistics("", "ns"), "share_ratio": pl.Float64()}
)
GRAPH_REPLAY_SUMMARY = pl.Schema(
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "graph": pl.Int64(),
        "count": pl.Int64(),
        **statistics("", "ns"),
        "share_ratio": pl.Float64(),
    }
)
ANOMALIES = pl.Schema({"kind": pl.String(), "count": pl.Int64(), "detail": pl.String()})
