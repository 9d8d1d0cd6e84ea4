"""What was active when: decided on the whole trace, before any window (LEDGER.md).

One set of intervals per account and (process, device); booking them in a window is the ledger's work.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import CUDA_ACCOUNTS, GPU_ACCOUNTS
from wallsplit.intervals import EMPTY, Intervals, Times, covers, union
from wallsplit.model import Model
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
    return tuple(a for pid in pids for a in _process(_only(model, pid, alone=len(pids) == 1), pid, model.cuda_span[0]))


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
        return pl.concat([f.select("start", "end", "device", "correlation_id") for f in frames])


def _only(model: Model, pid: int, *, alone: bool) -> _Rows:
    def mine(frame: pl.DataFrame) -> pl.DataFrame:
        return frame if alone else frame.filter(pl.col("pid") == pid)

    return _Rows(
        mine(model.api_calls),
        mine(model.kernels),
        mine(model.graph_replays),
        mine(model.memory_ops),
        model.profiler_overhead.filter(pl.col("pid") == pid),
    )


def _process(rows: _Rows, pid: int, start_ns: int) -> list[Activity]:
    operations = rows.operations
    calls = _call_layers(rows, operations)
    launches = rows.api.filter(pl.col("api_class") == "launch", pl.col("booked_class") != "graph_build")
    launch_coverage = _coverage(launches["correlation_id"], operations["correlation_id"])
    devices = operations["device"].unique().sort().to_list()
    if not devices:
        return [Activity(pid, None, (*(EMPTY for _ in GPU_ACCOUNTS), *calls.values()), launch_coverage)]
    result = []
    for device in devices:
        mine = _on_device(rows, device, alone=len(devices) == 1)
        calls["cuda.latency"] = _latency(mine.operations, rows.api, start_ns)
        traced = pl.concat([mine.kernels["correlation_id"], mine.replays["correlation_id"]])
        api_coverage = _coverage(traced, rows.api["correlation_id"])
        layers = (*_gpu_layers(mine), *calls.values())
        result.append(Activity(pid, device, layers, launch_coverage, api_coverage))
    return result


def _on_device(rows: _Rows, device: int, *, alone: bool) -> _Rows:
    if alone:
        return rows
    here = pl.col("device") == device
    return _Rows(
        rows.api, rows.kernels.filter(here), rows.replays.filter(here), rows.memory.filter(here), rows.profiler
    )


def _coverage(of: pl.Series, among: pl.Series) -> float | None:
    """Return the share of ids in `of` that occur in `among`, or None without any; a null id occurs nowhere."""
    if of.is_empty():
        return None
    return int(of.is_in(among.drop_nulls().implode()).fill_null(value=False).sum()) / len(of)


def _union(frame: pl.DataFrame) -> Intervals:
    return union(frame["start"].to_numpy(), frame["end"].to_numpy())


def _gpu_layers(rows: _Rows) -> tuple[Intervals, ...]:
    computing, communicating = rows.kernels.filter(~pl.col("is_comm")), rows.kernels.filter("is_comm")
    sets = pl.col("operation") == "[CUDA memset]"
    frames = (computing, rows.replays, communicating, rows.memory.filter(~sets), rows.memory.filter(sets))
    return tuple(_union(frame) for frame in frames)


def _call_layers(rows: _Rows, operations: pl.DataFrame) -> dict[str, Intervals]:
    """Return the layers of the CUDA accounts, in order; `cuda.latency`, the device's own, is still empty."""
    threads = _driving_threads(rows.api)
    api = rows.api if threads is None else rows.api.filter(pl.col("thread").is_in(threads))
    booked = _booked(api, operations["start"])
    starts, ends = api["start"].to_numpy(), api["end"].to_numpy()
    layers = dict.fromkeys(CUDA_ACCOUNTS, EMPTY)
    own = rows.profiler.filter(pl.col("thread").is_in(api["thread"].unique().implode()))
    layers["cuda.profiler"] = _union(own)
    for code, name in enumerate(API_CLASSES):
        mine = booked == code
        layers[f"cuda.{name}"] = union(starts[mine], ends[mine])
    return layers


def _driving_threads(api: pl.DataFrame) -> list[int] | None:
    """Return the threads whose calls count, or None for all: those that launch, copy or set, by the calls' names."""
    driving = api.filter(pl.col("api_class").is_in(list(DRIVING)))["thread"].unique()
    if driving.is_empty() or len(driving) == api["thread"].n_unique():
        return None
    return driving.to_list()


def _booked(api: pl.DataFrame, operation_starts: pl.Series) -> npt.NDArray[np.uint8]:
    """Return the position in API_CLASSES each call is booked under, implicit set-up included."""
    codes = api["booked_class"].to_physical().to_numpy().astype(np.uint8)
    if operation_starts.is_empty():
        return codes
    implicit = (
        (pl.col("end") - pl.col("start") >= IMPLICIT_SETUP_NS)
        & (pl.col("start") < operation_starts.min())
        & ~pl.col("booked_class").is_in(["setup", "sync"])
    )
    codes[api.select(implicit).to_series().to_numpy()] = API_CLASSES.index("setup")
    return codes


def _latency(operations: pl.DataFrame, api: pl.DataFrame, start_ns: int) -> Intervals:
    """Return the device's own delay before each operation that ends an idle gap (LEDGER.md, Latency)."""
    starts = operations["start"].to_numpy()
    busy = covers(starts, operations["end"].to_numpy())
    gap_start = np.concatenate([[start_ns], busy.ends[:-1]])
    gap_end = busy.starts
    place = np.minimum(np.searchsorted(gap_end, starts), len(gap_end) - 1)
    ending = np.flatnonzero(gap_end[place] == starts)
    call_end = _last_call_end(operations["correlation_id"][ending], api)
    last = np.full(len(gap_end), _NO_CALL)
    np.maximum.at(last, place[ending], call_end)
    real = (last > _NO_CALL) & (last < gap_end) & (gap_start < gap_end)
    return union(np.maximum(gap_start, last)[real], gap_end[real])


def _last_call_end(correlation_ids: pl.Series, api: pl.DataFrame) -> Times:
    """Return, per id, the latest end of the API calls with it; _NO_CALL without any."""
    wanted = pl.DataFrame({"correlation_id": correlation_ids})
    ends = api.select("correlation_id", "end").drop_nulls("correlation_id")
    if not ends["correlation_id"].is_unique().all():
        ends = ends.group_by("correlation_id").agg(pl.col("end").max())
    joined = wanted.join(ends, on="correlation_id", how="left", maintain_order="left")
    return joined["end"].fill_null(_NO_CALL).to_numpy()
