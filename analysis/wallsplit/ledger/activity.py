"""What was active when: decided on the whole trace, before any window (docs/ledger.md).

One set of intervals per account and (process, device); booking them in a window is the ledger's work.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import CUDA_ACCOUNTS, GPU_ACCOUNTS
from wallsplit.intervals import EMPTY, Intervals, Times, covers, union
from wallsplit.model import Model
from wallsplit.model.correlation import Numbers
from wallsplit.schema import API_CLASSES

DRIVING = ("launch", "memcpy", "memset")
IMPLICIT_SETUP_NS = 1_000_000
_NO_CALL = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Activity:
    """What one process on one device did over the whole trace."""

    pid: int
    device: int | None
    layers: tuple[Intervals, ...] | None
    """One per account but `host`, in order; None for a process without any CUDA row: not measured."""
    launch_coverage: float | None = None
    api_coverage: float | None = None


def activities(model: Model) -> tuple[Activity, ...]:
    """Return the activities of a trace, sorted by process and device.

    A process with API calls only has device None. Where the trace has no CUDA at all, every process with NVTX or OS
    runtime rows has one without layers.
    """
    if model.cuda_span is None:
        pids = sorted({int(pid) for frame in (model.nvtx, model.osrt) for pid in frame["pid"].unique()})
        return tuple(Activity(pid, None, None) for pid in pids)
    frames = (model.api_calls, *model.gpu_operations)
    pids = sorted({int(pid) for frame in frames for pid in frame["pid"].unique()})
    alone = len(pids) == 1
    links = _Links.of(model)
    return tuple(a for pid in pids for a in _process(_only(model, pid, alone=alone), pid, links))


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


@dataclass(frozen=True)
class _Rows:
    api: pl.DataFrame
    kernels: pl.DataFrame
    replays: pl.DataFrame
    memory: pl.DataFrame
    profiler: pl.DataFrame

    @property
    def operations(self) -> pl.DataFrame:
        frames = (self.kernels, self.replays, self.memory)
        return pl.concat([f.select("start", "end", "device", "number") for f in frames], rechunk=True)


def _only(model: Model, pid: int, *, alone: bool) -> _Rows:
    def mine(frame: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
        frame = frame.drop("correlation_id", "name", strict=False).with_columns(pl.Series("number", numbers))
        return frame if alone else frame.filter(pl.col("pid") == pid)

    correlation = model.correlation
    kernels, replays, memory = map(mine, model.gpu_operations, correlation.operations)
    profiler = model.profiler_overhead.filter(pl.col("pid") == pid)
    return _Rows(mine(model.api_calls, correlation.calls), kernels, replays, memory, profiler)


def _process(rows: _Rows, pid: int, links: _Links) -> list[Activity]:
    operations = rows.operations
    layers = _call_layers(rows, operations)
    launches = rows.api.filter((pl.col("api_class") == "launch") & (pl.col("booked_class") != "graph_build"))
    launch_coverage = _coverage(links.has_operation, launches["number"])
    devices = operations["device"].unique().sort().to_list()
    if not devices:
        return [Activity(pid, None, (*(EMPTY for _ in GPU_ACCOUNTS), *layers.values()), launch_coverage)]
    result = []
    for device in devices:
        mine = _on_device(rows, device, alone=len(devices) == 1)
        layers["cuda.latency"] = _latency(mine.operations, links)
        traced = pl.concat([mine.kernels["number"], mine.replays["number"]])
        every = (*_gpu_layers(mine), *layers.values())
        api_coverage = _coverage(links.last_call_end > _NO_CALL, traced)
        result.append(Activity(pid, device, every, launch_coverage, api_coverage))
    return result


def _coverage(covered: npt.NDArray[np.bool_], numbers: pl.Series) -> float | None:
    """Return the share of `numbers` that are covered, None without any."""
    return None if numbers.is_empty() else int(covered[numbers.to_numpy()].sum()) / len(numbers)


def _on_device(rows: _Rows, device: int, *, alone: bool) -> _Rows:
    if alone:
        return rows
    here = pl.col("device") == device
    return _Rows(
        rows.api, rows.kernels.filter(here), rows.replays.filter(here), rows.memory.filter(here), rows.profiler
    )


def _union(frame: pl.DataFrame) -> Intervals:
    return union(frame["start"].to_numpy(), frame["end"].to_numpy())


def _gpu_layers(rows: _Rows) -> tuple[Intervals, ...]:
    computing, communicating = rows.kernels.filter(~pl.col("is_comm")), rows.kernels.filter("is_comm")
    sets = pl.col("operation") == "[CUDA memset]"
    frames = (computing, rows.replays, communicating, rows.memory.filter(~sets), rows.memory.filter(sets))
    return tuple(_union(frame) for frame in frames)


def _call_layers(rows: _Rows, operations: pl.DataFrame) -> dict[str, Intervals]:
    """Return the layers of the CUDA accounts, in order; `cuda.latency`, the device's own, is still empty."""
    threads, driving = _driving_threads(rows.api)
    api = rows.api if driving is None else rows.api.filter(driving)
    booked = _booked(api, operations["start"])
    starts, ends = api["start"].to_numpy(), api["end"].to_numpy()
    layers = dict.fromkeys(CUDA_ACCOUNTS, EMPTY)
    layers["cuda.profiler"] = _union(rows.profiler.filter(pl.col("thread").is_in(threads)))
    for code, name in enumerate(API_CLASSES):
        mine = np.flatnonzero(booked == code)
        layers[f"cuda.{name}"] = union(starts[mine], ends[mine])
    return layers


def _driving_threads(api: pl.DataFrame) -> tuple[list[int], pl.Series | None]:
    """Return the threads whose calls count, and which calls these are (None: all).

    They are the threads that launch, copy or set, by the calls' names; where none does, all that call CUDA.
    """
    every = api["thread"].unique()
    driving = api.filter(pl.col("api_class").is_in(list(DRIVING)))["thread"].unique()
    if driving.is_empty() or len(driving) == len(every):
        return every.to_list(), None
    return driving.to_list(), api["thread"].is_in(driving.implode())


def _booked(api: pl.DataFrame, operation_starts: pl.Series) -> npt.NDArray[np.uint8]:
    """Return the position in API_CLASSES each call is booked under, implicit set-up included."""
    codes = api["booked_class"].to_physical().to_numpy().astype(np.uint8)
    if operation_starts.is_empty():
        return codes
    early = (pl.col("start") < operation_starts.min()) & (pl.col("end") - pl.col("start") >= IMPLICIT_SETUP_NS)
    implicit = early & ~pl.col("booked_class").is_in(["setup", "sync"])
    codes[api.select(implicit).to_series().to_numpy()] = API_CLASSES.index("setup")
    return codes


def _latency(operations: pl.DataFrame, links: _Links) -> Intervals:
    """Return the device's own delay before each operation that ends an idle gap (docs/ledger.md, Latency)."""
    starts = operations["start"].to_numpy()
    busy = covers(starts, operations["end"].to_numpy())
    gap_start = np.concatenate([[links.start_ns], busy.ends[:-1]])
    gap_end = busy.starts
    gap = np.minimum(np.searchsorted(gap_end, starts), len(gap_end) - 1)
    ending = np.flatnonzero(gap_end[gap] == starts)
    last = np.full(len(gap_end), _NO_CALL)
    np.maximum.at(last, gap[ending], links.last_call_end[operations["number"].to_numpy()[ending]])
    real = (last > _NO_CALL) & (last < gap_end) & (gap_start < gap_end)
    return union(np.maximum(gap_start, last)[real], gap_end[real])
