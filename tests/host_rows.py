"""Random traces of two processes on two devices: kernels, copies, calls, ranges, MPI and OS calls, in ticks."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

from builders import TraceBuilder, global_id
from host_by_ticks import TICK
from wallsplit.model import Model

Operation = tuple[int, int, int, int, int]
"""start, length, correlation id, pid, device"""
Call = tuple[int, int, int, int, str]
"""start, length, tid, correlation id, name"""
Named = tuple[int, int, int, str]
"""start, length, tid, name"""


class Rows(NamedTuple):
    """The rows of a trace; in none of these lists do two lie at one place, where their order would count."""

    kernels: list[Operation]
    copies: list[Operation]
    calls: list[Call]
    ranges: list[Named]
    mpi: list[Named]
    os_calls: list[Named]


T = TypeVar("T", bound=tuple[object, ...])
_CALLS = (
    *("cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaMalloc"),
    *("cudaEventRecord", "cudaGraphInstantiate", "cuModuleLoadData", "cudaMemsetAsync"),
)
_RANGES = ("init", "data", "forward", "layer 3", "backward", "compile", "step 1", "all_reduce")
_OS_CALLS = ("poll", "read", "open", "pthread_cond_signal", "pthread_cond_wait")
_start = st.integers(3, 60)
_length = st.one_of(st.integers(0, 6), st.integers(0, 30))
_id, _tid, _pid = st.integers(1, 8), st.integers(1, 2), st.sampled_from([1, 1, 1, 2])


def _apart(rows: st.SearchStrategy[T], most: int, place: int, least: int = 0) -> st.SearchStrategy[list[T]]:
    """Return rows whose first `place` columns differ."""
    return st.lists(rows, min_size=least, max_size=most, unique_by=lambda row: row[:place])


def _named(names: Sequence[str], most: int) -> st.SearchStrategy[list[Named]]:
    return _apart(st.tuples(_start, _length, _tid, st.sampled_from(names)), most, 3)


_operation = st.tuples(_start, _length, _id, _pid, st.integers(0, 1))
traces = st.builds(
    Rows,
    kernels=_apart(_operation, 6, 2),
    copies=_apart(_operation, 4, 2),
    calls=_apart(st.tuples(_start, _length, _tid, _id, st.sampled_from(_CALLS)), 9, 2, least=1),
    ranges=_named(_RANGES, 6),
    mpi=_named(["MPI_Wait"], 2),
    os_calls=_named(_OS_CALLS, 6),
)


def model_of(folder: Path, rows: Rows, *, shift: int = 0, backwards: bool = False) -> Model:
    """Return the model of a trace with these rows, all of them later by `shift` ns, or the last row first."""
    build = TraceBuilder(folder / "t.sqlite")

    def in_order(part: list[T]) -> list[T]:
        return part[::-1] if backwards else part

    def span(start: int, length: int) -> tuple[int, int]:
        return start * TICK + shift, (start + length) * TICK + shift

    for start, length, corr, pid, device in in_order(rows.kernels):
        build.kernel(*span(start, length), corr=corr, name=f"k{corr % 3}", pid=pid, device=device)
    for start, length, corr, pid, device in in_order(rows.copies):
        build.copy(*span(start, length), corr=corr, pid=pid, device=device, kind=1 + corr % 2, size=2_048 * corr)
    for start, length, tid, corr, name in in_order(rows.calls):
        build.api(name, *span(start, length), corr=corr, tid=tid)
    for start, length, tid, name in in_order(rows.ranges):
        build.range(name, *span(start, length), tid=tid)
    for start, length, tid, name in in_order(rows.mpi):
        begin, end = span(start, length)
        build.add("MPI_P2P_EVENTS", start=begin, end=end, globalTid=global_id(1, tid), textId=build.string(name))
    for start, length, tid, name in in_order(rows.os_calls):
        build.osrt(name, *span(start, length), tid=tid)
    return build.model()
