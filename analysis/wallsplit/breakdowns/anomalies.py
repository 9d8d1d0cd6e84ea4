"""What in the trace does not add up, and how often?"""

from collections.abc import Iterator

import polars as pl

from wallsplit.analysis import Window
from wallsplit.breakdowns.statistics import overlapping
from wallsplit.model.model import Model
from wallsplit.schema import ANOMALIES

KEY = ["pid", "correlation_id"]
NOT_READY = 600
"""cudaErrorNotReady: what a query returns while work is under way. An answer, no failure."""

Found = tuple[str, int, str]
"""kind, count, detail: as the columns of `schema.ANOMALIES`."""


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.ANOMALIES`: a row per kind (failed calls: per name and code), none where all is well.

    `unusable_rows` counts the whole trace whatever the window: such rows have no usable time.
    """
    calls = overlapping(model.api_calls, window)
    kernels, replays, memory_ops = (overlapping(frame, window) for frame in model.gpu_operations)
    executed = pl.concat([frame.select(*KEY, "start", "end") for frame in (kernels, replays)])
    found = [
        *_failed_calls(model, calls),
        *_launches_without_gpu_row(model, calls),
        *_kernels_without_call(model, executed),
        *_memory_ops_without_call(model, memory_ops),
        *_started_before_call(model, executed),
        *_zero_length(executed, memory_ops),
        *_shared_correlation_ids(calls),
        *_unusable_rows(model),
    ]
    return pl.DataFrame(found, schema=ANOMALIES, orient="row")


def _failed_calls(model: Model, calls: pl.DataFrame) -> Iterator[Found]:
    poll = (pl.col("return_value") == NOT_READY) & (pl.col("api_class") == "sync")
    counts = calls.filter(pl.col("return_value") != 0).group_by("name", "return_value", poll.alias("poll")).len()
    named = counts.with_columns(model.names.text(counts["name"]))
    ordered = named.sort("poll", "len", "name", "return_value", descending=[False, True, False, False])
    for name, code, is_poll, count in ordered.iter_rows():
        yield "not_ready_answer" if is_poll else "failed_api_call", count, f"{name} returned {code}"


def _launches_without_gpu_row(model: Model, calls: pl.DataFrame) -> Iterator[Found]:
    launches = calls.lazy().filter(pl.col("api_class") == "launch", pl.col("booked_class") != "graph_build")
    work = pl.concat([frame.lazy().select(KEY) for frame in model.gpu_operations])
    lost = launches.join(work, on=KEY, how="anti").select("name").collect()
    if lost.height:
        counts = model.names.text(lost["name"]).value_counts().sort("count", "name", descending=[True, False])
        names = ", ".join(f"{name} {count} ×" for name, count in counts.iter_rows())
        yield "api_without_gpu_row", lost.height, f"launches outside stream capture without GPU work: {names}"


def _kernels_without_call(model: Model, executed: pl.DataFrame) -> Iterator[Found]:
    if lost := _without_call(model, executed):
        yield "kernel_without_api_row", lost, "kernels and graph replays whose launch call is not in the trace"


def _memory_ops_without_call(model: Model, memory_ops: pl.DataFrame) -> Iterator[Found]:
    if lost := _without_call(model, memory_ops):
        yield "memory_op_without_api_row", lost, "copies and sets without a call; managed memory makes such copies"


def _without_call(model: Model, operations: pl.DataFrame) -> int:
    return operations.select(KEY).join(model.api_calls.select(KEY), on=KEY, how="anti").height


def _started_before_call(model: Model, executed: pl.DataFrame) -> Iterator[Found]:
    calls = model.api_calls.lazy().select(*KEY, called="start")
    pairs = executed.lazy().with_row_index("operation").join(calls, on=KEY, how="inner")
    early = pairs.group_by("operation").agg(pl.col("called").min(), pl.col("start").first())
    count = early.filter(pl.col("start") < pl.col("called")).select(pl.len()).collect().item()
    if count:
        yield "kernel_started_before_call", count, "kernels and graph replays that start before their call does"


def _zero_length(*operations: pl.DataFrame) -> Iterator[Found]:
    if count := sum(frame.filter(pl.col("start") == pl.col("end")).height for frame in operations):
        yield "zero_length_operation", count, "GPU operations that end when they start"


def _shared_correlation_ids(calls: pl.DataFrame) -> Iterator[Found]:
    ids = calls.lazy().select(KEY).drop_nulls()
    count = ids.group_by(KEY).len().filter(pl.col("len") > 1).select(pl.len()).collect().item()
    if count:
        yield "duplicate_correlation_id", count, "correlation ids that several API calls of one process carry"


def _unusable_rows(model: Model) -> Iterator[Found]:
    for table, count in sorted(model.unusable_rows.items()):
        yield "unusable_rows", count, f"rows of {table} with a missing or reversed end or an impossible time"
