"""The rows behind each ledger: one process's calls, and its GPU operations on one device."""

from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.ledger.setup import set_up_by_cause
from wallsplit.model import Model
from wallsplit.model.correlation import Numbers
from wallsplit.schema import API_CLASSES, ApiClass

SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
DRIVING = ("launch", "memcpy", "memset")
"""A thread with a call of one of these classes, by name, drives the GPU."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Frames as in schema.py, in file order, each row with its correlation `number` instead of pid and id."""

    calls: pl.DataFrame
    """API calls of the process, all threads. `booked_class` knows set-up by cause; `is_captured`, `is_driving`."""
    kernels: pl.DataFrame
    replays: pl.DataFrame
    memory_ops: pl.DataFrame

    @property
    def operation_times(self) -> pl.DataFrame:
        """Return start, end and number of every GPU operation: kernels, then replays, copies and sets."""
        frames = (self.kernels, self.replays, self.memory_ops)
        return pl.concat([frame.select("start", "end", "number") for frame in frames], rechunk=True)

    @cached_property
    def operations(self) -> pl.DataFrame:
        """Every GPU operation: start, end, number, `kind` (0 kernel, 1 replay, 2 copy, 3 set) and `row` in its frame.

        Sorted by start, then end; of equal ones kernels come first, then replays, copies and sets, in file order.
        """
        is_set = (self.memory_ops["operation"] == "[CUDA memset]").to_numpy()
        kinds = [np.zeros(self.kernels.height, np.uint8), np.ones(self.replays.height, np.uint8), 2 + is_set]
        rows = [np.arange(len(kind), dtype=np.uint32) for kind in kinds]
        every = self.operation_times.with_columns(
            pl.Series("kind", np.concatenate(kinds).astype(np.uint8)), pl.Series("row", np.concatenate(rows))
        )
        return every.sort("start", "end", maintain_order=True)


def rows_of_processes(model: Model) -> dict[int, dict[int | None, Rows]]:
    """Return the rows by process and device, both ascending; a process without any GPU operation has device None."""
    frames = (model.api_calls, *model.gpu_operations)
    pids = sorted({int(pid) for frame in frames for pid in frame["pid"].unique()})
    return {pid: _devices(model, pid) for pid in pids}


def rows_of(frame: pl.DataFrame, key: str, value: int) -> slice:
    """Return the rows with this value of a column in ascending order."""
    low, high = (int(np.searchsorted(frame[key].to_numpy(), value, side)) for side in SIDES)
    return slice(low, high)


def _devices(model: Model, pid: int) -> dict[int | None, Rows]:
    def mine(frame: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
        rows = rows_of(frame, "pid", pid)  # slices are views; the numbers of all processes would be a copy for each
        return frame[rows].drop("pid", "correlation_id").with_columns(pl.Series("number", numbers[rows]))

    calls = mine(model.api_calls, model.correlation.calls)
    kernels, replays, memory_ops = map(mine, model.gpu_operations, model.correlation.operations)
    codes = set_up_by_cause(calls, kernels, replays, memory_ops, model.names)
    is_captured = (pl.col("booked_class") == "graph_build") & (pl.col("api_class") != "graph_build")
    calls = calls.with_columns(
        pl.Series(API_CLASSES, dtype=ApiClass).gather(codes).alias("booked_class"),
        is_captured.alias("is_captured"),
        _is_driving(calls).alias("is_driving"),
    )
    devices = sorted({int(device) for frame in (kernels, replays, memory_ops) for device in frame["device"].unique()})
    if len(devices) < 2:
        return {(devices[0] if devices else None): Rows(calls, kernels, replays, memory_ops)}
    return {
        device: Rows(calls, *(frame[rows_of(frame, "device", device)] for frame in (kernels, replays, memory_ops)))
        for device in devices
    }


def _is_driving(calls: pl.DataFrame) -> pl.Series:
    """Return which calls are of driving threads: those that launch, copy or set; where none does, of all threads."""
    driving = calls.filter(pl.col("api_class").is_in(list(DRIVING)))["thread"].unique()
    if driving.is_empty():
        return pl.repeat(True, calls.height, dtype=pl.Boolean, eager=True)
    return calls["thread"].is_in(driving.implode())
