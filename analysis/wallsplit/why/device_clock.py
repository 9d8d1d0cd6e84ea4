"""Does the device's clock run ahead of the host's, so that a wait seems to end before what it waits for?"""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.model import Model
from wallsplit.model.correlation import MOST_CALLS

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


def clocks_ahead(model: Model) -> tuple[ClockAhead, ...]:
    """Return the processes and devices, sorted, whose waits return too early; whole trace.

    A wait for a stream must outlast every operation of the stream whose call returned before the wait began, one for a
    device every such operation of the device. Waits for events are left out, and so is everything where nsys recorded
    no streams.
    """
    waits = pl.DataFrame() if model.synchronizations.is_empty() else _waits(model)
    if waits.is_empty():
        return ()
    operations = _operations(model).filter(pl.col("pid").is_in(waits["pid"].unique().implode()))
    late = [
        _late(waits.filter(pl.col("stream").is_not_null()), operations, ("pid", "device", "stream")),
        _late(waits.filter(pl.col("stream").is_null()), operations, ("pid", "device")),
    ]
    early = pl.concat(late).filter(pl.col("late_ns") > 0)
    by = early.group_by("pid", "device").agg(pl.len(), pl.col("late_ns").max()).sort("pid", "device")
    return tuple(ClockAhead(*row) for row in by.iter_rows())


def _waits(model: Model) -> pl.DataFrame:
    """Return pid, device, stream (null: all of the device), start and end of the waits."""
    texts = model.names.texts
    named = pl.DataFrame({"of_stream": texts.str.contains(OF_STREAM), "of_device": texts.str.contains(OF_DEVICE)})
    waiting = named.with_row_index("name").filter(pl.col("of_stream") | pl.col("of_device"))
    calls = model.api_calls.filter(pl.col("return_value").fill_null(0) == 0).join(
        waiting.with_columns(pl.col("name").cast(pl.Int32)), on="name"
    )
    calls = calls.filter(pl.int_range(pl.len()).over("pid", "correlation_id") < MOST_CALLS)
    waits = model.synchronizations.join(calls, on=["pid", "correlation_id"]).filter(
        pl.col("stream").is_not_null() | ~pl.col("of_stream")
    )
    stream = pl.when("of_stream").then("stream")
    return waits.select("pid", "device", stream.alias("stream"), "start", "end")


def _operations(model: Model) -> pl.DataFrame:
    """Return pid, device, stream, end and the return of the first call of each operation that has one."""
    correlation = model.correlation
    returned = correlation.earliest(correlation.calls, model.api_calls["end"].to_numpy())
    frames = [
        frame.select("pid", "device", "stream", "end", returned=pl.Series(returned[numbers]))
        for frame, numbers in zip(model.gpu_operations, correlation.operations, strict=True)
    ]
    return pl.concat(frames).filter(pl.col("returned") < np.iinfo(np.int64).max)


def _late(waits: pl.DataFrame, operations: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return pid, device and `late_ns` of each wait: how long after it the last operation it waits for ends."""
    found = [pl.DataFrame(schema={"pid": pl.Int32, "device": pl.Int32, "late_ns": pl.Int64})]
    if waits.is_empty():
        return found[0]
    queues = operations.select(*by, "end", "returned").partition_by(by, as_dict=True, include_key=False)
    for key, own in waits.partition_by(by, as_dict=True).items():
        if key in queues:
            late = _last_end(queues[key], own["start"].to_numpy()) - own["end"].to_numpy()
            found.append(own.select("pid", "device", late_ns=pl.Series(late, dtype=pl.Int64)))
    return pl.concat(found)


def _last_end(queue: pl.DataFrame, times: Times) -> npt.NDArray[np.int64]:
    """Return the latest end of the operations whose call returned by each of the times."""
    in_turn = queue.sort("returned")
    latest = np.maximum.accumulate(np.append(_LONG_AGO, in_turn["end"].to_numpy()))
    return np.asarray(latest[np.searchsorted(in_turn["returned"].to_numpy(), times, side="right")])
