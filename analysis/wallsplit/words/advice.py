"""What to do: at most three rows, each with what it can win at most, and the figure it rests on.

"Leave it alone" is an answer, and where the evidence is too short the row says so. What matters in a longer run comes
first; what is paid once comes after it.
"""

import re
from collections.abc import Iterator

import polars as pl

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import Finding
from wallsplit.diagnosis.remedies import remedy
from wallsplit.diagnosis.rules import FIRST
from wallsplit.frozen import dataclass
from wallsplit.model.error_codes import OUT_OF_MEMORY, in_words
from wallsplit.text import shorten
from wallsplit.words.amounts import counted, duration, per_cent
from wallsplit.words.clauses import clause, failed_calls, is_most, sleeping_in
from wallsplit.words.headline import why_without_gpu
from wallsplit.words.speakers import Speaker, speakers, worst

MOST = 3
_WORTH_SHARE = 0.05
"""Of the window: what is paid once is worth a row from here on."""
_FEW_STEPS = 10
"""With fewer steady steps, record more before deciding."""
_FP32_GEMM = re.compile(r"(?<![a-z0-9])sgemm", re.IGNORECASE)
"""What cuBLAS and CUTLASS call matrix products of 32-bit floats; those on tensor cores are called otherwise."""
_FP32_SHARE = 0.20
_FIXES = {OUT_OF_MEMORY: "free or need less memory", 209: "build for this GPU's compute capability"}
"""What to do about a call that failed, by its error code; 209 is cudaErrorNoKernelImageForDevice."""
_PINNING = re.compile(r"cu(da)?(MallocHost|HostAlloc|HostRegister|FreeHost|MemAllocHost|MemHost|MemFreeHost)")
"""Calls that lock host memory in place, or let go of it: the time goes with the bytes."""
_TF32_SINCE = 8
"""Compute capability; NVIDIA Ampere architecture whitepaper (2020), TF32 tensor cores."""


@dataclass(frozen=True)
class Advice:
    """One thing to do."""

    at_most: str
    """What it can win, with what that is a share of; a dash where nothing can be said."""
    do: str
    because: str
    section: str | None = None
    """The section of the report that has the evidence."""


def advice(analysis: Analysis) -> tuple[Advice, ...]:
    """Return what to do about what the analysis found, at most MOST rows; none for many windows."""
    if analysis.window is None or not analysis.ledgers:
        trace = "the trace has no CUDA calls, NVTX ranges or calls into the operating system"
        return (Advice("–", "record anew with nsys profile -t cuda,nvtx,osrt", trace),)
    every = speakers(analysis)
    if not every:
        return ()
    speaker = worst(every)
    rows = [*(_on_gpu(analysis, speaker) if speaker.ledger.device is not None else _without_gpu(analysis, speaker))]
    if len(every) > 1 and speaker.ledger.gpu is not None and rows:
        first = rows[0]
        rows[0] = Advice(first.at_most, first.do, f"GPU {speaker.ledger.gpu}: {first.because}", first.section)
    return tuple(rows[:MOST])


def _without_gpu(analysis: Analysis, speaker: Speaker) -> Iterator[Advice]:
    diagnosis = speaker.diagnosis
    if diagnosis.failed:
        failed = diagnosis.failed
        do = _FIXES.get(failed.code, "fix the failing call first")
        why = f"{counted(failed.count, 'call')} of {failed.call} failed: {in_words(failed.code)}{_held(speaker)}"
        yield Advice("–", do, why, "notes")
    elif diagnosis.primary == "abstain":
        yield Advice(
            "–",
            "record on Linux (not WSL) or with a newer profiler; what the host did still holds",
            "launches without a row of GPU work: idle and busy cannot be told apart",
            "notes",
        )
    elif diagnosis.primary == "no_gpu_use":
        why = f"{why_without_gpu([speaker.ledger])}; CUDA calls take {duration(speaker.on_cuda_ns)}"
        yield Advice("–", remedy("no_gpu_use", None), why, "ledger")
    elif diagnosis.primary == "no_cuda" and analysis.asked_for_cpu:
        section = "cpu_samples" if speaker.why.host_samples else "ledger"
        yield Advice("–", "it ran on the CPU, as asked: see what its host code did", _host(speaker), section)
    else:
        yield Advice("–", remedy(diagnosis.primary, None), _host(speaker), "ledger")


def _host(speaker: Speaker) -> str:
    """Return what the host did, by its largest parts."""
    wall = speaker.ledger.wall_ns
    parts = sorted((speaker.ledger.host_parts or {}).items(), key=lambda part: -part[1])[:3]
    shares = [f"{name.removeprefix('host.')} {per_cent(ns / wall)}" for name, ns in parts if ns >= 0.001 * wall]
    call = sleeping_in(speaker)
    inside = f"; most OS time in {shorten(call, 60)}" if call else ""
    return f"{duration(wall)} without GPU work: {', '.join(shares)}{inside}" if shares else f"{duration(wall)} recorded"


def _held(speaker: Speaker) -> str:
    use = speaker.why.memory_use
    return f"; at most {units.size(use.peak_bytes)} were held" if use else ""


def _on_gpu(analysis: Analysis, speaker: Speaker) -> Iterator[Advice]:
    diagnosis = speaker.diagnosis
    failed = speaker.finding("failed_calls")
    if failed:
        fix = _FIXES.get(failed.failed.code) if failed.failed else None
        do = fix or remedy("failed_calls", diagnosis.framework)
        yield Advice("–", do, failed_calls(speaker, failed), "notes")
        if failed.share_ratio == 1.0:  # nothing that was launched ran: there is nothing to tune
            return
    if diagnosis.primary == "abstain":
        yield Advice("–", remedy("abstain", diagnosis.framework), _unrecorded(speaker), "notes")
        return
    few, unseen = speaker.finding("few_operations"), speaker.finding("unseen_wait")
    if unseen:
        share = f"{per_cent(unseen.share_ratio)} of the recording"
        yield Advice(share, remedy("unseen_wait", None), clause(speaker, unseen), "ledger")
    if few:
        yield Advice("–", remedy("few_operations", None), clause(speaker, few), "ledger")
    elif speaker.graph_share >= 0.5:
        yield _inside_graphs(speaker)
    else:
        rows = [*_in_scope(analysis, speaker)], [*_once(speaker)]
        start_up_first = diagnosis.primary == "startup" and diagnosis.in_scope in ("gpu_bound", "mixed")
        yield from (*rows[1], *rows[0]) if start_up_first else _with_room(*rows)
        yield from _pinned(speaker)
        return
    yield from _once(speaker)


def _unrecorded(speaker: Speaker) -> str:
    """Return what little of the work was recorded."""
    coverage = speaker.ledger.launch_coverage
    return (
        speaker.diagnosis.evidence or ""
        if coverage is None
        else f"only {per_cent(coverage)} of the launches have GPU rows"
    )


def _pinned(speaker: Speaker) -> Iterator[Advice]:
    """Yield the row on copies that block though they were not meant to, where they hold the host for long."""
    copies, wall = speaker.why.pageable_copies, speaker.ledger.wall_ns
    if copies is None or speaker.finding("transfer") or copies.host_ns < _WORTH_SHARE * wall:
        return
    hidden = "all of it behind work of the GPU" if not copies.idle_ns else f"{duration(copies.idle_ns)} with it idle"
    yield Advice(
        f"{per_cent(copies.idle_ns / wall)} of the recording",
        "pin the memory of asynchronous copies: from pageable memory they block the host",
        f"{counted(copies.count, 'copy')} hold it for {duration(copies.host_ns)}, {hidden}",
        "memory",
    )


def _with_room(in_scope: list[Advice], once: list[Advice]) -> list[Advice]:
    """Return both, so that what is paid once keeps its row."""
    return [*in_scope[: MOST - len(once)], *once]


def _in_scope(analysis: Analysis, speaker: Speaker) -> Iterator[Advice]:
    """Yield what matters in a longer run, the most to win first."""
    findings = [f for f in speaker.diagnosis.findings if f.cause not in (*FIRST, "profiler", "mixed", "gpu_bound")]
    in_scope = [f for f in findings if f.cause == speaker.diagnosis.in_scope]
    for finding in [*in_scope, *(f for f in findings if f not in in_scope)]:
        do = remedy(finding.cause, speaker.diagnosis.framework)
        yield Advice(_at_most(speaker, finding), do, clause(speaker, finding), _SECTIONS.get(finding.cause, "idle"))
    if findings:
        return
    kernels = [*_fp32(analysis, speaker)]
    bound = (
        speaker.finding("gpu_bound") or speaker.finding("mixed") or Finding("gpu_bound", speaker.share("work"), 0, 0.0)
    )
    rest = 1 - speaker.share("work")
    alone = "leave launches and loading alone" if bound.cause == "gpu_bound" else "no single cause is worth a change"
    overhead = Advice(f"{per_cent(rest)} of {_scope(speaker)}", alone, clause(speaker, bound), "idle")
    yield from (*kernels, overhead)
    if not kernels and bound.cause == "gpu_bound":
        yield Advice("inside the kernels", _tune(speaker), _longest_kernel(analysis), "kernel_summary")


def _at_most(speaker: Speaker, finding: Finding) -> str:
    if speaker.is_steady:
        return f"{per_cent(finding.share_ratio)} of a step"
    return f"{per_cent(finding.prize_upper_ratio)} of the recording"


def _scope(speaker: Speaker) -> str:
    return "the steady part" if speaker.is_steady else "the time on the GPU"


def _tune(speaker: Speaker) -> str:
    return remedy("gpu_bound", speaker.diagnosis.framework).removeprefix("nothing to win outside the kernels: ")


def _inside_graphs(speaker: Speaker) -> Advice:
    kinds = speaker.why.steps.kinds if speaker.is_steady else None
    replays = f"{counted(kinds[0].count, 'graph replay')} of {duration(kinds[0].med_ns)}" if kinds else "graph replays"
    return Advice(
        f"{per_cent(1 - (speaker.ledger.busy_ratio or 0.0))} outside the GPU",
        "nothing to win outside the GPU; record with --cuda-graph-trace=node to see inside the graphs",
        f"{replays} were recorded as a whole",
        "graph_replays",
    )


def _fp32(analysis: Analysis, speaker: Speaker) -> Iterator[Advice]:
    """Yield the row on matrix products of 32-bit floats, where these take much of the kernel time."""
    kernels = analysis.tables.get("kernel_summary")
    if kernels is None or kernels.is_empty():
        return
    products = kernels.filter(pl.Series([bool(_FP32_GEMM.search(name)) for name in kernels["name"]]))
    if not _has_tf32(analysis, speaker):
        return
    whole, part, count = (
        int(total) for total in (kernels["total_ns"].sum(), products["total_ns"].sum(), products["count"].sum())
    )
    if part < _FP32_SHARE * whole:
        return
    run = 'torch.set_float32_matmul_precision("high")' if speaker.diagnosis.framework == "pytorch" else "TF32 or bf16"
    yield Advice(
        f"{per_cent(part / whole)} of kernel time",
        f"run the fp32 matrix products on tensor cores: {run}",
        f"kernels named sgemm: {duration(part)} of {duration(whole)} in {count:,} launches; these use no tensor cores",
        "kernel_summary",
    )


def _has_tf32(analysis: Analysis, speaker: Speaker) -> bool:
    """Return whether the GPU is known to multiply 32-bit floats on tensor cores: from compute capability 8.0 on."""
    known = analysis.gpus.filter(pl.col("gpu") == speaker.ledger.gpu)["compute_capability"].drop_nulls().to_list()
    return bool(known) and int(str(known[0]).split(".")[0]) >= _TF32_SINCE


def _longest_kernel(analysis: Analysis) -> str:
    kernels = analysis.tables.get("kernel_summary")
    if kernels is None or kernels.is_empty():
        return "the GPU is busy"
    label, total, share = kernels.select("label", "total_ns", "share_ratio").row(0)
    return f"{label} takes {duration(total)}, {per_cent(share)} of kernel time"


def _once(speaker: Speaker) -> Iterator[Advice]:
    """Yield the row on what is paid once, where that is no small part of the recording."""
    once = speaker.paid_once
    if once is None or once.share_ratio < _WORTH_SHARE:
        return
    few = speaker.is_steady and speaker.why.steps.steady_count < _FEW_STEPS
    call = once.longest_call
    if call and is_most(call, once) and _PINNING.match(call.name):
        do = "pin less host memory, and keep what is pinned: locking its pages takes this time"
    elif few:
        do = "warm up before timing; record more steps before deciding"
    else:
        do = remedy("startup", speaker.diagnosis.framework)
    yield Advice(f"{duration(once.prize_upper_ns)}, once", do, clause(speaker, once), "findings")


_SECTIONS = {
    "launch": "launching",
    "sync": "waiting",
    "transfer": "memory",
    "migration": "memory",
    "comm": "communication",
    "small_grids": "gpu_use",
    "gpu_bound": "idle",
    "mixed": "idle",
}
"""The section that holds the evidence of a finding; of every other cause of idle time it is that on idle time."""
