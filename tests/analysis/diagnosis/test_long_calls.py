"""A few long calls among many short ones."""

import numpy as np

from builders import TraceBuilder
from gpu_use import only_activity
from wallsplit.diagnosis.long_calls import LONG_NS, long_calls
from wallsplit.intervals import Intervals, union
from wallsplit.model import Model

MS = 1_000_000


def found(model: Model, cause: str, *when: tuple[int, int]) -> tuple[str, int, int, int] | None:
    rows = only_activity(model).rows
    assert rows is not None
    starts, ends = (np.array(edge, np.int64) for edge in zip(*when, strict=True))
    calls = long_calls(rows, model.names, cause, union(starts, ends))
    return None if calls is None else (calls.name, calls.count, calls.of_count, calls.held_ns)


def copies(build: TraceBuilder, *lengths: int) -> Model:
    """Return copies one after the other, and the kernel that makes a ledger."""
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(20, 30, corr=1)
    start = 5 * MS
    for length in lengths:
        build.api("cudaMemcpy", start, start + length)
        start += 100 * MS
    return build.model()


def test_two_stalls_among_short_copies_hold_the_time(build: TraceBuilder) -> None:
    model = copies(build, 10_000, 10_000, 10_000, 40 * MS, 30 * MS, 10_000, 10_000)
    assert found(model, "transfer", (0, 1_000 * MS)) is None  # 70 of 1,000 ms are not most of it
    assert found(model, "transfer", (304 * MS, 436 * MS)) == ("cudaMemcpy", 2, 7, 70 * MS)


def test_copies_that_are_always_long_are_the_usual_cost(build: TraceBuilder) -> None:
    assert found(copies(build, 40 * MS, 30 * MS, 35 * MS), "transfer", (0, 300 * MS)) is None


def test_a_call_below_a_millisecond_is_not_long(build: TraceBuilder) -> None:
    model = copies(build, 100, 100, 100, LONG_NS - 1)
    assert found(model, "transfer", (305 * MS, 306 * MS)) is None


def test_only_calls_that_a_cause_is_spent_in_are_looked_at(build: TraceBuilder) -> None:
    model = copies(build, 10_000, 10_000, 10_000, 40 * MS)
    assert found(model, "sync", (305 * MS, 345 * MS)) is None
    assert found(model, "host", (305 * MS, 345 * MS)) is None


def test_nothing_to_hold_is_held_by_nothing(build: TraceBuilder) -> None:
    model = copies(build, 10_000, 10_000, 10_000, 40 * MS)
    rows = only_activity(model).rows
    assert rows is not None
    nothing = union(*(Intervals(rows.calls["start"].to_numpy()[:0], rows.calls["end"].to_numpy()[:0])))
    assert long_calls(rows, model.names, "transfer", nothing) is None
