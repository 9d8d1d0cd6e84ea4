"""What in the trace does not add up, and how often?"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.statistics import overlapping
from wallsplit.intervals import Times
from wallsplit.ledger.ledger import Window
from wallsplit.model.correlation import MOST_CALLS, Correlation, Numbers
from wallsplit.model.error_codes import NOT_READY, in_words
from wallsplit.model.model import Model
from wallsplit.schema import ANOMALIES

NO_CALL = np.iinfo(np.int64).max
"""The time of the first of no calls."""
IS_POLL = (pl.col("return_value") == NOT_READY) & (pl.col("api_class") == "sync")
"""A call that asked whether an event or a stream is done and was told "not ready": an answer, no failure."""

Found = tuple[str, int, str]
"""kind, count, detail: as the columns of `schema.ANOMALIES`."""


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.ANOMALIES`: a row per kind (failed calls: per name and code), none where all is well.

    `unusable_rows`, `impossible_size`, `launch_left_out` and `device_clock_ahead` count the whole trace whatever the
    window: such rows have no usable time, and a clock that runs ahead does so throughout.
    """
    correlation = model.correlation
    calls = _numbered(model.api_calls, correlation.calls, window)
    frames = zip(model.gpu_operations, correlation.operations, strict=True)
    kernels, replays, memory_ops = (_numbered(*each, window) for each in frames)
    executed = pl.concat([frame.select("number", "start", "end") for frame in (kernels, replays)])
    first_call = correlation.earliest(correlation.calls, model.api_calls["start"].to_numpy())
    found = [
        *_failed_calls(model, calls),
        *_launches_without_gpu_row(model, calls),
        *_kernels_without_call(executed, first_call),
        *_memory_ops_without_call(memory_ops, first_call),
        *_started_before_call(executed, first_call),
        *_clock_ahead(model),
        *_zero_length(executed, memory_ops),
        *_shared_correlation_ids(calls, correlation),
        *_pairs_left_out(correlation),
        *_impossible_sizes(model),
        *_unusable_rows(model),
    ]
    return pl.DataFrame(found, schema=ANOMALIES, orient="row")


def _numbered(rows: pl.DataFrame, numbers: Numbers, window: Window | None) -> pl.DataFrame:
    return overlapping(rows.with_columns(pl.Series("number", numbers)), window)


def _failed_calls(model: Model, calls: pl.DataFrame) -> Iterator[Found]:
    counts = calls.filter(pl.col("return_value") != 0).group_by("name", "return_value", IS_POLL.alias("poll")).len()
    named = counts.with_columns(model.names.text(counts["name"]))
    ordered = named.sort("poll", "len", "name", "return_value", descending=[False, True, False, False])
    for name, code, is_poll, count in ordered.iter_rows():
        yield "not_ready_answer" if is_poll else "failed_api_call", count, f"{name}: {in_words(code)}"


def _launches_without_gpu_row(model: Model, calls: pl.DataFrame) -> Iterator[Found]:
    ran = pl.col("return_value").fill_null(0) <= 0  # a launch that failed is a failed call, nothing is lost
    launches = calls.filter(pl.col("api_class") == "launch", pl.col("booked_class") != "graph_build", ran)
    lost = launches.filter(pl.Series(model.correlation.operations_per_number[launches["number"]] == 0))
    if lost.height:
        counts = model.names.text(lost["name"]).value_counts().sort("count", "name", descending=[True, False])
        names = ", ".join(f"{name} {count} ×" for name, count in counts.iter_rows())
        yield "api_without_gpu_row", lost.height, f"launches outside stream capture without GPU work: {names}"


def _kernels_without_call(executed: pl.DataFrame, first_call: Times) -> Iterator[Found]:
    if lost := _without_call(executed, first_call):
        yield "kernel_without_api_row", lost, "kernels and graph replays whose launch call is not in the trace"


def _memory_ops_without_call(memory_ops: pl.DataFrame, first_call: Times) -> Iterator[Found]:
    if lost := _without_call(memory_ops, first_call):
        yield "memory_op_without_api_row", lost, "copies and sets without a call; managed memory makes such copies"


def _without_call(operations: pl.DataFrame, first_call: Times) -> int:
    return int((first_call[operations["number"]] == NO_CALL).sum())


def _started_before_call(executed: pl.DataFrame, first_call: Times) -> Iterator[Found]:
    called = first_call[executed["number"]]
    count = int(((executed["start"].to_numpy() < called) & (called < NO_CALL)).sum())
    if count:
        yield "kernel_started_before_call", count, "kernels and graph replays that start before their call does"


def _clock_ahead(model: Model) -> Iterator[Found]:
    for clock in model.clocks_ahead:
        where = f"waits of process {clock.pid} for device {clock.device}"
        yield "device_clock_ahead", clock.count, f"{where} return up to {clock.largest_ns} ns before their work ends"


def _zero_length(*operations: pl.DataFrame) -> Iterator[Found]:
    if count := sum(frame.filter(pl.col("start") == pl.col("end")).height for frame in operations):
        yield "zero_length_operation", count, "GPU operations that end when they start"


def _shared_correlation_ids(calls: pl.DataFrame, correlation: Correlation) -> Iterator[Found]:
    count = int((np.bincount(calls["number"], minlength=correlation.size)[:-2] > 1).sum())  # the last two: no id
    if count:
        yield "duplicate_correlation_id", count, "correlation ids that several API calls of one process carry"


def _pairs_left_out(correlation: Correlation) -> Iterator[Found]:
    if count := correlation.pairs_left_out(correlation.operations[0]):
        detail = f"pairs of a kernel and a call beyond the first {MOST_CALLS} calls with its correlation id"
        yield "launch_left_out", count, f"{detail}: no launches in the table of them"


def _impossible_sizes(model: Model) -> Iterator[Found]:
    if model.impossible_sizes:
        yield "impossible_size", model.impossible_sizes, "copies, sets and allocations of a size that no memory has"


def _unusable_rows(model: Model) -> Iterator[Found]:
    for table, count in sorted(model.unusable_rows.items()):
        yield "unusable_rows", count, f"rows of {table} with a missing or reversed end or an impossible time"


TABLE = Breakdown("anomalies", "Anomalies", ANOMALIES, compute)
