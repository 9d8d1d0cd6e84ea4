"""Every frame's columns, types and units, in one place.

Times are integers in ns on the trace clock, intervals are half-open `[start, end)`. `pid` is the process id that nsys
packs into its global ids, `thread` the whole of such an id of a thread. A `name` or `range` column holds rows of
`Names`, never text: names are looked up once, at the edge.
"""

from collections.abc import Sequence
from typing import NewType

import polars as pl

from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS
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
"""Labels as `nsys stats` prints them; a copy's position is the number nsys gives its kind."""

NVTX_STYLES = ("PushPop", "StartEnd")

MEMORY_KINDS = (*("pageable", "pinned", "device", "array", "managed", "device static", "managed static", "unknown"),)
"""Kinds of memory; a kind's position is its number in ENUM_CUDA_MEM_KIND."""

GPU_METRICS = ("gr_active", "sm_active", "sm_issue", "tensor_active", "dram_read", "dram_write")
"""Hardware counters of `nsys profile --gpu-metrics-devices` that are read, each in per cent of what the GPU can do."""

ApiClass = pl.Enum(API_CLASSES)
MemoryOperation = pl.Enum(MEMORY_OPERATIONS)
NvtxStyle = pl.Enum(NVTX_STYLES)
MemoryKind = pl.Enum(MEMORY_KINDS)
GpuMetric = pl.Enum(GPU_METRICS)

Kernels = NewType("Kernels", pl.DataFrame)
GraphReplays = NewType("GraphReplays", pl.DataFrame)
MemoryOps = NewType("MemoryOps", pl.DataFrame)
ApiCalls = NewType("ApiCalls", pl.DataFrame)
NvtxRanges = NewType("NvtxRanges", pl.DataFrame)
OsrtCalls = NewType("OsrtCalls", pl.DataFrame)
MpiCalls = NewType("MpiCalls", pl.DataFrame)
ProfilerOverhead = NewType("ProfilerOverhead", pl.DataFrame)
StepRows = NewType("StepRows", pl.DataFrame)
StepAccounts = NewType("StepAccounts", pl.DataFrame)
Gpus = NewType("Gpus", pl.DataFrame)
Processes = NewType("Processes", pl.DataFrame)
Diagnostics = NewType("Diagnostics", pl.DataFrame)
IdleCauses = NewType("IdleCauses", pl.DataFrame)
MemoryEvents = NewType("MemoryEvents", pl.DataFrame)
GpuPageFaults = NewType("GpuPageFaults", pl.DataFrame)
CpuPageFaults = NewType("CpuPageFaults", pl.DataFrame)
GpuMetricSamples = NewType("GpuMetricSamples", pl.DataFrame)
Synchronizations = NewType("Synchronizations", pl.DataFrame)

KERNELS = pl.Schema(
    {
        "start": pl.Int64(),
        "end": pl.Int64(),
        "pid": pl.Int32(),
        "device": pl.Int32(),
        "stream": pl.Int32(),  # null where not recorded
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
        "stream": pl.Int32(),  # null where not recorded
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
        "stream": pl.Int32(),  # null where not recorded
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
        "is_default_domain": pl.Boolean(),  # pushed without a domain
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
STEP_ACCOUNTS = pl.Schema({f"{account}_ns": pl.Int64() for account in ACCOUNTS})  # of each step, in order
CPU_SAMPLES = pl.Schema(  # a row per sample of what a CPU executed, sorted by start
    {
        "start": pl.Int64(),
        "pid": pl.Int32(),
        "thread": pl.Int64(),
        "place": pl.Int32(),  # what was executing: a row of CODE_PLACES; null where not recorded
        "has_callers": pl.Boolean(),  # rows of SAMPLE_CALLERS tell who called it
    }
)
CODE_PLACES = pl.Schema(  # a row per distinct place in code; module and symbol are rows of Names
    {
        "module": pl.Int32(),  # the file, with its folder; null where not recorded, like symbol
        "symbol": pl.Int32(),
        "is_unresolved": pl.Boolean(),  # nsys found no name for it
        "is_kernel": pl.Boolean(),  # executed in kernel mode
    }
)
SAMPLE_CALLERS = pl.Schema(  # sorted by sample, the nearest caller first
    {"sample": pl.UInt32(), "place": pl.Int32()}  # rows of CPU_SAMPLES and CODE_PLACES
)
THREAD_SWITCHES = pl.Schema(  # the scheduler put a thread on a CPU or took it off, in file order
    {"start": pl.Int64(), "pid": pl.Int32(), "thread": pl.Int64(), "is_in": pl.Boolean()}
)
THREAD_NAMES = pl.Schema({"thread": pl.Int64(), "name": pl.Int32()})
GPUS = pl.Schema(  # physical GPUs in use, one row each; null = not recorded
    {
        "gpu": pl.Int64(),  # the id that nsys gives it
        "device": pl.Int32(),  # its number in the processes that use it; null where they number it differently
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
MEMORY_EVENTS = pl.Schema(  # allocations and releases that CUDA made, with --cuda-memory-usage=true
    {
        "time": pl.Int64(),
        "pid": pl.Int32(),
        "device": pl.Int32(),
        "address": pl.Int64(),
        "bytes": pl.Int64(),
        "kind": MemoryKind,
        "is_release": pl.Boolean(),
    }
)
GPU_PAGE_FAULTS = pl.Schema(  # groups of faults of the GPU on managed memory, with --cuda-um-gpu-page-faults=true
    {"start": pl.Int64(), "end": pl.Int64(), "pid": pl.Int32(), "device": pl.Int32(), "faults": pl.Int64()}
)
CPU_PAGE_FAULTS = pl.Schema({"time": pl.Int64(), "pid": pl.Int32()})  # likewise, one a row
GPU_METRIC_SAMPLES = pl.Schema(  # a sample holds from its time on, until the next one
    {"time": pl.Int64(), "gpu": pl.Int32(), "metric": GpuMetric, "per_cent": pl.Int64()}
)
SYNCHRONIZATIONS = pl.Schema(  # what API calls wait for; stream null where they wait for no stream
    {"pid": pl.Int32(), "device": pl.Int32(), "stream": pl.Int32(), "correlation_id": pl.Int64()}
)
GPU_USE = pl.Schema(  # in the window, over all processes; null without one
    {
        **GPUS,
        "busy_ns": pl.Int64(),  # union of GPU operations
        "busy_ratio": pl.Float64(),
        "kernel_active_ns": pl.Int64(),  # union of kernels and graph replays
        "kernel_active_ratio": pl.Float64(),
        "processes": pl.List(pl.Int32()),  # that used it at any time, sorted
    }
)
PROCESSES = pl.Schema({"pid": pl.Int32(), "name": pl.String()})  # name: the executable's base name only
DIAGNOSTICS = pl.Schema(
    {
        "severity": pl.Int64(),  # nsys: 1 information, 2 warning, 3 error, 4 verbose
        "pid": pl.Int32(),  # null: about no process
        "text": pl.String(),
    }
)


def conform(frame: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Return `frame` with exactly the columns of `schema`, in its order.

    Raises:
        SchemaError: a column is missing or has another type.
    """
    got = frame.schema
    wrong = [f"{c}: want {t}, got {got.get(c, 'nothing')}" for c, t in schema.items() if got.get(c) != t]
    if wrong:
        raise SchemaError(f"frame {name}: {'; '.join(wrong)}; please report this")
    return frame if frame.columns == schema.names() else frame.select(schema.names())


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
    {
        "name": pl.String(),  # demangled, whole
        "label": pl.String(),  # for people: short, another for every kernel
        "count": pl.Int64(),
        **statistics("", "ns"),
        "share_ratio": pl.Float64(),
    }
)
KERNEL_FAMILIES = pl.Schema(
    {
        "family": pl.String(),  # kernel_names/families.py
        "count": pl.Int64(),
        "kernels": pl.Int64(),  # distinct names
        "total_ns": pl.Int64(),
        "share_ratio": pl.Float64(),
    }
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
        "kernel_label": pl.String(),
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
NVTX_GROUPS = pl.Schema(
    {
        "group": pl.String(),
        "style": pl.String(),
        "names": pl.Int64(),  # distinct ones
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
SM = pl.Schema(  # a row per ledger; null = not known, for the reason
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "kernel_active_ratio": pl.Float64(),
        "sm_count": pl.Int64(),
        "sm_coverage": pl.Float64(),
        "sm_coverage_upper": pl.Float64(),
        "sm_coverage_while_active": pl.Float64(),
        "slot_fill": pl.Float64(),
        "warp_occupancy": pl.Float64(),
        "time_in_small_grids_ratio": pl.Float64(),
        "time_in_tail_ratio": pl.Float64(),
        "theoretical_occupancy_mean": pl.Float64(),
        "limited_by_warps_count": pl.Int64(),
        "limited_by_blocks_count": pl.Int64(),
        "limited_by_registers_count": pl.Int64(),
        "limited_by_shared_memory_count": pl.Int64(),
        "impossible_count": pl.Int64(),
        "reason": pl.String(),
    }
)
_SPREAD = ("count", "med_ns", "p95_ns", "p99_ns", "max_ns", "total_ns")


def spread(prefix: str) -> dict[str, pl.DataType]:
    """Return the columns of a `why.spread.Spread`: `prefix_count`, then ns; null where there is nothing to count."""
    return {f"{prefix}_{name}": pl.Float64() if name == "med_ns" else pl.Int64() for name in _SPREAD}


LAUNCH = pl.Schema(  # a row per ledger with a launch
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "count": pl.Int64(),
        **spread("api"),
        **spread("first"),
        **spread("latency"),
        **spread("queue"),
        "depth_max": pl.Int64(),
        "depth_mean": pl.Float64(),
        "depth_empty_ns": pl.Int64(),
        "depth_one_ns": pl.Int64(),
        "depth_shallow_ns": pl.Int64(),
        "depth_deep_ns": pl.Int64(),
        "backpressure_count": pl.Int64(),
        "backpressure_total_ns": pl.Int64(),
        "backpressure_depth_med": pl.Float64(),
        "small_kernel_med_ns": pl.Float64(),
        "small_shorter_than_call_ratio": pl.Float64(),
        "small_under_10us_ratio": pl.Float64(),
        "per_step_med": pl.Float64(),
        "graph_saving_upper_ns": pl.Int64(),
    }
)
SYNC = pl.Schema(  # a row per ledger, call and phase; the parts sum to total_ns
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "name": pl.String(),
        "phase": pl.String(),
        "count": pl.Int64(),
        "total_ns": pl.Int64(),
        "useful_ns": pl.Int64(),
        "elsewhere_ns": pl.Int64(),
        "before_ns": pl.Int64(),
        "between_ns": pl.Int64(),
        "tail_ns": pl.Int64(),
        "nothing_ns": pl.Int64(),
    }
)
COPIES = pl.Schema(  # a row per ledger, kind of copy and kind of host memory
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "operation": pl.String(),
        "memory": pl.String(),
        "count": pl.Int64(),
        "bytes": pl.Int64(),
        "blocking_count": pl.Int64(),
        "call_ns": pl.Int64(),
        "gpu_ns": pl.Int64(),
    }
)
COMM = pl.Schema(  # a row per ledger with communication kernels
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "union_ns": pl.Int64(),
        "hidden_ns": pl.Int64(),
        "exposed_ns": pl.Int64(),
        "count": pl.Int64(),
    }
)
RANGE_THREADS = pl.Schema(  # a row per process and NVTX range under which other threads launched work, too
    {
        "pid": pl.Int64(),
        "range": pl.String(),
        "count": pl.Int64(),
        "own_operations": pl.Int64(),
        "own_ns": pl.Int64(),
        "other_operations": pl.Int64(),
        "other_ns": pl.Int64(),
        "own_ratio": pl.Float64(),  # of the operations
    }
)
MEMORY_USE = pl.Schema(  # a row per change of what a process holds
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "time": pl.Int64(),
        "kind": pl.String(),
        "held_bytes": pl.Int64(),
    }
)
RANK_SKEW = pl.Schema(  # a row per rank
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "matched": pl.Int64(),
        "not_overlapping": pl.Int64(),
        "wait_ns": pl.Int64(),
        **spread("start_skew"),
    }
)
HOST_SAMPLES = pl.Schema(  # estimates: of each class, in the instants that a ledger books as host
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "start_ns": pl.Int64(),  # of the window
        "scope": pl.String(),  # main, other_driving, not_driving, meanwhile: never added up
        "range": pl.String(),  # the main thread's innermost; null: all of host
        "class": pl.String(),
        "sample_count": pl.Int64(),
        "share_ratio": pl.Float64(),
        "low_ratio": pl.Float64(),  # ends of the 95 % interval
        "high_ratio": pl.Float64(),
        "cpu_ns": pl.Int64(),
        "design_effect": pl.Float64(),
        "enough": pl.Boolean(),  # samples for the share to mean something
    }
)
NSYS_MESSAGES = pl.Schema(
    {
        "severity": pl.String(),  # info, warning, error, other
        "pid": pl.Int64(),  # null: about no process
        "text": pl.String(),
        "count": pl.Int64(),
        "standing": pl.String(),  # stands, refuted, other_process
    }
)
ANOMALIES = pl.Schema({"kind": pl.String(), "count": pl.Int64(), "detail": pl.String()})

IDLE_CAUSES = pl.Schema(
    {
        "account": pl.String(),
        "position": pl.String(),  # before, between or after the ledger's GPU operations; null without any
        "phase": pl.String(),  # of the innermost range with a phase
        "call": pl.String(),  # an API call's name, of `host` the OS call's
        "call_class": pl.String(),  # "first" of a launch call, the OS call's class
        "elsewhere": pl.String(),  # "device" while another device of the process works
        "ns": pl.Int64(),
    }
)
HOST_PARTS = pl.Schema({"part": pl.String(), "ns": pl.Int64()})
CAUSES = pl.Schema({"cause": pl.String(), "ns": pl.Int64(), "share_ratio": pl.Float64()})  # share of the window
IDLE_GAP_CLASSES = pl.Schema(
    {
        "class": pl.String(),  # of length
        "count": pl.Int64(),
        "total_ns": pl.Int64(),
        **{f"{account}_ns": pl.Int64() for account in ACCOUNTS if account not in GPU_ACCOUNTS},
    }
)
IDLE_GAPS = pl.Schema(  # the longest, longest first
    {
        "start_ns": pl.Int64(),
        "end_ns": pl.Int64(),
        "length_ns": pl.Int64(),
        "position": pl.String(),  # as in IDLE_CAUSES
        "cause": pl.String(),  # the account with most time
        "range": pl.String(),  # the innermost range for most of the gap
        "previous": pl.String(),  # GPU operations on either side; null where there is none
        "next": pl.String(),
        "next_call": pl.String(),  # the API call behind the next operation
        "next_call_tid": pl.Int64(),
        "next_call_start_ns": pl.Int64(),
        "next_call_end_ns": pl.Int64(),
    }
)
STEPS = pl.Schema(  # every step of every ledger; accounts are null where they are not measured
    {"pid": pl.Int64(), "device": pl.Int64(), **STEP_ROWS, **STEP_ACCOUNTS}
)
PHASES_OF_RUN = pl.Schema(  # once, steady and rest of the ledgers whose scope is steady steps
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "phase": pl.String(),
        "start_ns": pl.Int64(),
        "end_ns": pl.Int64(),
        **STEP_ACCOUNTS,
    }
)
DIAGNOSIS = pl.Schema(  # a row per finding, the first first; without any, one with the reason
    {
        "pid": pl.Int64(),
        "device": pl.Int64(),
        "place": pl.Int64(),
        "cause": pl.String(),
        "remedy": pl.String(),
        "share_ratio": pl.Float64(),  # of the scope; of what is paid once, of the window
        "prize_upper_ns": pl.Int64(),
        "prize_upper_ratio": pl.Float64(),  # of the window
        "why": pl.String(),
    }
)
