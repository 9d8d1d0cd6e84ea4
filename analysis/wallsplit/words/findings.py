"""What each finding rests on: one sentence per cause, from values (docs/why.md).

"probably" where something is inferred. Waits and small reads are blamed by the idle time they cause, never by number.
"""

from collections.abc import Callable

import polars as pl

from wallsplit import units
from wallsplit.diagnosis.diagnosis import Finding
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.os_calls import WAIT
from wallsplit.ledger.phases import MPI
from wallsplit.model.error_codes import in_words
from wallsplit.text import shorten
from wallsplit.words.titles import TITLES

PARTS_NAMED = 3


@dataclass(frozen=True, eq=False)
class Case:
    """A finding with all that is known around it."""

    ledger: Ledger
    why: Explanation
    finding: Finding
    explained: Explained

    @property
    def in_scope(self) -> str:
        """The share of the scope, with what the scope is."""
        return f"{units.ratio(self.finding.share_ratio)} of {scope_name(self.why)}"

    def spent_in(self, account: str, *, call_class: str | None = None) -> str | None:
        """Return the call that most of an account's idle time goes to, in words; None where it has none."""
        rows = self.why.idle.idle_causes.filter((pl.col("account") == account) & pl.col("call").is_not_null())
        if call_class is not None:
            rows = rows.filter(pl.col("call_class") == call_class)
        totals = rows.group_by("call").agg(pl.col("ns").sum()).sort("ns", "call", descending=[True, False])
        return (
            None if totals.is_empty() else f"{shorten(totals['call'][0])} ({units.ns(totals['ns'][0])} in the window)"
        )


def scope_name(why: Explanation) -> str:
    """Return what the findings of a ledger speak of."""
    scope = why.diagnosis.scope
    if scope is None:
        return "the window"
    if scope.name == "steady steps":
        return "the steady steps"
    return "the time from the first to the last GPU operation"


def because(case: Case) -> str:
    """Return why a finding holds, with its figures: a sentence or two without the remedy."""
    sentence = SENTENCES[case.finding.cause](case)
    held = case.finding.long_calls
    if held is None:
        return sentence
    few = f"{units.count(held.count)} of the {units.count(held.of_count)} calls of {shorten(held.name)}"
    return f"{sentence} {few} hold {units.ns(held.held_ns)} of that, most of it: a few stalls, not the usual cost."


def _many(count: float, thing: str) -> str:
    return f"{count:,.0f} {thing}{'' if round(count) == 1 else 'es' if thing.endswith('ch') else 's'}"


def _startup(case: Case) -> str:
    parts = sorted((case.finding.parts or {}).items(), key=lambda part: -part[1])[:PARTS_NAMED]
    listed = ", ".join(f"{TITLES[cause]} {units.ns(ns)}" for cause, ns in parts)
    call = case.finding.longest_call
    outside = "steady steps" if case.why.diagnosis.phases_of_run else "GPU's work"
    longest = (
        f" The longest calls outside of the {outside}: {units.count(call.count)} × {shorten(call.name)}, "
        f"{units.ns(call.total_ns)}."
        if call
        else ""
    )
    return f"{units.ratio(case.finding.share_ratio)} of the window is paid once: {listed}.{longest}"


def _unseen_wait(case: Case) -> str:
    waited = f"{units.ns(case.finding.prize_upper_ns)}, {units.ratio(case.finding.share_ratio)} of the window"
    return f"Waits of 1 ms and more while nothing recorded runs take {waited}."


def _failed_calls(case: Case) -> str:
    failed = case.finding.failed
    if failed is None:
        return "Calls failed."
    lost = f", {units.ratio(case.finding.share_ratio)} of all launches" if case.finding.share_ratio else ""
    return f"{units.count(failed.count)} × {shorten(failed.call)} failed: {in_words(failed.code)}{lost}."


def _few_operations(case: Case) -> str:
    busy = f", busy {units.fine_ratio(case.ledger.busy_ratio)} of it" if case.ledger.busy_ratio is not None else ""
    operations = case.finding.operations or 0
    return f"{_many(operations, 'GPU operation')} in {units.ns(case.ledger.wall_ns)}{busy}."


def _migration(case: Case) -> str:
    managed = case.why.managed_memory
    said = f"Managed memory migrates under kernels for {case.in_scope}: they probably wait for their pages."
    if managed is None:
        return said
    figures = f"{units.ns(managed.under_kernels_ns)} of {units.ns(managed.kernel_ns)} of kernel time"
    return f"{said} In the window, {figures} have migrations under them."


def _data(case: Case) -> str:
    return f"The GPU waits for {case.in_scope} while the host is in ranges named like data loading."


def _input(case: Case) -> str:
    return f"Idle gaps that end with a copy from the host take {case.in_scope}: the host probably prepares input."


def _launch(case: Case) -> str:
    said = f"Launch calls, and the pauses below 100 µs between them, leave the GPU idle for {case.in_scope}."
    how = case.why.launch
    if how is None:
        return said
    count = f"{_many(how.per_step_med, 'launch')} per step" if how.per_step_med else _many(how.count, "launch")
    kernels = f"; kernels last {units.ns(how.small.kernel_med_ns)}" if how.small.kernel_med_ns is not None else ""
    saving = f"CUDA graphs could save at most {units.ns(how.graph_saving_upper_ns)} of the window."
    return f"{said} {count}, each {units.ns(how.api.med_ns)} in its call{kernels} (medians). {saving}"


def _host(case: Case) -> str:
    said = f"Host code outside CUDA, in gaps of 100 µs and more, takes {case.in_scope}"
    if case.why.managed_memory:
        return f"{said}: probably host code that reads managed memory."
    rows = case.why.idle.idle_causes.filter((pl.col("account") == "host") & (pl.col("position") == "between"))
    totals = rows.drop_nulls("phase").group_by("phase").agg(pl.col("ns").sum())
    phases = totals.sort("ns", "phase", descending=[True, False]).head(PARTS_NAMED)
    listed = ", ".join(f"{phase} {units.ns(ns)}" for phase, ns in phases.iter_rows())
    return f"{said}; by the ranges it is in: {listed}." if listed else f"{said}. No range says what it is."


def _blocked(case: Case) -> str:
    call = case.spent_in("host", call_class=WAIT)
    scope, steps, asleep = case.why.diagnosis.scope, case.why.steps, case.in_scope
    if scope and scope.name == "steady steps" and steps.kinds:
        count = max(1, sum(kind.steady_count for kind in steps.kinds))
        sleeps, takes = case.finding.prize_upper_ns / count, scope.size_ns / count
        asleep += f", {units.ns(sleeps)} of the {units.ns(takes)} of a step on average"
    return f"Every thread that drives the GPU sleeps for {asleep}{f', most in {call}' if call else ''}."


def _sync(case: Case) -> str:
    calls = case.why.sync.calls if case.why.sync else ()
    tails = sum(waits.tail_ns + waits.nothing_ns for waits in calls)
    count = sum(waits.count for waits in calls)
    said = f"Waits go on after the GPU has finished for {case.in_scope}."
    return f"{said} In the window {units.ns(tails)} under {_many(count, 'wait')}." if count else said


def _alloc(case: Case) -> str:
    call = case.spent_in("cuda.alloc")
    return f"Allocating or freeing memory with the GPU idle takes {case.in_scope}{f', most in {call}' if call else ''}."


def _transfer(case: Case) -> str:
    said = f"Copies that nothing hides take {case.in_scope}."
    copies = case.why.sync.copies if case.why.sync else ()
    count, moved = sum(x.count for x in copies), sum(x.bytes for x in copies)
    pageable = sum(x.count for x in copies if x.memory == "pageable")
    if not count:
        return said
    of_them = f", {units.count(pageable)} of them of pageable memory" if pageable else ""
    copied = f"{units.count(count)} copies move" if count > 1 else "1 copy moves"
    return f"{said} In the window {copied} {units.size(moved)}{of_them}."


def _comm(case: Case) -> str:
    said = f"Communication that nothing hides takes {case.in_scope}."
    kernels, skew = case.why.comm, case.explained.rank_skew
    if kernels is None:
        in_calls = case.why.idle.idle_causes.filter(pl.col("phase").is_in(["comm", MPI]))["ns"].to_list()
        return f"{said} The host is in communication calls for {units.ns(sum(in_calls))} of the window."
    waits = (skew.wait_ns or {}) if skew else {}
    waited = waits.get(f"{case.ledger.pid}/{case.ledger.device}", 0)
    other = f"; its kernels wait {units.ns(waited)} for later ranks" if waited else ""
    return f"{said} In the window {units.ns(kernels.exposed_ns)} of {units.ns(kernels.union_ns)} are exposed{other}."


def _other_device(case: Case) -> str:
    of = "the window" if case.finding.share_ratio == case.finding.prize_upper_ratio else scope_name(case.why)
    share = units.ratio(case.finding.share_ratio)
    return f"For {share} of {of}, another GPU of this process works while this one is idle."


def _device_wait(case: Case) -> str:
    how = case.why.launch
    tail = f" From call to start: {units.ns(how.latency.p95_ns)} or more for one launch in twenty." if how else ""
    return f"With the GPU idle, work starts 100 µs or more after its call returned: {case.in_scope}.{tail}"


def _shared_gpu(case: Case) -> str:
    return f"Another process works on this GPU for {case.in_scope}, and this one does not."


def _graph_build(case: Case) -> str:
    call = case.spent_in("cuda.graph_build")
    return f"Capturing or building CUDA graphs takes {case.in_scope}{f', most in {call}' if call else ''}."


def _loading(case: Case) -> str:
    first, call = case.why.launch.first if case.why.launch else None, case.spent_in("cuda.setup")
    firsts = (
        f" {_many(first.count, 'first launch')}, where code is loaded, take {units.ns(first.total_ns)} in the window."
        if first
        else ""
    )
    return f"CUDA loads code or sets itself up for {case.in_scope}{f', most in {call}' if call else ''}.{firsts}"


def _compile(case: Case) -> str:
    return f"The GPU waits for {case.in_scope} while the host is in ranges named like compiling."


def _small_grids(case: Case) -> str:
    use = case.why.sm
    if use is None or use.sm_coverage_while_active is None:
        return f"Kernels leave multiprocessors (SMs) without work for {case.in_scope}."
    covered = f"{units.fine_ratio(use.sm_coverage_while_active)} of the {use.sm_count} multiprocessors (SMs)"
    scope = case.why.diagnosis.scope
    runs = units.ratio(scope.causes["work"] / scope.size_ns) if scope else units.ratio(use.kernel_active_ratio)
    return (
        f"A kernel runs {runs} of {scope_name(case.why)}, on {covered} on average, by the kernels' grids. What the "
        f"others could do in that time: {case.in_scope}."
    )


def _gpu_bound(case: Case) -> str:
    opaque = " What runs inside CUDA graphs was not recorded." if case.ledger.accounts["gpu.graph"] else ""
    rest = f"all else together takes {units.ratio(1 - case.finding.share_ratio)}"
    return f"The GPU computes for {case.in_scope}; {rest}.{opaque}"


def _mixed(case: Case) -> str:
    scope = case.why.diagnosis.scope
    causes = sorted(((ns, cause) for cause, ns in (scope.causes if scope else {}).items() if ns), reverse=True)
    size = scope.size_ns if scope else 1
    listed = ", ".join(f"{TITLES[cause]} {units.ratio(ns / size)}" for ns, cause in causes[: PARTS_NAMED + 1])
    return f"No single cause takes a tenth of {scope_name(case.why)}: {listed}."


def _profiler(case: Case) -> str:
    return f"The profiler itself holds up the program, with the GPU idle, for {case.in_scope}."


SENTENCES: dict[str, Callable[[Case], str]] = {
    "failed_calls": _failed_calls,
    "startup": _startup,
    "unseen_wait": _unseen_wait,
    "few_operations": _few_operations,
    "migration": _migration,
    "small_grids": _small_grids,
    "data": _data,
    "input": _input,
    "launch": _launch,
    "host": _host,
    "blocked": _blocked,
    "sync": _sync,
    "alloc": _alloc,
    "transfer": _transfer,
    "comm": _comm,
    "device_wait": _device_wait,
    "other_device": _other_device,
    "shared_gpu": _shared_gpu,
    "graph_build": _graph_build,
    "loading": _loading,
    "compile": _compile,
    "gpu_bound": _gpu_bound,
    "mixed": _mixed,
    "profiler": _profiler,
}
"""Every cause that can be a finding."""
