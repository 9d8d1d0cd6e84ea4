"""What each finding rests on, in one clause with its figure, short enough for a row of what to do.

The clauses are made from values, never from other sentences; where a value was not measured, its half is left out.
"""

from collections.abc import Callable

import polars as pl

from wallsplit import units
from wallsplit.accounts import HOST
from wallsplit.diagnosis.diagnosis import Call, Finding
from wallsplit.model.error_codes import in_words
from wallsplit.text import shorten
from wallsplit.words.amounts import counted, duration, how_many, per_cent
from wallsplit.words.speakers import Speaker

NOUNS = {
    "startup": "start-up",
    "teardown": "tear-down",
    "loading": "loading code",
    "compile": "compiling",
    "alloc": "allocation",
    "data": "loading data",
    "input": "waiting for input",
    "launch": "launching",
    "blocked": "sleeping",
    "host": "host code",
    "sync": "returning from waits",
    "graph_build": "building graphs",
    "device_wait": "work waiting to start",
    "transfer": "copying",
    "comm": "exposed communication",
    "other_device": "waiting for another GPU",
    "shared_gpu": "another process",
    "unseen_wait": "waiting for something unseen",
    "profiler": "the recording itself",
}
"""What people call the causes of idle time."""
INFERRED = frozenset({"input"})
"""Causes that nothing in the trace says outright: with them goes "probably"."""


def clause(speaker: Speaker, finding: Finding) -> str:
    """Return what a finding rests on."""
    return _CLAUSES[finding.cause](speaker, finding)


def idle_parts(speaker: Speaker, most: int = 3) -> str:
    """Return the largest causes of what is no work in the scope: `launching 4.0 %, host code 0.7 %`, `next to none`."""
    scope = speaker.diagnosis.scope
    if scope is None:
        return ""
    rest = sorted(((ns, cause) for cause, ns in scope.causes.items() if cause != "work" and ns), reverse=True)
    shares = [(ns / scope.size_ns, cause) for ns, cause in rest[:most]]
    return (
        ", ".join(f"{NOUNS[cause]} {per_cent(share)}" for share, cause in shares if share >= 0.0005) or "next to none"
    )


def _startup(_speaker: Speaker, finding: Finding) -> str:
    parts = sorted((finding.parts or {}).items(), key=lambda part: -part[1])
    named = [f"{NOUNS[cause]} {duration(ns)}" for cause, ns in parts[:3] if ns >= 0.01 * finding.prize_upper_ns]
    said = [", ".join(named)]
    call = finding.longest_call
    if call and call.total_ns >= 0.2 * finding.prize_upper_ns:
        takes = f"{_times(call.count)}{shorten(call.name, 60)} takes {duration(call.total_ns)}"
        said.insert(0 if is_most(call, finding) else 1, takes)  # what comes first stays where there is little room
    return "; ".join(said)


def is_most(call: Call, finding: Finding) -> bool:
    """Return whether the call alone takes half of what a finding is about, or more."""
    return call.total_ns >= 0.5 * finding.prize_upper_ns


def _times(count: int) -> str:
    return "" if count == 1 else f"{count:,} × "


def _loading(speaker: Speaker, finding: Finding) -> str:
    launch = speaker.why.launch
    if launch is None or launch.first is None:
        return f"code is loaded for {duration(finding.prize_upper_ns)}"
    longest = f"the longest of {counted(launch.first.count, 'first launch')} takes {duration(launch.first.max_ns)}"
    return f"code is loaded for {duration(finding.prize_upper_ns)}; {longest}"


def _launch(speaker: Speaker, finding: Finding) -> str:
    launch = speaker.why.launch
    if launch is None:
        return f"short gaps between launches, {duration(finding.prize_upper_ns)} in all"
    said = counted(launch.count, "launch")
    if launch.per_step_med:
        said = f"{counted(round(launch.per_step_med), 'launch')} a step"
    kernel_ns, call_ns = launch.small.kernel_med_ns, launch.api.med_ns
    if kernel_ns is None:
        return said
    if kernel_ns < call_ns:
        return f"{said}; kernels ({duration(kernel_ns)}) are shorter than their launch calls ({duration(call_ns)})"
    return f"{said}; a call takes {duration(call_ns)}, a kernel {duration(kernel_ns)}"


def _host(_speaker: Speaker, finding: Finding) -> str:
    return f"host code outside CUDA in gaps of 100 µs and more, {duration(finding.prize_upper_ns)}"


def _blocked(speaker: Speaker, finding: Finding) -> str:
    call = sleeping_in(speaker)
    where = f" in {shorten(call, 60)}" if call else ""
    return f"the main thread sleeps{where} {how_long(speaker, finding)}"


def how_long(speaker: Speaker, finding: Finding) -> str:
    """Return what a finding takes of each step: `90 of every 100 ms`; without steps its share of the time."""
    kinds = speaker.why.steps.kinds
    if not speaker.is_steady or not kinds:
        return f"{per_cent(finding.share_ratio)} of the time"
    step = duration(kinds[0].med_ns)
    part, unit = duration(kinds[0].med_ns * finding.share_ratio).split(" ")
    whole, step_unit = step.split(" ")
    return f"{part} of every {step}" if unit == step_unit else f"{part} {unit} of every {whole} {step_unit}"


def sleeping_in(speaker: Speaker) -> str | None:
    """Return the OS call in which the driving threads wait longest; None where none is known."""
    idle = speaker.why.idle.idle_causes
    calls = idle.filter(pl.col("account") == HOST, pl.col("call").is_not_null())
    if calls.is_empty():
        return None
    longest = calls.group_by("call").agg(pl.col("ns").sum()).sort("ns", "call", descending=[True, False])
    return str(longest["call"][0])


def _sync(speaker: Speaker, finding: Finding) -> str:
    sync = speaker.why.sync
    waits = sum(waits.count for waits in sync.calls) if sync else 0
    if not waits:
        return f"tails of waits, {duration(finding.prize_upper_ns)}"
    return f"the GPU had finished before {counted(waits, 'wait')} returned, {duration(finding.prize_upper_ns)} in all"


def _alloc(speaker: Speaker, finding: Finding) -> str:
    idle = speaker.why.idle.idle_causes
    calls = idle.filter(
        pl.col("account") == "cuda.alloc", pl.col("position") == "between", pl.col("call").is_not_null()
    )
    total = calls.group_by("call").agg(pl.col("ns").sum()).sort("ns", "call", descending=[True, False])
    most = f", most in {total['call'][0]}" if total.height else ""
    return f"{duration(finding.prize_upper_ns)} of allocation with the GPU idle{most}"


def _transfer(speaker: Speaker, finding: Finding) -> str:
    copies = speaker.why.sync.copies if speaker.why.sync else ()
    said = f"copies that nothing hides, {duration(finding.prize_upper_ns)}"
    if copies:
        most = max(copies, key=lambda copy: copy.gpu_ns)
        memory = " of pageable memory" if most.memory == "pageable" else ""
        said += f"; most in {counted(most.count, f'{most.operation} copy')}{memory}, {units.size(most.bytes)}"
    if speaker.ledger.api_complete is False:
        said += "; at least, since the recording began after the work was enqueued"
    return said


def _comm(speaker: Speaker, finding: Finding) -> str:
    comm = speaker.why.comm
    if comm is None or comm.exposed_ns < finding.prize_upper_ns / 2:
        return f"the host is inside MPI, NCCL or the like {how_long(speaker, finding)}"
    return f"{counted(comm.count, 'communication kernel')}, {duration(comm.exposed_ns)} that nothing hides"


def _small_grids(speaker: Speaker, finding: Finding) -> str:
    use = speaker.why.sm
    running = speaker.share("work")
    if use is None or use.sm_count is None or use.sm_coverage_while_active is None:
        return f"kernels run {per_cent(running)} of the time and leave SMs idle"
    covered = per_cent(use.sm_coverage_while_active)
    return f"kernels run {per_cent(running)} of the time on {covered} of the SMs ({sms(speaker)})"


def sms(speaker: Speaker) -> str:
    """Return how many SMs a kernel covers on average: `one of 108`; empty where that is not known."""
    use = speaker.why.sm
    if use is None or use.sm_count is None or use.sm_coverage_while_active is None:
        return ""
    covered = use.sm_coverage_while_active * use.sm_count
    return f"{how_many(round(covered)) if covered >= 0.95 else 'under one'} of {use.sm_count}"


def _migration(speaker: Speaker, finding: Finding) -> str:
    kernels = speaker.diagnosis.scope.causes["work"] if speaker.diagnosis.scope else 0
    return f"{duration(finding.prize_upper_ns)} of {duration(kernels)} of kernel time have page migrations under them"


def _few_operations(speaker: Speaker, finding: Finding) -> str:
    return f"{counted(finding.operations or 0, 'GPU operation')} in {duration(speaker.ledger.wall_ns)}"


def failed_calls(_speaker: Speaker, finding: Finding) -> str:
    """Return name, code and number of the commonest calls that failed."""
    failed = finding.failed
    if failed is None:
        return "calls failed"
    return f"{how_many(failed.count)} × {shorten(failed.call, 60)}: {in_words(failed.code)}"


def _unseen_wait(_speaker: Speaker, finding: Finding) -> str:
    return f"waits of 1 ms and more while nothing recorded runs, {duration(finding.prize_upper_ns)}"


def _gpu_bound(speaker: Speaker, finding: Finding) -> str:
    reads = speaker.why.sync.small_reads if speaker.why.sync else None
    said = f"all idle time together: {idle_parts(speaker)}"
    if reads and reads.count >= 100:
        said += f"; {reads.count:,} small reads cost {per_cent(reads.idle_after_ns / speaker.ledger.wall_ns)}"
    return said


def _plain(text: str) -> Callable[[Speaker, Finding], str]:
    return lambda _speaker, finding: f"{text}, {duration(finding.prize_upper_ns)}"


_CLAUSES: dict[str, Callable[[Speaker, Finding], str]] = {
    "failed_calls": failed_calls,
    "startup": _startup,
    "unseen_wait": _unseen_wait,
    "few_operations": _few_operations,
    "migration": _migration,
    "small_grids": _small_grids,
    "data": _plain("the GPU waits inside ranges named like data loading"),
    "input": _plain("inferred: idle gaps that end with a copy from the host"),
    "launch": _launch,
    "host": _host,
    "blocked": _blocked,
    "sync": _sync,
    "alloc": _alloc,
    "transfer": _transfer,
    "comm": _comm,
    "device_wait": _plain("work starts 100 µs and more after its call returned"),
    "other_device": _plain("another GPU of this process works meanwhile"),
    "shared_gpu": _plain("another process works on this GPU"),
    "graph_build": _plain("graphs are captured or built again and again"),
    "loading": _loading,
    "compile": _plain("compiling while the GPU waits"),
    "gpu_bound": _gpu_bound,
    "mixed": lambda speaker, _finding: f"no cause takes a tenth: {idle_parts(speaker)}",
    "profiler": _plain("the profiler holds up the program"),
}
