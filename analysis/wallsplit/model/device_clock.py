"""Does the device's clock run ahead of the host's, so that a wait seems to end before what it waits for?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.model.correlation import MOST_CALLS, Correlation
from wallsplit.model.names import Names
from wallsplit.ranks import rows_of_each
from wallsplit.schema import ApiCalls, Synchronizations
from wallsplit.trace.kinds import numbered

OF_STREAM = r"StreamSynchronize$"
OF_DEVICE = r"(Device|Thread|Ctx)Synchronize$"
_LONG_AGO = np.int64(-(2**62))


@dataclass(frozen=True)
class ClockAhead:
    """Waits of a process for a device that return before an operation they wait for ends."""

    pid: int
    device: int
    count: int
    largest_ns: int
    """At least so much does the device's clock run ahead, for a time. Nothing is corrected for it."""


def clocks_ahead(
    names: Names,
    calls: ApiCalls,
    operations: Sequence[pl.DataFrame],
    correlation: Correlation,
    synchronizations: Synchronizations,
) -> tuple[ClockAhead, ...]:
    """Return the processes and devices, sorted, whose waits return too early; whole trace.

    A wait for a stream must outlast every operation of the stream whose call returned before the wait began, one for a
    device every such operation of the device. Waits for events are left out, and so is everything where nsys recorded
    no streams.
    """
    if synchronizations.is_empty():
        return ()
    waits = _waits(names, calls, correlation, synchronizations)
    if waits.is_empty():
        return ()
    queued = _Operations.of(calls, operations, correlation)
    late = [
        _late(waits.filter(pl.col("stream").is_not_null()), queued, ("pid", "device", "stream")),
        _late(waits.filter(pl.col("stream").is_null()), queued, ("pid", "device")),
    ]
    early = pl.concat(late).filter(pl.col("late_ns") > 0)
    by = early.group_by("pid", "device").agg(pl.len(), pl.col("late_ns").max()).sort("pid", "device")
    return tuple(ClockAhead(*row) for row in by.iter_rows())


def _waits(names: Names, every: ApiCalls, correlation: Correlation, synchronizations: Synchronizations) -> pl.DataFrame:
    """Return pid, device, stream (null: all of the device), start and end of the waits."""
    texts = names.texts
    of_stream, of_device = (texts.str.contains(pattern).to_numpy() for pattern in (OF_STREAM, OF_DEVICE))
    rows = np.flatnonzero((of_stream | of_device)[every["name"].to_numpy()])
    calls = every.select("pid", "correlation_id", "name", "start", "end", "return_value")[rows]
    succeeded = (calls["return_value"].fill_null(0) == 0).to_numpy()
    calls = calls.filter(succeeded).with_columns(of_stream=pl.Series(of_stream).gather(calls.filter(succeeded)["name"]))
    calls = calls[np.flatnonzero(_place_among_equals(correlation.calls[rows[succeeded]]) < MOST_CALLS)]
    waits = synchronizations.join(calls, on=["pid", "correlation_id"]).filter(
        pl.col("stream").is_not_null() | ~pl.col("of_stream")
    )
    stream = pl.when("of_stream").then("stream")
    return waits.select("pid", "device", stream.alias("stream"), "start", "end")


def _place_among_equals(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return how many equal numbers come before each."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    first = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)])
    place = np.empty(len(numbers), np.int64)
    place[order] = np.arange(len(numbers)) - np.repeat(first, np.diff(np.append(first, len(numbers))))
    return place


@dataclass(frozen=True, eq=False)
class _Operations:
    """The GPU operations that have a call, by the return of their first one."""

    queue: pl.DataFrame
    """pid, device and stream."""
    returned: Times
    end: Times

    @classmethod
    def of(cls, calls: ApiCalls, operations: Sequence[pl.DataFrame], correlation: Correlation) -> "_Operations":
        first = correlation.earliest(correlation.calls, calls["end"].to_numpy())
        returned = np.concatenate([first[numbers] for numbers in correlation.operations])
        del first
        order = np.argsort(returned, kind="stable")
        returned = returned[order]
        order = order[: np.searchsorted(returned, np.iinfo(np.int64).max)]
        queue = pl.concat([frame.select("pid", "device", "stream") for frame in operations])[order]
        end = np.concatenate([frame["end"].to_numpy() for frame in operations])[order]
        return cls(queue, returned[: len(order)], end)

    def last_end(self, rows: npt.NDArray[np.integer[Any]], times: Times) -> Times:
        """Return the latest end of some operations, in order, whose call returned by each of the times."""
        latest = np.maximum.accumulate(np.append(_LONG_AGO, self.end[rows]))
        return np.asarray(latest[np.searchsorted(self.returned[rows], times, side="right")])


def _late(waits: pl.DataFrame, operations: _Operations, by: tuple[str, ...]) -> pl.DataFrame:
    """Return pid, device and `late_ns` of each wait: how long after it the last operation it waits for ends."""
    found = [pl.DataFrame(schema={"pid": pl.Int32, "device": pl.Int32, "late_ns": pl.Int64})]
    if waits.is_empty():
        return found[0]
    kind, first = numbered(pl.concat([waits.select(by), operations.queue.select(by)]))
    of_waits, of_operations = (rows_of_each(kinds, len(first)) for kinds in np.split(kind, [waits.height]))
    for waiting, queued in zip(of_waits, of_operations, strict=True):
        if len(waiting) and len(queued):
            own = waits[waiting]
            late = operations.last_end(queued, own["start"].to_numpy()) - own["end"].to_numpy()
            found.append(own.select("pid", "device", late_ns=pl.Series(late, dtype=pl.Int64)))
    return pl.concat(found)
