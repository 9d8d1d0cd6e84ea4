"""What waits and copies cost, planted by hand; the parts of waits also nanosecond by nanosecond."""

from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from gpu_use import no_phase, whole
from wallsplit.intervals import EMPTY, Times
from wallsplit.ledger.activity import activities
from wallsplit.ledger.host import on_other_devices
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.copies import Copies, SmallReads
from wallsplit.why.copies import table as copies_table
from wallsplit.why.sync import PARTS, Sync, sync, table

PAGEABLE, PINNED, DEVICE = 0, 1, 2


def waiting(model: Model, window: Window | None = None) -> Sync:
    """Return what waits cost the ledger of the first device."""
    everything = activities(model)
    elsewhere = on_other_devices(everything)[everything[0].pid, everything[0].device]
    found = sync(everything[0], window or whole(model), model.names, no_phase, elsewhere)
    assert found is not None
    return found


def parts(model: Model, window: Window | None = None) -> dict[str, int]:
    """Return the parts, without those of 0 ns, of the only kind of wait."""
    (waits,) = waiting(model, window).calls
    return {part.removesuffix("_ns"): getattr(waits, part) for part in PARTS if getattr(waits, part)}


def test_a_wait_is_useful_while_the_gpu_works_and_idle_around_that(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).api("cudaDeviceSynchronize", 10, 100)
    build.kernel(20, 40).kernel(55, 90)
    assert parts(build.model()) == {"useful": 55, "before": 10, "between": 15, "tail": 10}


def test_a_wait_without_any_work_inside_waits_for_nothing(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).kernel(0, 10).kernel(50, 60).api("cudaDeviceSynchronize", 10, 50)
    assert parts(build.model()) == {"nothing": 40}


def test_a_wait_for_another_device_of_the_process_is_elsewhere(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).api("cudaDeviceSynchronize", 10, 100)
    build.kernel(20, 40).kernel(15, 95, device=1)
    assert parts(build.model()) == {"useful": 20, "elsewhere": 60, "before": 5, "tail": 5}


def test_queries_and_waits_of_other_threads_are_none(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).kernel(0, 10).api("cudaEventQuery", 2, 3).api(
        "cudaEventSynchronize", 0, 9, tid=2
    )
    assert waiting(build.model()).calls == ()


def test_waits_are_told_apart_by_call_and_by_the_phase_they_begin_in(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).kernel(0, 100)
    build.api("cudaStreamSynchronize", 10, 20).api("cudaStreamSynchronize", 30, 60).api(
        "cudaStreamSynchronize_v2", 70, 75
    )
    model = build.model()

    def phase_at(times: Times) -> pl.Series:
        return pl.Series(["loss" if time == 30 else None for time in times], dtype=pl.String)

    found = sync(activities(model)[0], whole(model), model.names, phase_at, EMPTY)
    assert found is not None
    rows = [(waits.phase, waits.count, waits.total_ns) for waits in found.calls]
    assert rows == [("loss", 1, 30), (None, 2, 15)]
    written = table([(1, 0, found)])
    assert written["phase"].to_list() == ["loss", None]


def test_a_window_cuts_waits_at_its_ends(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).kernel(0, 100).api("cudaDeviceSynchronize", 10, 120).api("cudaFree", 120, 200)
    model = build.model()
    assert parts(model, Window("part", 50, 110)) == {"useful": 50, "tail": 10}
    assert parts(model, Window("part", 100, 200)) == {"nothing": 20}


def test_copies_are_told_apart_by_kind_and_by_pageable_memory(build: TraceBuilder) -> None:
    build.api("cudaMemcpyAsync", 0, 30, corr=1).copy(10, 30, corr=1, size=100, srcKind=PAGEABLE, dstKind=DEVICE)
    build.api("cudaMemcpyAsync", 40, 45, corr=2).copy(44, 50, corr=2, size=7, srcKind=PAGEABLE, dstKind=DEVICE)
    build.api("cudaMemcpyAsync", 60, 62, corr=3).copy(64, 70, corr=3, size=9, srcKind=PINNED, dstKind=DEVICE)
    build.copy(80, 90, kind=2, size=5)
    found = waiting(build.model()).copies
    assert found == (
        Copies("DtoH", None, count=1, bytes=5, blocking_count=0, call_ns=0, gpu_ns=10),
        Copies("HtoD", "other", count=1, bytes=9, blocking_count=0, call_ns=2, gpu_ns=6),
        Copies("HtoD", "pageable", count=2, bytes=107, blocking_count=1, call_ns=35, gpu_ns=26),
    )
    assert copies_table([(1, 0, found)])["memory"].to_list() == [None, "other", "pageable"]


def test_of_two_calls_with_one_id_a_copy_belongs_to_the_one_that_ends_last(build: TraceBuilder) -> None:
    build.api("cudaMemcpy", 0, 20, corr=1).api("cudaMemcpy_v3020", 2, 18, corr=1).copy(5, 20, corr=1)
    (row,) = waiting(build.model()).copies
    assert (row.call_ns, row.blocking_count) == (20, 1)


def test_a_small_read_that_blocks_loses_the_idle_time_after_it(build: TraceBuilder) -> None:
    build.kernel(0, 10).api("cudaMemcpy", 5, 20, corr=1).copy(12, 16, corr=1, kind=2, size=1024).kernel(50, 60)
    assert waiting(build.model()).small_reads == SmallReads(count=1, host_ns=15, idle_after_ns=34)


def test_a_small_read_under_other_work_loses_nothing(build: TraceBuilder) -> None:
    build.api("cudaMemcpy", 5, 20, corr=1).copy(12, 16, corr=1, kind=2).kernel(0, 40).kernel(50, 60)
    assert waiting(build.model()).small_reads == SmallReads(count=1, host_ns=15, idle_after_ns=0)


def test_an_asynchronous_read_is_waited_for_by_its_threads_next_call(build: TraceBuilder) -> None:
    build.api("cudaMemcpyAsync", 0, 5, corr=1).copy(10, 16, corr=1, kind=2).api("cudaLaunchKernel", 6, 7, tid=2)
    build.api("cudaStreamSynchronize", 8, 20).kernel(30, 40)
    assert waiting(build.model()).small_reads == SmallReads(count=1, host_ns=5 + 12, idle_after_ns=14)


def test_large_reads_writes_and_reads_nobody_waits_for_are_no_small_reads(build: TraceBuilder) -> None:
    build.api("cudaMemcpy", 0, 20, corr=1).copy(5, 20, corr=1, kind=2, size=1025)
    build.api("cudaMemcpy", 20, 40, corr=2).copy(25, 40, corr=2, kind=1, size=4)
    build.api("cudaMemcpyAsync", 40, 42, corr=3).copy(45, 50, corr=3, kind=2).api("cudaLaunchKernel", 43, 44)
    build.copy(60, 70, kind=2)
    assert waiting(build.model()).small_reads == SmallReads(0, 0, 0)


times = st.tuples(st.integers(0, 40), st.integers(0, 12))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(times, max_size=6), st.lists(times, max_size=4), st.lists(times, min_size=1, max_size=4))
def test_every_nanosecond_of_a_wait_is_in_the_part_that_its_instant_is_of(
    tmp_path: Path, own: list[tuple[int, int]], other: list[tuple[int, int]], waits: list[tuple[int, int]]
) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").api("cudaLaunchKernel", 0, 0).kernel(70, 71)
    for start, length in own:
        build.kernel(start, start + length)
    for start, length in other:
        build.kernel(start, start + length, device=1)
    for start, length in waits:
        build.api("cudaDeviceSynchronize", start, start + length)

    def works(spans: list[tuple[int, int]], tick: int) -> bool:
        return any(start <= tick < start + length for start, length in spans)

    expected = dict.fromkeys(PARTS, 0)
    for start, length in waits:
        inside = [tick for tick in range(start, start + length) if works(own, tick)]
        for tick in range(start, start + length):
            if tick in inside:
                part = "useful_ns"
            elif works(other, tick):
                part = "elsewhere_ns"
            elif not inside:
                part = "nothing_ns"
            else:
                part = "before_ns" if tick < inside[0] else "tail_ns" if tick > inside[-1] else "between_ns"
            expected[part] += 1
    (found,) = waiting(build.model()).calls
    assert {part: getattr(found, part) for part in PARTS} == expected
