"""What holds the host up around its GPU: pageable copies, launches side by side, pages that migrate."""

import pytest

from builders import TraceBuilder, global_id
from gpu_use import only_activity, whole
from shared_traces import CASES, needs_shared_traces
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model, load
from wallsplit.schema import RANGE_THREADS
from wallsplit.trace import Trace
from wallsplit.why.contention import Contention, contention
from wallsplit.why.managed_memory import ManagedMemory, managed_memory
from wallsplit.why.pageable import PageableCopies, pageable_copies
from wallsplit.why.range_threads import range_threads
from wallsplit.words.gpu_use import (
    contention_note,
    full_queue_note,
    managed_memory_note,
    other_threads_note,
    pageable_note,
)

MS = 1_000_000


def pageable(model: Model, window: Window | None = None) -> PageableCopies | None:
    return pageable_copies(only_activity(model), window or whole(model), model.names)


def test_an_asynchronous_copy_of_pageable_memory_that_blocks_is_told_by_what_it_waits_for(build: TraceBuilder) -> None:
    build.api("cudaMemcpyAsync", 10, 100, corr=1).kernel(0, 60).copy(70, 95, corr=1, size=1000, srcKind=0, dstKind=2)
    found = pageable(build.model())
    assert found == PageableCopies(count=1, bytes=1000, host_ns=90, waiting_ns=60, idle_ns=10 + 5)
    (note,) = pageable_note(1, found, 100)
    assert "at most 15 ns" in note.text


@pytest.mark.parametrize(
    ("name", "source", "call_end"), [("cudaMemcpy", 0, 100), ("cudaMemcpyAsync", 1, 100), ("cudaMemcpyAsync", 0, 94)]
)
def test_copies_that_are_meant_to_block_pinned_or_return_early_are_no_such_copies(
    build: TraceBuilder, name: str, source: int, call_end: int
) -> None:
    build.api(name, 10, call_end, corr=1).copy(70, 95, corr=1, srcKind=source, dstKind=2).api("cudaFree", 100, 200)
    assert pageable(build.model()) is None


@needs_shared_traces
def test_twenty_pageable_copies_wait_for_the_kernel_before_them() -> None:
    """Each of 20 calls lasts 10.58 ms, waits 9.99 ms of it, and has the GPU idle for 0.11 ms."""
    found = pageable(load(Trace.open(CASES["08_pageable_async_copy"])))
    assert found == PageableCopies(20, 20 * 5 * 2**20, host_ns=211_600_000, waiting_ns=199_800_000, idle_ns=2_200_000)


def threads(model: Model, window: Window | None = None) -> Contention | None:
    return contention(only_activity(model), window or whole(model))


def test_threads_inside_launch_calls_at_once_contend(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 50, tid=1).api("cuLaunchKernel", 10, 40, tid=1)  # one inside the other: one thread
    build.api("cudaLaunchKernel", 30, 70, tid=2).api("cudaLaunchKernel", 45, 48, tid=3).api("cudaMalloc", 0, 90, tid=4)
    found = threads(build.model())
    assert found == Contention(threads=3, launching_ns=70, contended_ns=20, most_threads=3)
    (note,) = contention_note(1, found, 90)
    assert "3 threads" in note.text
    assert threads(build.model(), Window("part", 50, 60)) == Contention(1, 10, 0, 1)


def test_one_thread_alone_contends_with_nobody(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 50).api("cudaLaunchKernel", 60, 70)
    found = threads(build.model())
    assert found == Contention(threads=1, launching_ns=60, contended_ns=0, most_threads=1)
    assert list(contention_note(1, found, 70)) == []
    assert list(full_queue_note(1, None, 70)) == []


def managed(model: Model) -> ManagedMemory | None:
    return managed_memory(only_activity(model), whole(model), model)


def test_migrations_under_kernels_and_the_faults_that_cause_them_are_counted(build: TraceBuilder) -> None:
    build.kernel(0, 100).copy(20, 40, kind=11, size=4096).copy(30, 50, kind=11, size=4096).copy(
        90, 130, kind=12, size=8
    )
    ids = {"globalPid": global_id(1), "deviceId": 0}
    build.add("CUDA_UM_GPU_PAGE_FAULT_EVENTS", start=10, end=20, numberOfPageFaults=27, **ids)
    build.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=120, globalPid=global_id(1))
    found = managed(build.model())
    assert found == ManagedMemory(
        migration_count=3,
        to_device_bytes=8192,
        to_host_bytes=8,
        between_devices_bytes=0,
        migrating_ns=70,
        under_kernels_ns=40,
        kernel_ns=100,
        gpu_fault_groups=1,
        gpu_faults=27,
        cpu_faults=1,
    )
    (note,) = managed_memory_note(1, found, 130)
    assert "40 ns of 100 ns of kernel time" in note.text


def test_without_managed_memory_there_is_nothing_to_say(build: TraceBuilder) -> None:
    build.kernel(0, 100).copy(20, 40, kind=1)
    assert managed(build.model()) is None


@needs_shared_traces
def test_a_kernel_that_is_slow_by_page_migrations_says_so() -> None:
    found = managed(load(Trace.open(CASES["03_unified_memory"])))
    assert found is not None
    assert (found.under_kernels_ns, found.gpu_fault_groups, found.to_device_bytes) == (134_400_000, 96, 192 << 20)


def test_a_range_whose_work_another_thread_launched_tells_both(build: TraceBuilder) -> None:
    """As PyTorch's backward pass: the main thread's range is open while a thread of the engine launches."""
    build.range("step", 0, 100, tid=1).range("step", 200, 300, tid=1).range("engine", 50, 90, tid=2)
    build.api("cudaLaunchKernel", 10, 12, corr=1, tid=1).kernel(15, 25, corr=1)
    for corr, start in ((2, 60), (3, 70), (4, 260)):
        build.api("cudaLaunchKernel", start, start + 2, corr=corr, tid=2).kernel(start + 5, start + 9, corr=corr)
    build.api("cudaLaunchKernel", 150, 152, corr=5, tid=2).kernel(160, 170, corr=5)
    table = range_threads(build.model(), None)
    assert table.rows() == [(1, "step", 2, 1, 10, 3, 12, 0.25)]
    assert table.schema == RANGE_THREADS
    (note,) = other_threads_note(table)
    assert "step (25.0 % by its own thread; with the others 22 ns)" in note.text


def test_where_one_thread_launches_every_range_tells_its_own_work(build: TraceBuilder) -> None:
    build.range("step", 0, 100).api("cudaLaunchKernel", 10, 12, corr=1).kernel(15, 25, corr=1)
    assert range_threads(build.model(), None).is_empty()
