"""All the frames of one trace, each read once."""

from dataclasses import dataclass


from wallsplit.model.names import Names
from wallsplit.schema import (
    ApiCalls,
    Diagnostics,
    Gpus,
    GraphReplays,
    Kernels,
    MemoryOps,
    NvtxRanges,
    OsrtCalls,
    Processes,
    ProfilerOverhead,
    Threads,
)


@dataclass(frozen=True)
class Capture:
    """What the export says about the recording. Null = the export does not say."""

    nsys_version: str | None
    schema_version: str | None
    duration_ns: int | None
    """ANALYSIS_DETAILS.duration: the `capture` window is [0, duration)."""
    note: str | None = None
    """A remark the export's metadata makes about itself (WALLSPLIT_NOTE), e.g. that it was reconstructed."""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """One trace as frames (wallsplit.schema), whole and unclipped; unusable rows are already counted and left out."""

    names: Names
    kernels: Kernels
    graph_replays: GraphReplays
    memory_ops: MemoryOps
    api_calls: ApiCalls
    nvtx: NvtxRanges
    osrt: OsrtCalls
    profiler_overhead: ProfilerOverhead
    gpus: Gpus
    processes: Processes
    threads: Threads
    diagnostics: Diagnostics
    capture: Capture
    unusable_rows: dict[str, int]
    """Rows with a NULL or reversed end or an impossible time, by table (NVTX rows that are no ranges are not counted)."""
    missing: frozenset[str] = frozenset()
    """Tables of the analysis (names as in BREAKDOWNS) that this trace's columns cannot give."""
