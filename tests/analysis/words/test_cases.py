"""Questions people asked, each as small as it can be: the right words, and the right values behind them."""

import pytest

from builders import TraceBuilder
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.words.advice import advice

MS = 1_000_000


def said(analysis: Analysis) -> str:
    return "\n".join(note.text for note in analysis.notes)


def kinds(analysis: Analysis) -> list[str]:
    return [note.kind for note in analysis.notes]


def test_why_did_it_stop_out_of_memory(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 133 * MS).api("cudaMalloc", 134 * MS, 134_300_000)
    build.api("cudaMalloc", 135 * MS, 136 * MS, result=2)
    held = {"deviceId": 0, "address": 4096, "bytes": 40_802_189_312, "memKind": 2, "memoryOperationType": 0}
    build.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=134 * MS, globalPid=(1 << 48) | (1 << 24), **held)
    build.add("TARGET_INFO_GPU", id=0, name="A GPU", smCount=108, totalMemory=42 * 10**9)
    found = analyze(build.write())
    assert found.headline == (
        "136 ms of wall time: CUDA set-up, once 97.8 %, CUDA calls 1.0 %, host code 1.2 %; the program launched nothing"
    )
    assert "cudaMalloc: out of memory (code 2), 1 ×. An allocation that failed" in said(found)
    assert "held 40.8 GB of the 42.0 GB of GPU 0" in said(found)
    assert "launch that failed" not in said(found)
    assert "not recorded" not in said(found)
    assert kinds(found) == ["failed_calls", "nothing_launched", "device_memory"]
    assert {note.pid for note in found.notes} == {1}


def test_no_kernel_runs_for_want_of_an_image(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 100 * MS).api("cudaMemcpy", 101 * MS, 102 * MS, 2).copy(101_010_000, 101_500_000, 2)
    for i in range(10):
        build.api("cudaLaunchKernel", (103 + i) * MS, (103 + i) * MS + 5_000, result=209)
    found = analyze(build.write())
    assert "cudaLaunchKernel: no kernel image for this GPU (code 209), 10 ×. A launch that failed ran" in said(found)
    assert found.ledgers[0].gpu_complete
    assert kinds(found) == ["failed_calls"]
    assert "at least" not in found.headline
    (row,) = advice(found)  # nothing to tune, and no longer run to record
    assert row.do == "build for this GPU's compute capability"
    assert "ten × cudaLaunchKernel" in row.because


def test_why_does_start_up_take_seconds_pinned_memory(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 100 * MS).api("cudaHostAlloc", 101 * MS, 5_101 * MS)
    for i in range(10):
        at = (5_200 + 10 * i) * MS
        build.api("cudaLaunchKernel", at, at + 5_000, corr=i + 1).kernel(at + 10_000, at + 9 * MS, corr=i + 1)
    (once,) = (row for row in advice(analyze(build.write())) if row.at_most.endswith("once"))
    assert once.do.startswith("pin less host memory")
    assert once.because.startswith("cudaHostAlloc takes 5.0 s; ")


def test_why_does_an_asynchronous_copy_take_all_the_time(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, MS)
    for i in range(20):  # a kernel of 10 ms, and a copy of pageable memory whose call returns only after both
        at, kernel, copy = (2 + 12 * i) * MS, 2 * i + 1, 2 * i + 2
        build.api("cudaLaunchKernel", at, at + 5_000, corr=kernel).kernel(at + 10_000, at + 10 * MS, corr=kernel)
        build.api("cudaMemcpyAsync", at + 20_000, at + 11 * MS, corr=copy)
        build.copy(at + 10 * MS, at + 10_900_000, corr=copy, kind=1, size=8_000_000, srcKind=0, dstKind=2)
    (row,) = (row for row in advice(analyze(build.write())) if row.do.startswith("pin the memory"))
    assert row.because.startswith("20 copies hold it for 220 ms, ")
    assert row.at_most.endswith("of the recording")
    assert row.section == "memory"


def test_host_functions_are_no_launches_without_kernels(build: TraceBuilder) -> None:
    for i in range(100):
        build.api("cudaLaunchKernel", 10 * i, 10 * i + 1, corr=i + 1).kernel(10 * i + 2, 10 * i + 9, corr=i + 1)
        build.api("cudaLaunchHostFunc", 10 * i + 1, 10 * i + 2)
    found = analyze(build.write())
    assert found.ledgers[0].gpu_complete
    assert found.ledgers[0].accounts["cuda.other"] == 100
    assert kinds(found) == []
    assert "≥" not in said(found) + found.headline


def test_two_processes_that_take_turns_keep_one_gpu_busy(build: TraceBuilder) -> None:
    for turn in range(50):
        pid, start = 10 + turn % 2, 4_000 * turn
        build.api("cudaLaunchKernel", start, start + 5, corr=turn + 1, pid=pid)
        build.kernel(start + 20, start + 4_000, corr=turn + 1, pid=pid)
    found = analyze(build.write())
    (gpu,) = found.gpus.rows(named=True)
    assert (gpu["gpu"], gpu["busy_ns"], gpu["busy_ratio"], gpu["processes"]) == (0, 199_000, 0.995, [10, 11])
    assert [one.accounts["gpu.kernel"] for one in found.ledgers] == [99_500, 99_500]
    assert [one.accounts["gpu.other"] for one in found.ledgers] == [99_500, 99_500]
    assert "on 1 GPU that 2 processes share, as process 10 sees it: GPU computing 49.8 %" in found.headline
    assert kinds(found) == ["assumed_gpu"]
    assert found.notes[0].device == 0


def test_ranks_that_each_see_device_0_are_on_gpus_of_their_own(build: TraceBuilder) -> None:
    for rank in range(4):
        pid = 10 + rank
        build.add("TARGET_INFO_CUDA_DEVICE", gpuId=rank, cudaId=0, pid=pid, uuid=None, numMultiprocessors=108)
        build.add("TARGET_INFO_GPU", id=rank, name=f"GPU of rank {rank}", smCount=108)
        build.api("cudaLaunchKernel", 0, 1, corr=1, pid=pid).kernel(4, 10_000, corr=1, pid=pid)
    found = analyze(build.write())
    assert found.gpus.select("gpu", "device", "name", "busy_ratio", "kernel_active_ns", "processes").rows() == [
        (rank, 0, f"GPU of rank {rank}", 0.9996, 9_996, [10 + rank]) for rank in range(4)
    ]
    assert found.headline == "10.0 µs of wall time on 4 GPUs: GPU computing 100.0 %"
    assert [(one.device, one.gpu, one.accounts["gpu.other"]) for one in found.ledgers] == [(0, n, 0) for n in range(4)]
    assert kinds(found) == []


def test_communication_without_nccl_is_found_and_named(build: TraceBuilder) -> None:
    names = ("cross_device_reduce_1stage<half, 2>", "deep_ep::intranode::dispatch<16>", "gemm")
    for i, name in enumerate(names):
        build.api("cudaLaunchKernel", 10 * i, 10 * i + 1, corr=i + 1).kernel(10 * i + 2, 10 * i + 9, i + 1, name)
    found = analyze(build.write())
    assert found.ledgers[0].accounts["gpu.comm"] == 14
    assert "by the names of kernels: vLLM custom all-reduce (1 kernel), DeepEP (1 kernel)." in said(found)


@pytest.mark.parametrize("table", ["VULKAN_WORKLOAD", "OPENGL_WORKLOAD", "DX12_WORKLOAD", "FECS_EVENTS"])
def test_gpu_work_that_is_not_cudas_makes_idle_mean_no_cuda_work(build: TraceBuilder, table: str) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 9, corr=1).add(table, start=9, end=20)
    found = analyze(build.write())
    assert kinds(found) == ["other_gpu_work", "not_used"]
    assert "“idle” means that no CUDA work ran" in said(found)
    assert f"Also recorded and not used here: {table} (1 row)." in said(found)
