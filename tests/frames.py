"""Models of one process made in memory, for tests that need hundreds."""

from collections.abc import Iterable

import polars as pl

from builders import global_id
from wallsplit import schema
from wallsplit.model import Capture, Model, Names
from wallsplit.model.annotations import Annotations
from wallsplit.model.correlation import Correlation

PID = 1
Call = tuple[int, int, int, int, str]  # start, end, thread, correlation id, name
Kernel = tuple[int, int, int, str]  # start, end, correlation id, name
Range = tuple[int, int, int, str, str]  # start, end, thread, name, style


def model(calls: Iterable[Call] = (), kernels: Iterable[Kernel] = (), ranges: Iterable[Range] = ()) -> Model:
    names: dict[str, int] = {}

    def name(text: str) -> int:
        return names.setdefault(text, len(names))

    call_rows = [
        (start, end, PID, global_id(PID, tid), correlation, name(text), "launch", "launch", 0)
        for start, end, tid, correlation, text in calls
    ]
    kernel_rows = [
        (start, end, PID, 0, None, correlation, name(text), name(text), False, False, 1, 1, None, None, None)
        for start, end, correlation, text in kernels
    ]
    range_rows = [
        (start, end, PID, global_id(PID, tid), style, name(text), name(text), False, True)
        for start, end, tid, text, style in ranges
    ]
    api_calls = pl.DataFrame(call_rows, schema.API_CALLS, orient="row")
    operations = pl.DataFrame(kernel_rows, schema.KERNELS, orient="row")
    replays, memory_ops = schema.empty(schema.GRAPH_REPLAYS), schema.empty(schema.MEMORY_OPS)
    return Model(
        api_calls=schema.ApiCalls(api_calls),
        kernels=schema.Kernels(operations),
        annotations=Annotations.of_frame(pl.DataFrame(range_rows, schema.NVTX_RANGES, orient="row")),
        names=Names(pl.Series("name", list(names), dtype=pl.String)),
        graph_replays=schema.GraphReplays(replays),
        memory_ops=schema.MemoryOps(memory_ops),
        mpi=schema.MpiCalls(schema.empty(schema.MPI_CALLS)),
        correlation=Correlation.of(api_calls, (operations, replays, memory_ops)),
        physical_gpus={},
        osrt=schema.OsrtCalls(schema.empty(schema.OSRT_CALLS)),
        profiler_overhead=schema.ProfilerOverhead(schema.empty(schema.PROFILER_OVERHEAD)),
        gpus=schema.Gpus(schema.empty(schema.GPUS)),
        processes=schema.Processes(schema.empty(schema.PROCESSES)),
        synchronizations=schema.Synchronizations(schema.empty(schema.SYNCHRONIZATIONS)),
        memory_events=schema.MemoryEvents(schema.empty(schema.MEMORY_EVENTS)),
        gpu_page_faults=schema.GpuPageFaults(schema.empty(schema.GPU_PAGE_FAULTS)),
        cpu_page_faults=schema.CpuPageFaults(schema.empty(schema.CPU_PAGE_FAULTS)),
        gpu_metrics=schema.GpuMetricSamples(schema.empty(schema.GPU_METRIC_SAMPLES)),
        diagnostics=schema.Diagnostics(schema.empty(schema.DIAGNOSTICS)),
        capture=Capture(None, None, None),
        unusable_rows={},
    )
