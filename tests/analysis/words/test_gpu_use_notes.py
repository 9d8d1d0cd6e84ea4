"""The notes on what holds the GPU up reach the analysis: of which process and device, and each once."""

from builders import TraceBuilder
from wallsplit.pipeline import analyze

MS = 1_000_000


def test_threads_that_launch_at_once_are_a_note_of_the_process(build: TraceBuilder) -> None:
    for device in (0, 1):
        for i in range(20):
            corr = 100 * device + i + 1
            build.api("cudaLaunchKernel", i * MS, i * MS + 900_000, corr=corr, tid=device + 1)
            build.kernel(i * MS + 950_000, i * MS + 990_000, corr=corr, device=device)
    (note,) = [note for note in analyze(build.write()).notes if note.kind == "launch_contention"]
    assert (note.pid, note.device) == (1, None)


def test_asynchronous_copies_of_pageable_memory_are_a_note_of_the_device(build: TraceBuilder) -> None:
    for i in range(5):
        build.api("cudaMemcpyAsync", 10 * i * MS, (10 * i + 9) * MS, corr=i + 1)
        build.copy((10 * i + 5) * MS, (10 * i + 8) * MS, corr=i + 1, srcKind=0, dstKind=2, streamId=7)
    (note,) = [note for note in analyze(build.write()).notes if note.kind == "pageable_copies"]
    assert (note.pid, note.device) == (1, 0)


def test_memory_that_was_held_is_a_note_even_without_any_gpu_work(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 5 * MS)
    event = {"deviceId": 0, "address": 64, "bytes": 2_000_000_000, "memKind": 2, "memoryOperationType": 0}
    build.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=MS, globalPid=(1 << 48) | (1 << 24), **event)
    build.add("TARGET_INFO_GPU", id=0, name="A GPU", smCount=4, totalMemory=8 * 10**9)
    (note,) = [note for note in analyze(build.write()).notes if note.kind == "device_memory"]
    assert "2.00 GB of 8.00 GB of GPU memory" in note.text
    assert (note.pid, note.device) == (1, None)


def test_a_run_that_nothing_holds_up_has_no_such_note(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(6, 9, corr=1)
    assert analyze(build.write()).notes == ()
