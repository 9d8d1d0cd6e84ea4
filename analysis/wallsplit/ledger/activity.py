"""What was active when: decided on the whole trace, before any window (docs/ledger.md).

One set of intervals per account and (process, device); booking them in a window is the ledger's work.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import GPU_ACCOUNTS, LAYERS, OTHER_PROCESS
from wallsplit.cores import Each, in_turn
from wallsplit.frozen import dataclass
from wallsplit.intervals import EMPTY, Intervals, Times, covers, merge, of_others, union
from wallsplit.ledger.rows import Rows, rows_of_processes
from wallsplit.ledger.timeline import NOTHING, Layers, Timeline, timeline
from wallsplit.model import Model
from wallsplit.schema import API_CLASSES

_NO_CALL = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Activity:
    """What one process on one device did over the whole trace."""

    pid: int
    device: int | None
    gpu: int | None
    """The physical GPU behind the device."""
    driving: npt.NDArray[np.int64]
    """The threads whose calls count; of a process without any CUDA row all that are known."""
    rows: Rows | None
    """None for a process without any CUDA row, like `layers`: not measured."""
    layers: Layers | None
    busy: Intervals
    """The union of the ledger's own GPU operations, taken from their rows and not from the layers."""
    timeline: Timeline
    launch_coverage: float | None = None
    api_coverage: float | None = None


def activities(model: Model, each: Each = in_turn) -> tuple[Activity, ...]:
    """Return the activities of a trace, sorted by process and device; `each` may work on several at a time.

    A process with API calls only has device None. Where the trace has no CUDA at all, every process with NVTX or OS
    runtime rows has one without layers.
    """
    if model.cuda_span is None:
        return _host_only(model)
    links = _Links.of(model)
    processes = rows_of_processes(model)
    others = _other_processes(model, processes)
    every = [(pid, device, rows) for pid, devices in processes.items() for device, rows in devices.items()]
    return tuple(each(lambda its: _activity(model, *its, links, others), every))


def _host_only(model: Model) -> tuple[Activity, ...]:
    threads = pl.concat([frame.select("pid", "thread") for frame in (model.annotations.kinds, model.osrt)]).unique()
    by_process = threads.sort("pid", "thread").group_by("pid", maintain_order=True)
    return tuple(
        Activity(int(str(pid)), None, None, own["thread"].to_numpy(), None, None, EMPTY, NOTHING)
        for (pid,), own in by_process
    )


@dataclass(frozen=True)
class _Links:
    """What calls and operations are to each other, by `Correlation` number."""

    start_ns: int
    last_call_end: Times
    """_NO_CALL where there is none."""
    has_operation: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, model: Model) -> "_Links":
        correlation, ends = model.correlation, model.api_calls["end"].to_numpy()
        start = model.cuda_span[0] if model.cuda_span else 0
        return cls(start, correlation.latest(correlation.calls, ends), correlation.operations_per_number > 0)


def _activity(
    model: Model,
    pid: int,
    device: int | None,
    rows: Rows,
    links: _Links,
    others: dict[tuple[int, int | None], Intervals],
) -> Activity:
    driving = rows.calls.lazy().filter("is_driving").select("start", "end", "thread", "booked_class").collect()
    threads = driving["thread"].unique().sort()
    operations = rows.operation_times
    gpu = None if device is None else model.physical_gpu(pid, device)
    layers = {
        **_gpu_layers(rows),
        OTHER_PROCESS: others.get((pid, gpu), EMPTY),
        **_call_layers(driving),
        "cuda.profiler": _union(
            model.profiler_overhead, (pl.col("pid") == pid) & pl.col("thread").is_in(threads.implode())
        ),
        "cuda.latency": _latency(operations, links),
    }
    ran = (pl.col("return_value").fill_null(0) <= 0) & ~pl.col("is_captured")
    launches = rows.calls.lazy().filter(pl.col("api_class") == "launch", ran).select("number").collect()["number"]
    whole = timeline([layers[name] for name in LAYERS])
    traced = pl.concat([rows.kernels["number"], rows.replays["number"]])
    return Activity(
        pid,
        device,
        gpu,
        threads.to_numpy(),
        rows,
        Layers(whole),
        union(operations["start"].to_numpy(), operations["end"].to_numpy()),
        whole,
        launch_coverage=_coverage(links.has_operation, launches),
        api_coverage=None if device is None else _coverage(links.last_call_end > _NO_CALL, traced),
    )


def _coverage(covered: npt.NDArray[np.bool_], numbers: pl.Series) -> float | None:
    """Return the share of `numbers` that are covered, None without any."""
    return None if numbers.is_empty() else int(covered[numbers.to_numpy()].sum()) / len(numbers)


def _union(frame: pl.DataFrame, which: pl.Expr | None = None) -> Intervals:
    """Return when any of the rows lasts, or of those for which a condition holds."""
    times = frame.lazy() if which is None else frame.lazy().filter(which)
    start, end = times.select("start", "end").collect().get_columns()  # of the other columns no row is copied
    return union(start.to_numpy(), end.to_numpy())


def _gpu_layers(rows: Rows) -> dict[str, Intervals]:
    communicates, sets = pl.col("is_comm"), pl.col("operation") == "[CUDA memset]"
    parts = {
        "gpu.kernel": (rows.kernels, ~communicates),
        "gpu.graph": (rows.replays, None),
        "gpu.comm": (rows.kernels, communicates),
        "gpu.memcpy": (rows.memory_ops, ~sets),
        "gpu.memset": (rows.memory_ops, sets),
    }
    return {name: _union(*parts[name]) for name in GPU_ACCOUNTS}


def _other_processes(
    model: Model, processes: dict[int, dict[int | None, Rows]]
) -> dict[tuple[int, int | None], Intervals]:
    """Return, by process and physical GPU, when another process works on that GPU."""
    busy: dict[int, dict[int, list[Intervals]]] = {}
    for pid, devices in processes.items():
        for device, rows in devices.items():
            if device is not None:
                gpu = model.physical_gpu(pid, device)
                busy.setdefault(gpu, {}).setdefault(pid, []).append(_union(rows.operation_times))
    return {
        (pid, gpu): others
        for gpu, own in busy.items()
        for pid, others in zip(own, of_others([merge(sets) for sets in own.values()]), strict=True)
    }


def _call_layers(driving: pl.DataFrame) -> dict[str, Intervals]:
    """Return the layers of the API classes as the ledger books them."""
    starts, ends = driving["start"].to_numpy(), driving["end"].to_numpy()
    booked = driving["booked_class"].to_physical().to_numpy()
    result = {}
    for code, name in enumerate(API_CLASSES):
        mine = np.flatnonzero(booked == code)
        result[f"cuda.{name}"] = union(starts[mine], ends[mine])
    return result


def _latency(operations: pl.DataFrame, links: _Links) -> Intervals:
    """Return the device's own delay before each operation that ends an idle gap (docs/ledger.md, Latency)."""
    starts = operations["start"].to_numpy()
    busy = covers(starts, operations["end"].to_numpy())
    if not len(busy.starts):
        return EMPTY
    gap_start = np.concatenate([[links.start_ns], busy.ends[:-1]])
    gap_end = busy.starts
    gap = np.minimum(np.searchsorted(gap_end, starts), len(gap_end) - 1)
    ending = np.flatnonzero(gap_end[gap] == starts)
    last = np.full(len(gap_end), _NO_CALL)
    np.maximum.at(last, gap[ending], links.last_call_end[operations["number"].to_numpy()[ending]])
    real = (last > _NO_CALL) & (last < gap_end) & (gap_start < gap_end)
    return union(np.maximum(gap_start, last)[real], gap_end[real])
