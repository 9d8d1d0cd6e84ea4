"""Slices of any size give the ledger and the statistics of the whole: what docs/beyond-memory.md promises."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median, stdev

import numpy as np
import pytest
from bench.merged import LARGEST_ERROR, Statistics, added, bucket_of, of_names
from bench.slices import at_once, by_slices, median_error, statistics
from bench.streamed import Ledger, Rows, book, key_of, survey
from hypothesis import given
from hypothesis import strategies as st

from builders import TraceBuilder, global_id
from shared_traces import TRACES, needs_shared_traces
from wallsplit.accounts import LAYERS

KERNEL, COPY, OTHER, LAUNCH, SYNC, PROFILER = (
    LAYERS.index(name)
    for name in ("gpu.kernel", "gpu.memcpy", "gpu.other", "cuda.launch", "cuda.sync", "cuda.profiler")
)
TICKS = 30
times = st.tuples(st.integers(0, TICKS), st.integers(0, TICKS)).map(sorted)
operations = st.tuples(times, st.integers(1, 2), st.integers(0, 1), st.sampled_from([KERNEL, COPY]))
calls = st.tuples(times, st.integers(1, 2), st.integers(1, 2), st.sampled_from([LAUNCH, SYNC, PROFILER]))
Row = tuple[list[int], int, int, int]


def columns(rows: Sequence[Row], *, on_gpu: bool) -> Rows:
    """Return rows of ((start, end), process, device or thread, layer); the profiler's are none that span a window."""
    keys = []
    for _, pid, place, layer in rows:
        owner = np.array([global_id(pid, 0 if on_gpu else place)])
        keys.append(int(key_of(owner, place if on_gpu else 0, layer)[0]))
    start, end = np.array([row[0] for row in rows], np.int64).reshape(-1, 2).T
    layers = np.array([row[3] for row in rows], np.int64)
    return Rows(start, end, np.array(keys, np.int64), -layers, in_span=PROFILER not in layers)


def chunks_of(table: Sequence[Row], size: int, *, on_gpu: bool) -> list[Rows]:
    return [columns(table[first : first + size], on_gpu=on_gpu) for first in range(0, len(table), size)]


def tick_by_tick(work: Sequence[Row], made: Sequence[Row], ledger: Ledger, span: tuple[int, int]) -> dict[int, int]:
    """Return how many ticks of the span each set of layers is active in, by looking at every row at every tick."""
    pid, device = ledger
    own = [call for call in made if call[1] == pid]
    driving = {call[2] for call in own if call[3] == LAUNCH} or {call[2] for call in own if call[3] != PROFILER}
    layers = [
        *((row[0], row[3]) for row in work if row[1] == pid and row[2] == device),
        *((row[0], OTHER) for row in work if row[1] != pid and row[2] == device),
        *((call[0], call[3]) for call in own if call[2] in driving),
    ]
    found: dict[int, int] = {}
    for tick in range(*span):
        active = sum({1 << layer for (start, end), layer in layers if start <= tick < end})
        found[active] = found.get(active, 0) + 1
    return found


@given(st.lists(operations, max_size=8), st.lists(calls, max_size=8), st.integers(1, 8))
def test_slices_of_any_size_book_what_is_active_at_every_tick(work: list[Row], made: list[Row], size: int) -> None:
    by_cuda = [call for call in made if call[3] != PROFILER]
    by_profiler = [call for call in made if call[3] == PROFILER]
    tables = [(work, True), (by_cuda, False), (by_profiler, False)]
    chunks = [rows for table, on_gpu in tables for rows in chunks_of(table, size, on_gpu=on_gpu)]
    found = survey([lambda rows=rows: rows for rows in chunks])  # type: ignore[misc]
    booked = book(found, {}).masks
    spanning = [row[0] for row in (*work, *by_cuda)]
    assert booked.keys() >= {(row[1], row[2]) for row in work}
    assert {pid for pid, _ in booked} == {row[1] for row in (*work, *by_cuda)}
    for ledger, masks in booked.items():
        span = min(start for start, _ in spanning), max(end for _, end in spanning)
        assert dict(masks) == tick_by_tick(work, made, ledger, span)


@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
def test_a_file_booked_by_slices_is_what_the_analysis_reads_of_it(tmp_path: Path, size: int) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    for number in range(200):
        pid, at = number % 2, 100 * (number ^ 5)  # rows not in order of time, two processes on one GPU
        build.api("cudaLaunchKernel", at, at + 30, 1_000 + number, pid=pid).kernel(
            at + 20, at + 90 + number, 1_000 + number, pid=pid, name="ncclKernel" if number % 3 else "gemm"
        )
        build.copy(at + 60, at + 120, 5_000 + number, pid=pid).api("cudaStreamSynchronize", at + 40, at + 95, pid=pid)
    path = build.write()
    assert median_error(by_slices(path, size), {**at_once(path), "statistics": statistics(path)}) <= LARGEST_ERROR


@needs_shared_traces
@pytest.mark.parametrize("name", TRACES)
def test_a_real_trace_booked_by_slices_is_what_the_analysis_reads_of_it(name: str) -> None:
    path = TRACES[name]
    assert median_error(by_slices(path, 500), {**at_once(path), "statistics": statistics(path)}) <= LARGEST_ERROR


lengths = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2**45)), min_size=1, max_size=40)


def of(rows: Sequence[tuple[int, int]]) -> dict[int, Statistics]:
    names, values = np.array(rows, np.int64).reshape(-1, 2).T
    return of_names(names, values)


@given(lengths, st.integers(1, 40))
def test_statistics_of_parts_merge_to_those_of_the_whole(rows: list[tuple[int, int]], size: int) -> None:
    merged: dict[int, Statistics] = {}
    for first in range(0, len(rows), size):
        merged = added(merged, of(rows[first : first + size]))
    for name in {name for name, _ in rows}:
        values, its = [value for other, value in rows if other == name], merged[name]
        assert (its.count, its.total, its.least, its.greatest) == (len(values), sum(values), min(values), max(values))
        deviation = stdev(values) if len(values) > 1 else 0.0
        assert its.deviation == pytest.approx(deviation, rel=1e-9, abs=1e-9 * max(values))
        assert its.median == pytest.approx(median(values), rel=LARGEST_ERROR)


@given(st.integers(0, 2**50))
def test_a_bucket_keeps_the_leading_digits_of_a_length(length: int) -> None:
    dropped = max(length.bit_length() - 8, 0)
    assert int(bucket_of(np.array([length]))[0]) == dropped << 8 | length >> dropped
