"""What of an export may be shown to others: an allow-list of tables and columns, and what kind of text each text is.

What is not listed stays behind. Of a table that is listed, the whole numbers trace/raw.py reads are shared, and `also`
those that other programs look for; texts only where `texts` says of what kind they are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.trace.raw import TABLES, raw_table
from wallsplit.trace.trace import Trace

TextKind = Literal["call", "kernel", "short_kernel", "range", "process", "product", "message", "setting"]
"""What a text is. call: a function of CUDA, MPI or the operating system; product: what a vendor calls a thing."""

STRINGS = "StringIds"


@dataclass(frozen=True)
class Shareable:
    """What may be shown of one raw table, by today's names."""

    table: str
    texts: Mapping[str, TextKind] = field(default_factory=dict)
    """Columns that hold texts, or numbers of texts in StringIds."""
    also: tuple[str, ...] = ()
    """Whole numbers that wallsplit does not read, but others do."""
    whole_rows: bool = True
    """False: only rows that say which process or setting they are about, of those that are shown at all."""


_CONTEXT = ("contextId", "greenContextId")
_CALL: Mapping[str, TextKind] = {"nameId": "call"}
_MPI: Mapping[str, TextKind] = {"textId": "call"}

SHAREABLE = (
    Shareable(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {"demangledName": "kernel", "shortName": "short_kernel"},
        (
            *_CONTEXT,
            *("launchType", "localMemoryPerThread", "localMemoryTotal", "gridId", "sharedMemoryExecuted"),
            *("graphId", "clusterX", "clusterY", "clusterZ", "clusterSchedulingPolicy", "maxPotentialClusterSize"),
        ),
    ),
    Shareable("CUPTI_ACTIVITY_KIND_RUNTIME", _CALL, ("eventClass",)),
    Shareable("CUPTI_ACTIVITY_KIND_MEMCPY", also=(*_CONTEXT, "graphId", "copyCount", "srcDeviceId", "dstDeviceId")),
    Shareable("CUPTI_ACTIVITY_KIND_MEMSET", also=(*_CONTEXT, "graphId", "memKind")),
    Shareable("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", also=_CONTEXT),
    Shareable("NVTX_EVENTS", {"text": "range", "textId": "range"}, ("rangeId", "category", "color")),
    Shareable("OSRT_API", _CALL, ("returnValue", "nestingLevel", "correlationId")),
    Shareable("MPI_P2P_EVENTS", _MPI, ("size", "tag")),
    Shareable("MPI_START_WAIT_EVENTS", _MPI),
    Shareable("MPI_COLLECTIVES_EVENTS", _MPI, ("size", "rootRank")),
    Shareable("MPI_OTHER_EVENTS", _MPI),
    Shareable("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", also=(*_CONTEXT, "syncType", "eventId", "eventSyncId")),
    Shareable("CUDA_GPU_MEMORY_USAGE_EVENTS", also=("contextId", "correlationId")),
    Shareable("CUDA_UM_GPU_PAGE_FAULT_EVENTS", also=("faultAccessType",)),
    Shareable("CUDA_UM_CPU_PAGE_FAULT_EVENTS"),
    Shareable("GPU_METRICS"),
    Shareable("PROFILER_OVERHEAD", also=("overheadType", "correlationId")),
    Shareable("ANALYSIS_DETAILS"),
    Shareable("META_DATA_EXPORT", {"value": "setting"}, whole_rows=False),
    Shareable("TARGET_INFO_GPU", {"name": "product"}),
    Shareable("TARGET_INFO_GPU_METRICS", {"metricName": "product"}),
    Shareable("TARGET_INFO_CUDA_DEVICE"),
    Shareable("TARGET_INFO_SESSION_START_TIME"),
    Shareable("PROCESSES", {"name": "process"}, whole_rows=False),
    Shareable("DIAGNOSTIC_EVENT", {"text": "message"}, ("timestamp", "timestampType", "source")),
    # Of these wallsplit reads nothing.
    Shareable(
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        also=(
            *_CONTEXT,
            *("timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId", "eventSyncId"),
        ),
    ),
    Shareable(
        "CUPTI_ACTIVITY_KIND_OVERHEAD",
        also=("start", "end", "eventClass", "globalTid", "correlationId", "overheadType"),
    ),
    Shareable(
        "CUDA_GRAPH_EVENTS",
        also=("start", "end", "eventClass", "globalTid", "graphId", "originalGraphId", "graphExecId", "graphNodeId"),
    ),
    Shareable("CUDA_GRAPH_NODE_EVENTS", also=("start", "end", "globalTid", "graphNodeId", "originalGraphNodeId")),
)

WITHHELD = {
    STRINGS: "written anew, of texts that are shared",
    "META_DATA_CAPTURE": "the command line, its arguments and environment",
    "ThreadNames": "whatever programs called their threads",
    "COMPOSITE_EVENTS": "samples of code: nothing without their call chains",
    "SAMPLING_CALLCHAINS": "names of functions and files of the user's own code",
    "SCHED_EVENTS": "read with samples of code alone",
}
"""Tables that are read but not shared, and what is in them."""

TIME_OF_DAY = "TARGET_INFO_SESSION_START_TIME"
"""Shared only where that is asked for."""

_VERSIONS = ("EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "EXPORT_VERSION", "EXPORT_SCHEMA_VERSION")
SETTINGS = (*_VERSIONS, *(f"EXPORT_SCHEMA_VERSION_{part}" for part in ("MAJOR", "MINOR", "MICRO")))
"""Rows of META_DATA_EXPORT that are shared, beside those wallsplit wrote itself."""
OWN_SETTINGS = r"^WALLSPLIT_(NOTE|ASSUMPTION_\d{1,4})$"

ENUMS = tuple(
    f"ENUM_{name}"
    for name in (
        *("NSYS_EVENT_TYPE", "NSYS_EVENT_CLASS", "CUDA_MEMCPY_OPER", "CUDA_MEM_KIND", "CUDA_DEV_MEM_EVENT_OPER"),
        *("CUDA_KERNEL_LAUNCH_TYPE", "CUDA_KRENEL_LAUNCH_TYPE", "CUPTI_SYNC_TYPE", "CUPTI_OVERHEAD_TYPE"),
        *("CUPTI_STREAM_TYPE", "CUDA_UNIF_MEM_ACCESS_TYPE", "DIAGNOSTIC_SEVERITY_LEVEL", "DIAGNOSTIC_SOURCE_TYPE"),
    )
)
"""Tables of what nsys' own codes mean: id, name, label."""
_CODE = r"^[A-Za-z0-9_ ,.()/:+-]{1,80}$"


@dataclass(frozen=True)
class SharedTable:
    """The rows of one table that may be shared, if their texts are cleaned."""

    table: str
    rows: pl.DataFrame  # whole numbers, and texts as Categorical
    texts: Mapping[str, TextKind] = field(default_factory=dict)  # of the columns that are there


def shared_tables(trace: Trace, *, keep_time: bool) -> Iterator[SharedTable]:
    """Yield the tables of a trace that may be shared, in the order of SHAREABLE, with those of their columns it has.

    Raises:
        TraceError: the container is damaged, or a column of whole numbers holds something else.
    """
    pids: set[int] = set()
    for shareable in SHAREABLE:
        rows = _rows(trace, shareable)
        if rows is None or (shareable.table == TIME_OF_DAY and not keep_time):
            continue
        for column in ("globalPid", "globalTid"):
            if column in rows.columns and shareable.whole_rows:
                pids |= {value >> 24 & 0xFFFFFF for value in rows[column].drop_nulls().unique().to_list()}
        if not shareable.whole_rows:
            rows = _shown(rows, pids)
        present = {column: kind for column, kind in shareable.texts.items() if column in rows.columns}
        yield SharedTable(shareable.table, rows, present)
    for name in ENUMS:
        columns = trace.source.tables.get(name, pl.Schema())
        if columns.get("id") == pl.Int64() and columns.get("name") == pl.Categorical():
            codes = trace.source.read(name, ["id", "name"])
            codes = codes.filter(pl.col("name").cast(pl.String).str.contains(_CODE))
            yield SharedTable(name, codes, {"name": "product"})


def strings(trace: Trace) -> pl.DataFrame:
    """Return the texts of StringIds, of those with one id the first: id, value (String)."""
    rows = trace.scan(STRINGS, ["id", "value"]).select("id", pl.col("value").cast(pl.String))
    return rows.drop_nulls().unique("id", keep="first", maintain_order=True).collect()


def _rows(trace: Trace, shareable: Shareable) -> pl.DataFrame | None:
    name = trace.name_of(shareable.table)
    if name is None:
        return None
    read: list[str] = []
    if any(table.name == shareable.table for table in TABLES):
        raw = raw_table(shareable.table)
        read = [
            column
            for column in raw.columns
            if (column not in raw.texts or column in shareable.texts or not shareable.whole_rows)
            and trace.has(shareable.table, column)
        ]
    types = trace.source.tables[name]
    also = [column for column in shareable.also if column not in read and types.get(column) == pl.Int64()]
    frames = [trace.scan(shareable.table, read).collect()] if read else []
    frames += [trace.source.read(name, also)] if also else []
    return pl.concat(frames, how="horizontal") if frames else None


def _shown(rows: pl.DataFrame, pids: set[int]) -> pl.DataFrame:
    """Return the rows of a setting that is shared, or of a process that the trace holds something of."""
    if "pid" in rows.columns:
        return rows.filter(pl.col("pid").is_in(list(pids)))
    name = pl.col("name").cast(pl.String)
    return rows.filter(name.is_in(list(SETTINGS)) | name.str.contains(OWN_SETTINGS))
