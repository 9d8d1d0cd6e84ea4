"""What is found in each shared trace, and why that is the right thing to say first."""

from dataclasses import dataclass

import pytest

from shared_traces import CASES, TRACES, needs_shared_traces
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.words.findings import Case, because


@dataclass(frozen=True)
class Finding:
    """What the first ledger of a trace is about: first of all, and in a longer run."""

    trace: str
    primary: str
    in_scope: str | None
    argument: str
    """Why it is right."""
    says: str = ""
    """Words that the evidence of the first finding must hold."""


FINDINGS = (
    Finding(
        "torch_rtx3070ti_train",
        "gpu_bound",
        "gpu_bound",
        "The marked steps after the first keep the GPU computing all but a twentieth of the time; that half of the "
        "recording is idle is start-up outside of them, and 1.17 s of it are no half of the window's causes alone.",
        "94.8 % of the steady steps",
    ),
    Finding(
        "torch_windows_rtx5000ada_nvtx",
        "startup",
        "launch",
        "Five steps of 19 ms end a recording of 1.8 s; inside them 897 kernels of under 3 µs take longer to launch "
        "than to run, so both have to be said, and start-up first.",
        "89.7 % of the window is paid once",
    ),
    Finding(
        "graph_level_only_a100_torchcompile",
        "gpu_bound",
        "gpu_bound",
        "Ten graph replays of 781 ms follow one another without a gap worth a name: nothing outside the GPU is to be "
        "won, and what is inside of the graphs was not recorded.",
        "What runs inside CUDA graphs was not recorded.",
    ),
    Finding(
        "graph_nodes_instant_ngp_rtx3070",
        "gpu_bound",
        "gpu_bound",
        "A thousand steps of 8 ms with 2 % between kernels: 2,065 small reads wait, yet only 0.5 % of idle time "
        "follows them, so they are not to blame.",
        "all else together takes 2.0 %",
    ),
    Finding(
        "rodinia_gaussian_3090",
        "gpu_bound",
        "gpu_bound",
        "4,095 like steps, the GPU computing 92 % of them: what is left are launches, below a tenth.",
    ),
    Finding(
        "gpu_metrics_a100",
        "startup",
        "small_grids",
        "97 % is one-time set-up; in the loop every kernel has a single block, so 107 of 108 SMs are idle whatever "
        "nvidia-smi shows, and the GPU's own counters agree: SMs active 1 %.",
        "96.8 % of the window is paid once",
    ),
    Finding(
        "tf_xla_gtx1650_a",
        "startup",
        "loading",
        "CUDA loads code during 60 % of the window, most of it in one stream's creation; a second run of the same "
        "process would not see it, and no step repeats.",
        "loading code 2.350 s",
    ),
    Finding(
        "julia_flux_gtx1650",
        "startup",
        "gpu_bound",
        "One first launch of 575 ms loads code before any kernel runs; from then on the GPU works without a pause.",
        "1 × cudaLaunchKernel, 575 ms",
    ),
    Finding(
        "torch_2xh100_1s_orphans",
        "transfer",
        "transfer",
        "Both GPUs copy 97 % of the time; a large copy hides everything else, and that holds although the calls of "
        "what was enqueued before are missing, as GPU time is at least what was recorded.",
        "97.0 %",
    ),
    Finding(
        "torch_ddp_2xh100_before",
        "gpu_bound",
        "gpu_bound",
        "Neither launching nor exposed communication takes a tenth, and the GPU computes 85 %: only a comparison with "
        "the other recording can say what changed.",
    ),
    Finding(
        "torch_ddp_2xh100_after",
        "launch",
        "launch",
        "On this rank the pauses between launches just pass a tenth; on the other they stay below, which is why that "
        "one's finding is mixed: the threshold, not the ranks, tells them apart.",
    ),
    Finding(
        "multistream_t4",
        "startup",
        "alloc",
        "Three quarters are set-up; in 1,221 like steps the GPU waits for cudaMallocAsync, of which 17 long stalls "
        "hold nearly all: that is said, as an average cost per call would mislead.",
        "75.1 % of the window is paid once",
    ),
    Finding(
        "mpi4_v100_openacc",
        "startup",
        "alloc",
        "0.8 of 0.9 s come before the first kernel, in a cudaFree that creates the context; there are 18 operations, "
        "so nothing about the GPU is worth tuning yet.",
        "cudaFree",
    ),
    Finding(
        "nvfuser_h200_2proc",
        "startup",
        "input",
        "24 GPU operations in 7.3 s: two thirds come before and after them, and what lies between is compiling and "
        "host code ahead of copies, the latter inferred.",
    ),
    Finding(
        "jax_alpa_rtx3090",
        "few_operations",
        "host",
        "27 operations, 0.05 % busy: no share of so few says anything about training, though most of the time lies "
        "between them in host code.",
        "27 GPU operations in 1.250 s",
    ),
    Finding(
        "python_cupy_rtx8000",
        "startup",
        "host",
        "Of 481 ms all but 4 are context creation inside the first cudaMalloc and what follows the last kernel.",
        "99.3 % of the window is paid once",
    ),
    Finding(
        "graph_level_rtx3060",
        "startup",
        "loading",
        "Six operations in 95 ms, of which 0.2 ms pass from the first to the last: the program has hardly begun.",
    ),
    Finding(
        "openmp_offload_v100_2021",
        "gpu_bound",
        "gpu_bound",
        "2,404 waits tempt to blame them; their tails are 3.6 %, and the GPU computes 89 % of the steps.",
        "all else together takes 10.6 %",
    ),
    Finding(
        "wsl_no_kernels_4060",
        "abstain",
        None,
        "Kernels were launched and none was recorded: how busy the GPU was is not known, so no cause is named.",
    ),
    Finding(
        "cuda_error_700",
        "abstain",
        None,
        "An illegal access killed the context: without a GPU row nothing is concluded, and the failed call is named.",
    ),
    Finding("jetson_orin", "no_gpu_use", None, "Three calls, none of which gives the GPU work: it used none."),
    Finding(
        "python_nocuda_rtx8000",
        "no_cuda",
        None,
        "There is no CUDA row; the ranges' thread sleeps in select, which is all there is to say.",
    ),
    Finding(
        "01_pinned_alloc_5s",
        "startup",
        "gpu_bound",
        "Pinning five seconds' worth of memory comes before the first kernel; from then on the GPU works.",
        "1 × cudaHostAlloc, 5.000 s",
    ),
    Finding(
        "02_oom",
        "abstain",
        None,
        "The allocation failed and nothing was launched: an idle GPU is the consequence, not the cause.",
    ),
    Finding(
        "03_unified_memory",
        "migration",
        "migration",
        "Kernels that run while their pages move wait for them: their time is no arithmetic, so it is not called "
        "GPU-bound although the GPU is busy.",
        "134 ms of 170 ms of kernel time",
    ),
    Finding(
        "04_two_processes_one_gpu",
        "shared_gpu",
        "shared_gpu",
        "The GPU is never idle for long: it works for the other process in half of this one's time.",
    ),
    Finding(
        "06_comm_without_nccl",
        "comm",
        "comm",
        "The kernels are collectives by name, though not NCCL's, and nothing computes beside them.",
        "75.6 ms of 75.6 ms are exposed",
    ),
    Finding(
        "08_pageable_async_copy",
        "host",
        "host",
        "The pageable copies cost the host 212 ms but hide behind kernels; pinning would win at most 2.2 ms, so they "
        "are a note, and the finding is the pause of the host between steps.",
    ),
    Finding(
        "09_mpi_waitall",
        "comm",
        "comm",
        "The GPU is idle while the host sits in MPI_Waitall: communication by the host, not by kernels.",
        "The host is in communication calls for 150 ms",
    ),
    Finding(
        "10_blocked_on_loader",
        "blocked",
        "blocked",
        "The driving thread sleeps in a condition variable in every step: it waits for somebody, who is to be found.",
        "pthread_cond_timedwait",
    ),
    Finding(
        "13_graph_bubble",
        "host",
        "host",
        "Between replays the host pauses; inside a replay nothing can be blamed, its bubbles are the graph's own.",
    ),
    Finding(
        "14_launch_host_func",
        "gpu_bound",
        "gpu_bound",
        "The host function runs while a kernel does: it hides, and 95 % of each step is computing.",
    ),
    Finding(
        "16_no_kernel_image",
        "failed_calls",
        "transfer",
        "All ten launches failed: what little was recorded is not what the program is about.",
        "no kernel image for this GPU (code 209)",
    ),
    Finding("17_visible_devices", "gpu_bound", "gpu_bound", "Each of four processes fills the GPU that it sees as 0."),
    Finding(
        "18_launch_queue_full",
        "gpu_bound",
        "gpu_bound",
        "Launch calls take a second as the queue is full; the GPU works all the while, so nothing is lost.",
        "99.9 %",
    ),
    Finding(
        "21_lazy_loading_after_first_copy",
        "startup",
        "launch",
        "The first launches load code after the first copy: they are paid once although the GPU had begun; in the "
        "steps launches of 6 µs for kernels of 2 µs are what remains.",
        "loading code 400 ms",
    ),
)
PATHS = {**TRACES, **CASES}


def first_evidence(analysis: Analysis) -> str:
    assert analysis.explained
    why = analysis.explained.ledgers[0]
    if not why.diagnosis.findings:
        return ""
    return because(Case(analysis.ledgers[0], why, why.diagnosis.findings[0], analysis.explained))


@needs_shared_traces
@pytest.mark.parametrize("expected", FINDINGS, ids=lambda finding: finding.trace)
def test_the_finding_of_a_trace_is_the_one_that_was_argued(expected: Finding) -> None:
    analysis = analyze(PATHS[expected.trace])
    assert analysis.explained
    diagnosis = analysis.explained.ledgers[0].diagnosis
    assert (diagnosis.primary, diagnosis.in_scope) == (expected.primary, expected.in_scope), expected.argument
    assert expected.says in first_evidence(analysis)


@needs_shared_traces
def test_every_shared_trace_with_a_ledger_is_argued() -> None:
    without_ledger = {"no_cuda_events_jacc"}
    assert {finding.trace for finding in FINDINGS} == set(PATHS) - without_ledger


@needs_shared_traces
def test_a_few_long_stalls_are_told_from_the_usual_cost() -> None:
    analysis = analyze(TRACES["multistream_t4"])
    assert analysis.explained
    (alloc,) = [x for x in analysis.explained.ledgers[0].diagnosis.findings if x.cause == "alloc"]
    assert alloc.long_calls
    assert (alloc.long_calls.name, alloc.long_calls.count, alloc.long_calls.of_count) == ("cudaMallocAsync", 17, 1_221)
