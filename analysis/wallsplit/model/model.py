"""All the frames of one trace, each read once."""

from dataclasses import field
from functools import cached_property

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.model.annotations import Annotations
from wallsplit.model.api_calls import TABLE as CALLS
from wallsplit.model.api_calls import api_calls
from wallsplit.model.capture import Capture, capture, diagnostics
from wallsplit.model.correlation import Correlation
from wallsplit.model.device_clock import ClockAhead, clocks_ahead
from wallsplit.model.gpu_metrics import gpu_metrics
from wallsplit.model.gpus import descriptions, gpus, memory_of_gpus, physical_gpus
from wallsplit.model.graph_replays import graph_replays
from wallsplit.model.kernels import TABLE as KERNELS
from wallsplit.model.kernels import kernels
from wallsplit.model.memory_events import memory_events
from wallsplit.model.memory_ops import COPIES, SETS, memory_ops
from wallsplit.model.mpi import mpi
from wallsplit.model.names import Names, NameTable
from wallsplit.model.not_used import NotUsedTable, not_used
from wallsplit.model.nvtx import nvtx
from wallsplit.model.osrt import osrt
from wallsplit.model.page_faults import cpu_page_faults, gpu_page_faults
from wallsplit.model.processes import processes
from wallsplit.model.profiler_overhead import profiler_overhead
from wallsplit.model.rows import RawRows, first_and_last
from wallsplit.model.samples import CpuSamples, cpu_samples
from wallsplit.model.synchronizations import synchronizations
from wallsplit.ranks import in_order
from wallsplit.schema import (
    ApiCalls,
    CpuPageFaults,
    Diagnostics,
    GpuMetricSamples,
    GpuPageFaults,
    Gpus,
    GraphReplays,
    Kernels,
    MemoryEvents,
    MemoryOps,
    MpiCalls,
    NvtxRanges,
    OsrtCalls,
    Processes,
    ProfilerOverhead,
    Synchronizations,
)
from wallsplit.trace import Trace
from wallsplit.trace.kinds import places

OPTIONAL = {
    "kernels.correlation_id": [(KERNELS, "correlationId")],
    "api_calls.correlation_id": [(CALLS, "correlationId")],
    "memory_ops.bytes": [(COPIES, "bytes"), (SETS, "bytes")],
}
"""Columns of the frames that a table of the analysis may need and an export may lack, and where they come from."""


@dataclass(frozen=True)
class Model:
    """One trace as frames (wallsplit.schema), whole and unclipped; unusable rows are counted and left out.

    API calls and NVTX ranges are in order of process, GPU operations of process and device, each of these in file
    order.
    """

    names: Names
    kernels: Kernels
    graph_replays: GraphReplays
    memory_ops: MemoryOps
    api_calls: ApiCalls
    annotations: Annotations
    """The NVTX ranges."""
    osrt: OsrtCalls
    mpi: MpiCalls
    correlation: Correlation
    """Which API calls and GPU operations belong together."""
    profiler_overhead: ProfilerOverhead
    gpus: Gpus
    physical_gpus: dict[tuple[int, int], int]
    """The physical GPU behind (pid, device), where the export tells."""
    processes: Processes
    synchronizations: Synchronizations
    memory_events: MemoryEvents
    gpu_page_faults: GpuPageFaults
    cpu_page_faults: CpuPageFaults
    gpu_metrics: GpuMetricSamples
    diagnostics: Diagnostics
    capture: Capture
    unusable_rows: dict[str, int]
    """Rows with a NULL or reversed end or an impossible time, by raw table; for NVTX these are unfinished ranges."""
    impossible_sizes: int = 0
    """Copies, sets and allocations of a size that no memory has; it is left out."""
    lacking: frozenset[str] = frozenset()
    """Columns, as `frame.column`, that say nothing because the export lacks them though it has the rows (OPTIONAL)."""
    samples: CpuSamples | None = None
    """What the CPUs executed, sampled; None where nsys took no samples."""
    memory_of_gpus: dict[int, int] = field(default_factory=dict)
    """Bytes of each physical GPU that the export describes, in use or not."""
    not_used: tuple[NotUsedTable, ...] = ()
    """Raw tables with rows that were not read."""

    @property
    def nvtx(self) -> NvtxRanges:
        """Return the NVTX ranges as a frame: those of a process together, each process's in file order."""
        return self.annotations.frame

    @property
    def gpu_operations(self) -> tuple[pl.DataFrame, ...]:
        """Return the frames of GPU work: kernels, graph replays, memory operations."""
        return self.kernels, self.graph_replays, self.memory_ops

    @cached_property
    def clocks_ahead(self) -> tuple[ClockAhead, ...]:
        """The devices whose clock runs ahead of the host's, by process."""
        return clocks_ahead(self.names, self.api_calls, self.gpu_operations, self.correlation, self.synchronizations)

    def physical_gpu(self, pid: int, device: int) -> int:
        """Return the physical GPU behind a process's device: the device's own number where the export does not tell."""
        return self.physical_gpus.get((pid, device), device)

    @property
    def cuda_span(self) -> tuple[int, int] | None:
        """Return the first start and last end, in ns, over API calls and GPU work; None without any."""
        return span(self.api_calls, *self.gpu_operations)

    @property
    def span(self) -> tuple[int, int] | None:
        """Return the times, in ns, between which the trace can say anything; None where it has no rows at all.

        The trace clock starts with the recording, so 0 is inside even where nothing happened at first.
        """
        frames = (self.api_calls, *self.gpu_operations, self.osrt, self.profiler_overhead)
        rows = span(*frames, pl.DataFrame({"start": self.annotations.start, "end": self.annotations.end}))
        duration = self.capture.duration_ns
        if rows is None:
            return None if duration is None else (0, duration)
        return min(0, rows[0]), max(rows[1], duration or 0)


def load(trace: Trace) -> Model:
    """Return the model of a trace.

    Raises:
        TraceError: the file is damaged, or changed while it was read.
    """
    raw = RawRows(trace)
    model = _model(raw)
    nearer = raw.nearer()
    model = model if nearer is None else _model(nearer)
    trace.check_unchanged()
    return model


def _model(raw: RawRows) -> Model:
    trace = raw.trace
    names = NameTable.of(trace)
    annotations = nvtx(raw, names)  # first: the largest table, whose memory the others then use again
    api_rows, osrt_rows = api_calls(raw, names), osrt(raw, names)
    mpi_rows = mpi(raw, names)
    kernel_rows, replay_rows, memory_rows = kernels(raw, names), graph_replays(raw), memory_ops(raw)
    replay_rows = GraphReplays(_by_process(replay_rows, "pid", "device"))
    memory_rows = MemoryOps(_by_process(memory_rows, "pid", "device"))
    gpu_rows = (kernel_rows, replay_rows, memory_rows)
    samples = cpu_samples(raw, names)
    pids = _distinct("pid", *gpu_rows, api_rows, annotations.kinds, osrt_rows)
    physical = physical_gpus(trace)
    used, described = _devices(*gpu_rows), descriptions(trace)
    return Model(
        names=names.freeze(),
        kernels=kernel_rows,
        graph_replays=replay_rows,
        memory_ops=memory_rows,
        api_calls=api_rows,
        annotations=annotations,
        osrt=osrt_rows,
        mpi=mpi_rows,
        correlation=Correlation.of(api_rows, gpu_rows),
        profiler_overhead=profiler_overhead(raw),
        gpus=gpus(described, {pair: physical.get(pair, pair[1]) for pair in used}),
        physical_gpus=physical,
        processes=processes(trace, pids),
        synchronizations=synchronizations(raw),
        memory_events=memory_events(raw),
        gpu_page_faults=gpu_page_faults(raw),
        cpu_page_faults=cpu_page_faults(raw),
        gpu_metrics=gpu_metrics(trace),
        diagnostics=diagnostics(trace),
        capture=capture(trace),
        unusable_rows=raw.unusable,
        impossible_sizes=raw.impossible_sizes,
        lacking=_lacking(trace),
        samples=samples,
        memory_of_gpus=memory_of_gpus(described),
        not_used=not_used(trace),  # last: when all that is read has been scanned
    )


def load_nvtx(trace: Trace) -> tuple[Annotations, Names]:
    """Return the NVTX ranges of a trace alone, and the names they refer to.

    Raises:
        TraceError: the file is damaged.
    """
    names = NameTable.of(trace)
    ranges = nvtx(RawRows(trace), names)
    return ranges, names.freeze()


def span(*frames: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first start and the last end, in ns, over the rows of all frames; None without rows."""
    ends = [first_and_last(frame) for frame in frames if frame.height]
    return (min(start for start, _ in ends), max(end for _, end in ends)) if ends else None


def _by_process(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return the rows of each process, and device, together: a slice of a frame takes no memory of its own."""
    place, size = places(frame.select(keys))
    return frame if (place[1:] >= place[:-1]).all() else frame[in_order(place, size)]


def _devices(*frames: pl.DataFrame) -> list[tuple[int, int]]:
    """Return the (pid, device) that did something, sorted."""
    return sorted(
        {(int(pid), int(device)) for f in frames for pid, device in f.select("pid", "device").unique().rows()}
    )


def _distinct(column: str, *frames: pl.DataFrame) -> list[int]:
    return sorted({int(value) for frame in frames for value in frame[column].unique()})


def _lacking(trace: Trace) -> frozenset[str]:
    return frozenset(
        column
        for column, sources in OPTIONAL.items()
        if any(trace.has(table) and not trace.has(table, raw_column) for table, raw_column in sources)
    )
