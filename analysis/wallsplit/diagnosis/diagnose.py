"""From causes to findings: what to say first, what each finding could win at most, and where to keep silent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.diagnosis import rules
from wallsplit.diagnosis.diagnosis import PHASES_OF_RUN, Call, Diagnosis, FailedCall, Finding, PhaseOfRun, Scope
from wallsplit.diagnosis.frameworks import framework
from wallsplit.diagnosis.paid_once import paid_once
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.intervals import EMPTY, Intervals, clip, intersect, merge, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.rows import Rows
from wallsplit.ledger.timeline import accounts_between
from wallsplit.model import Names
from wallsplit.why.steps import Steps

Causes = dict[str, int]
_WORKS = ("launch", "memcpy", "memset")
_NOT_READY = 600  # cudaErrorNotReady: an answer, no failure


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a diagnosis rests on, for one ledger."""

    activity: Activity
    window: Window
    names: Names
    accounts: Mapping[str, int | None]
    """The ledger's, for the window."""
    causes_between: Callable[[int, int], Causes]
    """The ns of each cause between two times; they sum to the time between."""
    steps: Steps
    coverage_while_active: float | None
    """SM coverage while a kernel runs, in the window; None = not known."""
    covered_between: Callable[[int, int], float]
    """The integral of SM coverage, in ns, between two times."""


def diagnose(evidence: Evidence) -> Diagnosis:
    """Return the diagnosis of a ledger with a device.

    Raises:
        LedgerError: the causes do not sum to the window or the scope.
    """
    activity, window = evidence.activity, evidence.window
    rows = activity.rows
    if rows is None or activity.device is None:
        raise ValueError("only a ledger with a device has causes")
    causes = _summed(evidence, window.start_ns, window.end_ns)
    scope = _scope(evidence)
    findings = [*_findings(evidence, rows, causes, scope)]
    findings.sort(key=_place)
    share = {cause: ns / scope.size_ns for cause, ns in scope.causes.items()}
    findings = [*_bound(findings, share["work"]), *findings] or [_mixed(scope, share["work"], window)]
    abstains = _abstains(activity, share)
    in_scope = next((f.cause for f in findings if f.cause not in (*rules.FIRST, "profiler")), None)
    if in_scope is None:
        in_scope = "gpu_bound" if share["work"] >= rules.BOUND_SHARE_ALONE else "mixed"
    return Diagnosis(
        framework=framework(rows.kernels, evidence.names),
        primary="abstain" if abstains else findings[0].cause,
        in_scope=in_scope,
        scope=scope,
        causes=causes,
        findings=tuple(findings),
        evidence=f"only {activity.launch_coverage:.0%} of the launches have GPU rows" if abstains else None,
        phases_of_run=_phases_of_run(evidence, scope) if scope.name == "steady steps" else None,
    )


def without_device(rows: Rows, names: Names) -> Diagnosis:
    """Return the diagnosis of a process that called CUDA but of whose GPU work no row exists."""
    driving = rows.calls.filter("is_driving")
    code = pl.col("return_value").fill_null(0)
    failed = driving.filter((code != 0) & (code != _NOT_READY))
    tried = rows.calls.filter(pl.col("api_class").is_in(list(_WORKS))).height
    said = f"{driving.height} CUDA calls, no GPU operation recorded"
    if failed.height:
        said += f"; {names[failed['name'][0]]} failed with {failed['return_value'][0]}"
    primary = "abstain" if tried or failed.height else "no_gpu_use"
    return Diagnosis(None, primary, evidence=said, failed=_commonest(failed, names))


def without_cuda(host_ns: dict[str, int], wall_ns: int) -> Diagnosis:
    """Return the diagnosis of a process without any CUDA row; `host_ns`: ns by phase or by what it is blocked in."""
    most = sorted(host_ns.items(), key=lambda part: -part[1])[:3]
    shares = ", ".join(f"{name} {ns / wall_ns:.1%}" for name, ns in most)
    return Diagnosis(None, "no_cuda", evidence=f"the trace has no CUDA rows; {shares}")


def _summed(evidence: Evidence, start: int, end: int) -> Causes:
    causes = evidence.causes_between(start, end)
    if sum(causes.values()) != end - start:
        raise LedgerError(
            f"causes of process {evidence.activity.pid}, device {evidence.activity.device}: they hold "
            f"{sum(causes.values())} of {end - start} ns; this is a defect of wallsplit, please report it"
        )
    return causes


def _scope(evidence: Evidence) -> Scope:
    busy = clip(evidence.activity.busy, evidence.window.start_ns, evidence.window.end_ns)
    if not len(busy.starts):
        start, end = evidence.window.start_ns, evidence.window.end_ns
        return Scope("core", start, end, _summed(evidence, start, end))
    start, end = int(busy.starts[0]), int(busy.ends[-1])
    steady = _steady(evidence.steps, end - start)
    if steady is None:
        return Scope("core", start, end, _summed(evidence, start, end))
    return Scope("steady steps", *steady, _summed(evidence, *steady))


def _steady(steps: Steps, core_ns: int) -> tuple[int, int] | None:
    """Return first start and last end of the steps after warm-up; None where they are not what the run is about."""
    if steps.source not in ("nvtx", "cycle") or steps.steps_total_ns is None or not steps.kinds:
        return None
    rows = steps.rows[steps.kinds[0].warmup_count or 0 :]
    if steps.steps_total_ns < rules.STEPS_SHARE * core_ns or rows.height < rules.STEPS_LEAST:
        return None
    start, end = int(rows["start"][0]), int(str(rows["end"].max()))
    typical = sum(kind.steady_count * kind.med_ns for kind in steps.kinds)
    return (start, end) if typical >= (end - start) * rules.STEPS_TYPICAL else None


def _findings(evidence: Evidence, rows: Rows, causes: Causes, scope: Scope) -> Iterator[Finding]:
    wall, size, inside = evidence.window.wall_ns, scope.size_ns, scope.causes

    def found(cause: str, ns: float, of_ns: int = size) -> Finding:
        return Finding(cause, ns / of_ns, int(ns), ns / wall)

    yield from _startup(evidence, rows, causes, scope)
    if causes["unseen_wait"] >= rules.SHARE * wall:
        yield found("unseen_wait", causes["unseen_wait"], wall)
    yield from _failed_calls(rows, evidence.names)
    yield from _migration(evidence, rows, scope)
    busy_ns = total_ns(clip(evidence.activity.busy, evidence.window.start_ns, evidence.window.end_ns))
    count = rows.operations.height
    if not steps_exist(evidence.steps) and count < rules.FEW_OPERATIONS and busy_ns < rules.FEW_BUSY_SHARE * wall:
        rest = size - inside["work"]
        yield Finding("few_operations", rest / size, rest, rest / wall, operations=count)
    if causes["profiler"] >= rules.PROFILER_SHARE * wall or inside["profiler"] >= rules.PROFILER_SHARE * size:
        yield found("profiler", inside["profiler"])
    for cause in rules.BY_SHARE:
        if inside[cause] / size >= rules.SHARE:
            yield found(cause, inside[cause])
    elsewhere = causes["other_device"]
    if elsewhere >= rules.OTHER_DEVICE_SHARE * wall and inside["other_device"] / size < rules.SHARE:
        yield found("other_device", elsewhere, wall)
    yield from _small_grids(evidence, scope)


def steps_exist(steps: Steps) -> bool:
    """Return whether any step was found."""
    return steps.count > 0


def _startup(evidence: Evidence, rows: Rows, causes: Causes, scope: Scope) -> Iterator[Finding]:
    """Yield the finding that most of the window is paid once."""
    once = paid_once(causes, scope, evidence.window.wall_ns)
    if once.prize_upper_ns >= rules.HALF * evidence.window.wall_ns:
        yield replace(once, longest_call=_longest_call(rows, evidence.names, scope))


def _longest_call(rows: Rows, names: Names, scope: Scope) -> Call | None:
    """Return the driving threads' calls of the name that takes most time outside the scope."""
    before = pl.min_horizontal("end", pl.lit(scope.start_ns)) - pl.col("start")
    after = pl.col("end") - pl.max_horizontal("start", pl.lit(scope.end_ns))
    outside = before.clip(lower_bound=0) + after.clip(lower_bound=0)
    calls = rows.calls.filter("is_driving").select("name", outside.alias("ns")).filter(pl.col("ns") > 0)
    totals = calls.group_by("name").agg(pl.len(), pl.col("ns").sum())
    if totals.is_empty():
        return None
    named = totals.with_columns(names.text(totals["name"])).sort("ns", "name", descending=[True, False])
    return Call(*named.row(0))


def _failed_calls(rows: Rows, names: Names) -> Iterator[Finding]:
    code = pl.col("return_value").fill_null(0)
    is_work = pl.col("api_class").is_in([*_WORKS, "alloc"])
    failed = rows.calls.filter((code != 0) & (code != _NOT_READY) & is_work)
    tried = rows.calls.filter(pl.col("api_class") == "launch").height
    lost = failed.filter(pl.col("api_class") == "launch").height
    many = bool(tried) and lost >= rules.FAILED_SHARE * tried
    if not many and not (failed["return_value"] >= rules.STICKY_CODE).any():
        return
    share = lost / tried if tried else 0.0
    if commonest := _commonest(failed, names):
        yield Finding("failed_calls", share, 0, 0.0, failed=commonest)


def _commonest(failed: pl.DataFrame, names: Names) -> FailedCall | None:
    """Return name, code and count of the commonest of calls that failed; None without any."""
    counts = failed.group_by("name", "return_value").len()
    if counts.is_empty():
        return None
    named = counts.with_columns(names.text(counts["name"]))
    return FailedCall(*named.sort("len", "name", "return_value", descending=[True, False, False]).row(0))


def _migration(evidence: Evidence, rows: Rows, scope: Scope) -> Iterator[Finding]:
    """Yield the finding that kernels wait for pages of managed memory to move."""
    unified = rows.memory_ops.filter(pl.col("operation").cast(pl.String).str.starts_with("[CUDA memcpy Unified"))
    if unified.is_empty():
        return
    moved = union(unified["start"].to_numpy(), unified["end"].to_numpy())
    ran = _kernels(evidence.activity)
    under = total_ns(clip(intersect(ran, moved), scope.start_ns, scope.end_ns))
    ran_ns = total_ns(clip(ran, scope.start_ns, scope.end_ns))
    if under >= rules.MIGRATION_SHARE * ran_ns and under >= rules.SHARE * scope.size_ns:
        yield Finding("migration", under / scope.size_ns, under, under / evidence.window.wall_ns)


def _small_grids(evidence: Evidence, scope: Scope) -> Iterator[Finding]:
    covered, size = evidence.coverage_while_active, scope.size_ns
    if covered is None or covered >= rules.SMALL_COVERAGE:
        return
    if scope.causes["work"] / size < rules.SMALL_WORK_SHARE:
        return
    running = total_ns(clip(_kernels(evidence.activity), scope.start_ns, scope.end_ns))
    waste = running - evidence.covered_between(scope.start_ns, scope.end_ns)
    if waste >= rules.SHARE * size:
        ns = int(waste)
        yield Finding("small_grids", ns / size, ns, ns / evidence.window.wall_ns)


def _kernels(activity: Activity) -> Intervals:
    if activity.layers is None:
        return EMPTY
    return merge([activity.layers["gpu.kernel"], activity.layers["gpu.comm"]])


def _place(finding: Finding) -> tuple[int, int, str]:
    """Return where a finding stands: what comes before all else first, then by prize."""
    first = rules.FIRST.index(finding.cause) if finding.cause in rules.FIRST else len(rules.FIRST)
    return first, -finding.prize_upper_ns, finding.cause


def _bound(findings: list[Finding], work: float) -> Iterator[Finding]:
    """Yield the finding that the GPU is the limit, where nothing stands against it."""
    against = (*rules.FIRST, "small_grids", "migration")
    if any(finding.cause in against for finding in findings):
        return
    alone = all(finding.cause == "profiler" for finding in findings)
    if work >= rules.BOUND_SHARE or (work >= rules.BOUND_SHARE_ALONE and alone):
        yield Finding("gpu_bound", work, 0, 0.0)


def _mixed(scope: Scope, work: float, window: Window) -> Finding:
    rest = scope.size_ns - scope.causes["work"]
    return Finding("mixed", 1 - work, rest, rest / window.wall_ns)


def _abstains(activity: Activity, share: dict[str, float]) -> bool:
    quiet = 1 - sum(share[cause] for cause in ("work", "comm", "transfer"))
    coverage = activity.launch_coverage
    return coverage is not None and coverage < rules.COMPLETE and quiet >= rules.SHARE


def _phases_of_run(evidence: Evidence, scope: Scope) -> tuple[PhaseOfRun, ...]:
    activity, window = evidence.activity, evidence.window
    start = min(max(window.start_ns, scope.start_ns), window.end_ns)
    bounds = np.array([window.start_ns, start, min(window.end_ns, scope.end_ns), window.end_ns])
    table = accounts_between(activity.timeline, bounds)
    stretches = zip(PHASES_OF_RUN, bounds[:-1].tolist(), bounds[1:].tolist(), table.tolist(), strict=True)
    phases = tuple(PhaseOfRun(name, a, b, dict(zip(ACCOUNTS, row, strict=True))) for name, a, b, row in stretches)
    check_phases(phases, evidence.accounts)
    return phases


def check_phases(phases: Sequence[PhaseOfRun], accounts: Mapping[str, int | None]) -> None:
    """Raise LedgerError unless the phases of a run add up to its ledger, account by account."""
    for account in ACCOUNTS:
        parts = sum(phase.accounts[account] for phase in phases)
        if parts != accounts[account]:
            raise LedgerError(
                f"phases of the run: they hold {parts} ns of {account}, the ledger {accounts[account]} ns; "
                "this is a defect of wallsplit, please report it"
            )
