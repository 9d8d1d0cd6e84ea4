"""One process as a program that can be replayed: calls in order, GPU operations, and what each had to wait for.

Calls of driving threads count; one inside another of its thread belongs to it. Everything is read off the recording:
the launch delay, the gap between queued operations, which wait waits for what, how many launches may be pending.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from wallsplit.intervals import Intervals, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host import first_launches
from wallsplit.ledger.rows import Rows
from wallsplit.model import Model

LAUNCH, COPY, SET, WAIT = "launch", "memcpy", "memset", "sync"
_DIRECTIONS = ("[CUDA memcpy Host-to-Device]", "[CUDA memcpy Device-to-Host]")
"""Each has a copy engine of its own."""


@dataclass(slots=True)
class Call:
    """One API call, and what is known of why it took so long."""

    start: int
    end: int
    thread: int
    name: str
    kind: str
    """Its class by name."""
    is_set_up: bool
    """It creates a context, or launches something for the first time: code is loaded."""
    operations: list[int] = field(default_factory=list)
    waits_for: tuple[int, ...] = ()
    waited: bool = False
    """It returned right after the last of those ended."""
    tail_ns: int = 0
    """From there to its return."""
    queued_behind: int | None = None
    """The operation that must have started before a full launch queue takes another."""
    own_ns: float = 0.0
    """What it takes by itself."""

    @property
    def ns(self) -> int:
        """Return how long it took."""
        return self.end - self.start


@dataclass(slots=True)
class Operation:
    """One GPU operation, and what it had to wait for; others by their place among the operations."""

    start: int
    end: int
    stream: tuple[int, int | None]
    """Device and stream."""
    kind: str
    """kernel, graph, copy or set."""
    engine: tuple[int, str] | None
    is_comm: bool
    call: int | None
    """The call that began it; None where none was recorded."""
    place: int = 0
    """How many came before it on its stream."""
    previous: int | None = None
    """The one before it on its stream."""
    before_on_engine: int | None = None
    node_before: int | None = None
    """Of a graph's nodes: the one that ended last before it began."""
    waited_for: int | None = None
    """One of another stream after whose end it began, where nothing else explains its delay."""
    delay_ns: int = 0
    """From that end to its start."""
    residual_ns: float = 0.0
    """What is left of its start when all that is known has been taken into account."""

    @property
    def ns(self) -> int:
        """Return how long it took."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Program:
    """The calls of one process by start, its operations by start."""

    pid: int
    calls: Sequence[Call]
    operations: Sequence[Operation]
    awaited: Mapping[int, int]
    """The stream that a call waits for, by the call's place, where that is recorded."""

    @property
    def start_ns(self) -> int:
        """Return when its first call or operation begins."""
        return min(self.calls[0].start, self.operations[0].start)

    @property
    def end_ns(self) -> int:
        """Return when its last call or operation ends."""
        return max(max(call.end for call in self.calls), max(operation.end for operation in self.operations))

    @property
    def wall_ns(self) -> int:
        """Return the time between."""
        return self.end_ns - self.start_ns

    def busy(self) -> Intervals:
        """Return when any of its operations runs."""
        return union(
            np.array([operation.start for operation in self.operations]),
            np.array([operation.end for operation in self.operations]),
        )


def program(model: Model, activities: Sequence[Activity]) -> Program | None:
    """Return the program of one process, given all its activities; None without calls or without operations."""
    every = [activity.rows for activity in activities if activity.rows is not None]
    if not every:
        return None
    set_up = np.logical_or.reduce([first_launches(rows) for rows in every])
    calls, outer = _calls(every[0].calls.with_columns(pl.Series("first", set_up)), model)
    operations: list[Operation] = []
    for activity in activities:
        if activity.rows is not None and activity.device is not None:
            operations += _operations(activity.rows, activity.device, outer)
    if not calls or not operations:
        return None
    operations.sort(key=lambda operation: (operation.start, operation.end))
    for place, operation in enumerate(operations):
        if operation.call is not None and calls[operation.call].start > operation.start:
            operation.call = None  # a clock that runs ahead, or another call's number: not its cause
        if operation.call is not None:
            calls[operation.call].operations.append(place)
    return Program(activities[0].pid, calls, operations, _awaited(model, activities[0].pid, outer))


def _calls(frame: pl.DataFrame, model: Model) -> tuple[list[Call], dict[int, int]]:
    """Return the outermost calls of driving threads, and which of them each correlation number belongs to."""
    rows = frame.filter("is_driving").sort("start", "end", descending=[False, True], maintain_order=True)
    is_set_up = pl.col("first") | (pl.col("booked_class") == "setup")
    columns = rows.select(
        "start", "end", "thread", model.names.text(rows["name"]).alias("text"), "api_class", is_set_up, "number"
    )
    calls: list[Call] = []
    latest: dict[int, int] = {}
    outer: dict[int, int] = {}
    for start, end, thread, name, kind, setting_up, number in columns.iter_rows():
        within = latest.get(thread)
        if within is not None and end <= calls[within].end:
            outer.setdefault(number, within)
            continue
        latest[thread] = len(calls)
        outer.setdefault(number, len(calls))
        calls.append(Call(start, end, thread, name, kind, setting_up))
    return calls, outer


def _awaited(model: Model, pid: int, outer: dict[int, int]) -> dict[int, int]:
    own = pl.col("pid") == pid
    numbers = model.api_calls.select("pid", "correlation_id").with_columns(pl.Series("number", model.correlation.calls))
    waits = model.synchronizations.filter(own, pl.col("stream").is_not_null()).select("correlation_id", "stream")
    rows = waits.join(numbers.filter(own), on="correlation_id").select("number", "stream")
    return {outer[number]: stream for number, stream in rows.iter_rows() if number in outer}


def _operations(rows: Rows, device: int, outer: dict[int, int]) -> list[Operation]:
    nothing = pl.lit(None, pl.String).alias("way")
    way = pl.col("operation").cast(pl.String).alias("way")
    is_set = (pl.col("operation") == "[CUDA memset]").fill_null(value=False)
    no, columns = pl.lit(value=False).alias("is_comm"), ("start", "end", "stream", "number")
    frames = (
        rows.kernels.select(*columns, pl.lit("kernel").alias("kind"), nothing, "is_comm"),
        rows.replays.select(*columns, pl.lit("graph").alias("kind"), nothing, no),
        rows.memory_ops.select(*columns, pl.when(is_set).then(pl.lit("set")).otherwise(pl.lit("copy")), way, no),
    )
    return [
        Operation(
            start, end, (device, stream), kind, (device, way) if way in _DIRECTIONS else None, is_comm, outer.get(n)
        )
        for frame in frames
        for start, end, stream, n, kind, way, is_comm in frame.iter_rows()
    ]
