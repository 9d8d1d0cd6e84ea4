"""nsys' own names: every raw table and column that is read, and what older versions called them.

The only place that knows a name of a table, and the first that a renamed one is added to. `trace/` resolves the names,
`model/` asks for them as they are spelt here; nothing else knows them.
"""

from collections.abc import Mapping
from dataclasses import field

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Alias:
    """What a column was called elsewhere; its values there times `factor` are those of today's name."""

    name: str
    factor: int = 1


@dataclass(frozen=True)
class RawTable:
    """One of nsys' tables, by the names of the newest version that is known."""

    name: str
    numbers: tuple[str, ...]
    """Columns read as whole numbers, whatever type whoever rewrote the table declared them with."""
    texts: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    """What the table was called before. Where a file has both, the older one says more (2021)."""
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """What columns were called before, by today's name."""
    is_mark: bool = True
    """Whether a file with this table is an nsys export: other programs have a table PROCESSES, too."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the table, the one that counts first where a file has several."""
        return (*self.older, self.name)

    @property
    def columns(self) -> tuple[str, ...]:
        """Today's names of all columns that are read."""
        return self.numbers + self.texts


_OPERATION = ("start", "end", "globalPid", "deviceId", "streamId", "correlationId")
_MPI = ("start", "end", "globalTid", "textId")

TABLES = (
    RawTable(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        (
            *_OPERATION,
            "demangledName",
            "shortName",
            "graphNodeId",
            *("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"),
            *("registersPerThread", "staticSharedMemory", "dynamicSharedMemory"),
        ),
    ),
    RawTable("CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end", "globalTid", "correlationId", "nameId", "returnValue")),
    RawTable("CUPTI_ACTIVITY_KIND_MEMCPY", (*_OPERATION, "bytes", "graphNodeId", "copyKind", "srcKind", "dstKind")),
    RawTable("CUPTI_ACTIVITY_KIND_MEMSET", (*_OPERATION, "bytes", "graphNodeId")),
    RawTable("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (*_OPERATION, "graphId", "graphExecId")),
    RawTable(
        "NVTX_EVENTS", ("start", "end", "eventType", "textId", "globalTid", "endGlobalTid", "domainId"), ("text",)
    ),
    RawTable("OSRT_API", ("start", "end", "globalTid", "nameId", "eventClass")),
    RawTable("MPI_P2P_EVENTS", _MPI),
    RawTable("MPI_START_WAIT_EVENTS", _MPI),
    RawTable("MPI_COLLECTIVES_EVENTS", _MPI),
    RawTable("MPI_OTHER_EVENTS", _MPI),
    RawTable("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", _OPERATION),
    RawTable(
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        ("start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"),
    ),
    RawTable("CUDA_UM_GPU_PAGE_FAULT_EVENTS", ("start", "end", "globalPid", "deviceId", "numberOfPageFaults")),
    RawTable("CUDA_UM_CPU_PAGE_FAULT_EVENTS", ("start", "globalPid")),
    RawTable("GPU_METRICS", ("timestamp", "typeId", "metricId", "value")),
    RawTable("COMPOSITE_EVENTS", ("id", "start", "globalTid")),
    RawTable("SAMPLING_CALLCHAINS", ("id", "stackDepth", "symbol", "module", "unresolved", "kernelMode")),
    RawTable("SCHED_EVENTS", ("start", "globalTid", "isSchedIn")),
    RawTable("PROFILER_OVERHEAD", ("start", "end", "globalTid")),
    RawTable("StringIds", ("id",), ("value",), is_mark=False),
    RawTable("ANALYSIS_DETAILS", ("duration",)),
    RawTable("META_DATA_EXPORT", (), ("name", "value"), older=("EXPORT_META_DATA",)),
    RawTable(
        "TARGET_INFO_GPU",
        (
            *("id", "computeMajor", "computeMinor", "smCount", "clockRate", "totalMemory", "memoryBandwidth"),
            *("maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm"),
        ),
        ("name",),
        older=("TARGET_INFO_CUDA_GPU",),
        aliases={
            "id": Alias("deviceId"),
            "computeMajor": Alias("computeCapabilityMajor"),
            "computeMinor": Alias("computeCapabilityMinor"),
            "smCount": Alias("numMultiprocessors"),
            "clockRate": Alias("coreClockRate", 1_000),  # kHz
            "totalMemory": Alias("globalMemorySize", 1 << 20),  # MiB
            "maxWarpsPerSm": Alias("maxWarpsPerMultiprocessor"),
            "maxBlocksPerSm": Alias("maxBlocksPerMultiprocessor"),
            "maxRegistersPerSm": Alias("maxRegistersPerMultiprocessor"),
            "maxShmemPerSm": Alias("maxSharedMemoryPerMultiprocessor"),
        },
    ),
    RawTable("META_DATA_CAPTURE", (), ("name", "value")),
    RawTable("TARGET_INFO_GPU_METRICS", ("typeId", "metricId"), ("metricName",)),
    RawTable("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")),
    RawTable("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",)),
    RawTable("PROCESSES", ("pid",), ("name",), is_mark=False),
    RawTable("ThreadNames", ("globalTid", "nameId")),
    RawTable("DIAGNOSTIC_EVENT", ("severity", "globalPid"), ("text",)),
)
"""A new one is a line here; its file in `model/` asks `Trace.scan` for it."""

MARKS_OF_AN_EXPORT = tuple(name for table in TABLES if table.is_mark for name in table.names)
MARKS_OF_NVPROF = frozenset({"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "StringTable"})
_BY_NAME = {table.name: table for table in TABLES}


def raw_table(name: str) -> RawTable:
    """Return the table of that name.

    Raises:
        LookupError: it is not listed here.
    """
    if name not in _BY_NAME:
        raise LookupError(f"trace/raw.py lists no table {name}")
    return _BY_NAME[name]


def names_of(name: str) -> tuple[str, ...]:
    """Return every name of a table, today's being `name`, the one that counts first where a file has several."""
    return _BY_NAME[name].names if name in _BY_NAME else (name,)
