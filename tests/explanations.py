"""Hand-made explanations: what a ledger's time is put down to, with a value in every place that a report reads."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from wallsplit import schema
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import (
    Call,
    Diagnosis,
    FailedCall,
    Finding,
    LongCalls,
    PhaseOfRun,
    Scope,
)
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.diagnosis.rules import RULES
from wallsplit.ledger.host_parts import HostMeasured
from wallsplit.ledger.ledger import Ledger
from wallsplit.model.device_clock import ClockAhead
from wallsplit.note import Note
from wallsplit.why.causes import CAUSES
from wallsplit.why.comm import Comm, RankSkew
from wallsplit.why.contention import Contention
from wallsplit.why.copies import Copies, SmallReads
from wallsplit.why.gaps import GapClass, IdleGap, IdleGaps
from wallsplit.why.gpu_metrics import GpuMetricMeans
from wallsplit.why.idle_time import IdleTime
from wallsplit.why.launch import Backpressure, Launch, SmallKernels
from wallsplit.why.launch_queue import Depth
from wallsplit.why.managed_memory import ManagedMemory
from wallsplit.why.memory import MemoryUse
from wallsplit.why.neighbours import Call as NextCall
from wallsplit.why.neighbours import Neighbours
from wallsplit.why.pageable import PageableCopies
from wallsplit.why.sm import Sm
from wallsplit.why.spread import Spread
from wallsplit.why.steps import SlowStep, StepKind, Steps
from wallsplit.why.sync import Sync, Waits
from wallsplit.words.headline import headline

CAUSES_OF_FINDINGS = tuple(rule.cause for rule in RULES if rule.cause not in ("no_cuda", "no_gpu_use", "abstain"))


def explained(found: Analysis, names: Sequence[str] = ("name",)) -> Analysis:
    """Return an analysis with everything explained; `names` are those of its calls, ranges and steps."""
    why = Explained(
        ledgers=tuple(explanation(ledger, names) for ledger in found.ledgers),
        rank_skew=RankSkew(31, 2, SPREAD, {f"{x.pid}/{x.device}": 7 for x in found.ledgers if x.device is not None}),
        clocks_ahead=(ClockAhead(100, 0, 3, 4_500),),
        range_threads=pl.DataFrame(
            [(100, name, 4, 10, 300, 20, 700, 1 / 3) for name in names], schema.RANGE_THREADS, orient="row"
        ),
        memory_over_time=pl.DataFrame(
            [(100, 0, 10, "device", 1_000), (100, 0, 20, "device", 3_000), (100, 0, 30, "array", 500)],
            schema.MEMORY_USE,
            orient="row",
        ),
    )
    notes = (*found.notes, Note("device_memory", "info", names[0]))
    split = zip(found.ledgers, why.ledgers, strict=True)
    ledgers = tuple(replace(ledger, host_parts=its.idle.host_parts) for ledger, its in split)
    said = headline(ledgers, found.window, why)
    return replace(found, ledgers=ledgers, explained=why, notes=notes, headline=said)


def explanation(ledger: Ledger, names: Sequence[str] = ("name",)) -> Explanation:
    """Return what explains a ledger: of one with a device, every finding there is, in steady steps of a quarter."""
    if ledger.device is None:
        return without_device(ledger)
    wall = ledger.wall_ns
    scope = Scope("steady steps", wall // 4, wall - wall // 4, causes(ledger, wall - 2 * (wall // 4)))
    return Explanation(
        idle=idle_time(ledger, names),
        steps=steps(ledger, names),
        sm=Sm(0.99, 48, 0.02, 0.03, None, 0.021, 0.01, 0.005, 0.9, 0.1, 0.5, {"warps": 5, "registers": 3}, 1),
        launch=Launch(
            count=386,
            api=SPREAD,
            first=SPREAD,
            latency=SPREAD,
            queue=None,
            depth=Depth(1_022, 37.5, wall // 4, wall // 4, wall // 4, wall - 3 * (wall // 4)),
            backpressure=Backpressure(4, 9_000, 1_000.0),
            small=SmallKernels(9_000.0, 0.9, 0.8),
            per_step_med=96.0,
            graph_saving_upper_ns=wall // 10,
            short_gaps_ns={"cuda.launch": wall // 10},
        ),
        sync=Sync(
            calls=tuple(Waits(name, "metrics", 2, 60, 10, 10, 10, 10, 10, 10) for name in names),
            copies=(Copies("HtoD", "pageable", 3, 3_000, 2, 50, 40), Copies("DtoH", None, 1, 4, 1, 5, 4)),
            small_reads=SmallReads(3, 700, 200),
        ),
        comm=Comm(100, 40, 60, 31, dict.fromkeys(names, 31)),
        host_samples=None,
        diagnosis=diagnosis(ledger, scope, names),
        contention=Contention(2, 100, 50, 2),
        pageable_copies=PageableCopies(3, 3_000, 50, 40, 10),
        managed_memory=ManagedMemory(144, 2_000, 1_000, 0, 90, 80, 100, 9, 200, 4),
        memory_use=MemoryUse(3_000, 20, {"device": 3_000}, 500, 2, 1, 12.5),
        gpu_metrics=GpuMetricMeans(35, 100_000, 0.87, 0.01, 0.01, None, 0.2, 0.1),
    )


def without_device(ledger: Ledger) -> Explanation:
    """Return what explains a ledger that says nothing about a GPU."""
    wall = ledger.wall_ns
    idle = IdleTime(wall, {"host.run": wall}, HostMeasured(ranges=True, os_calls=False), NO_CAUSES, None, None)
    called = ledger.accounts["cuda.launch"] is not None
    failed = FailedCall("cudaMalloc", 2, 1) if called else None
    return Explanation(
        idle=idle,
        steps=Steps(None, "fewer than 6 launches", 0, schema.StepRows(schema.empty(schema.STEP_ROWS))),
        sm=None,
        launch=None,
        sync=None,
        comm=None,
        host_samples=None,
        diagnosis=Diagnosis(None, "abstain" if called else "no_cuda", evidence="nothing recorded", failed=failed),
    )


def causes(ledger: Ledger, size: int) -> dict[str, int]:
    """Return the ns of each cause in a stretch of the ledger: a half of it work, a quarter launch, the rest host."""
    parts = {"work": size // 2, "launch": size // 4}
    return {**dict.fromkeys(CAUSES, 0), **parts, "host": size - sum(parts.values())}


def diagnosis(ledger: Ledger, scope: Scope, names: Sequence[str] = ("name",)) -> Diagnosis:
    """Return a diagnosis with a finding of every cause; each could win a tenth of the window."""
    wall = ledger.wall_ns
    whole = {account: time or 0 for account, time in ledger.accounts.items()}
    steady = {account: time // 2 for account, time in whole.items()}
    once = {account: time // 4 for account, time in whole.items()}
    rest = {account: time - steady[account] - once[account] for account, time in whole.items()}
    return Diagnosis(
        framework="pytorch",
        primary="failed_calls",
        in_scope="launch",
        scope=scope,
        causes=causes(ledger, wall),
        findings=tuple(finding(cause, wall, names) for cause in CAUSES_OF_FINDINGS),
        phases_of_run=(
            PhaseOfRun("once", 0, scope.start_ns, once),
            PhaseOfRun("steady", scope.start_ns, scope.end_ns, steady),
            PhaseOfRun("rest", scope.end_ns, wall, rest),
        ),
    )


def finding(cause: str, wall_ns: int, names: Sequence[str] = ("name",)) -> Finding:
    """Return the finding of a cause, with all evidence that any cause has."""
    return Finding(
        cause,
        0.25,
        wall_ns // 10,
        0.1,
        parts={"loading": 7_000, "startup": 5_000} if cause == "startup" else None,
        longest_call=Call(names[0], 30, 6_000) if cause == "startup" else None,
        failed=FailedCall(names[-1], 209, 10) if cause == "failed_calls" else None,
        operations=14 if cause == "few_operations" else None,
        long_calls=LongCalls(names[0], 17, 1_221, 9_000) if cause == "alloc" else None,
    )


def idle_time(ledger: Ledger, names: Sequence[str]) -> IdleTime:
    idle = ledger.wall_ns - (ledger.gpu_busy_ns or 0)
    combinations: list[tuple[str | int | None, ...]]
    combinations = [("host", "between", None, name, "wait", None, 1_000) for name in names]
    combinations += [("cuda.alloc", "between", "setup", name, None, None, 500) for name in names]
    frame = schema.IdleCauses(pl.DataFrame(combinations, schema.IDLE_CAUSES, orient="row"))
    gap = IdleGap(
        0,
        max(idle, 1),
        "between",
        "host",
        {"host": max(idle, 1)},
        schema.IdleCauses(frame.head(2)),
        names[0],
        Neighbours(names[0], names[-1], NextCall(names[0], 7, 5, 6)),
    )
    gaps = IdleGaps(1, idle, (GapClass("100ms-1s", 1, idle, {"host": idle}),), (gap,))
    measured = HostMeasured(ranges=True, os_calls=True)
    return IdleTime(
        idle, {"host.run": ledger.accounts["host"] or 0}, measured, frame, gaps, causes(ledger, ledger.wall_ns)
    )


def steps(ledger: Ledger, names: Sequence[str]) -> Steps:
    """Return four steps of a quarter of the window, the first of them warm-up, the second the slowest."""
    quarter = max(ledger.wall_ns // 4, 1)
    rows = [(i * quarter, (i + 1) * quarter, 0, i * quarter) for i in range(4)]
    each = {account: (time or 0) // 4 for account, time in ledger.accounts.items()}
    whole = {account: time or 0 for account, time in ledger.accounts.items()}
    kind = StepKind(
        role="train",
        name=names[0],
        count=4,
        warmup_count=1,
        steady_count=3,
        total_ns=4 * quarter,
        med_ns=quarter * 0.9,
        p95_ns=quarter,
        p99_ns=quarter,
        min_ns=quarter,
        max_ns=quarter,
        jitter_ratio=0.1,
        drift_ratio=None,
        stalled_count=0,
        stalled_ns=0.0,
        accounts_med_ns=None,
    )
    return Steps(
        source="nvtx",
        reason=None,
        count=4,
        rows=schema.StepRows(pl.DataFrame(rows, schema.STEP_ROWS, orient="row")),
        accounts=schema.StepAccounts(
            pl.DataFrame([tuple(each[a] for a in ACCOUNTS)] * 4, schema.STEP_ACCOUNTS, orient="row")
        ),
        boundary="host",
        kinds=(kind,),
        other_kinds_count=0,
        steps_total_ns=4 * quarter,
        accounts_in_steps_ns=whole,
        accounts_outside_ns=dict.fromkeys(ACCOUNTS, 0),
        before_ns=0,
        after_ns=0,
        slowest=(SlowStep(1, quarter, quarter, "cuda.launch"),),
        first_start_ns=0,
    )


SPREAD = Spread(386, 40_000.0, 50_000, 60_000, 138_000, 16_000_000)
NO_CAUSES = schema.IdleCauses(schema.empty(schema.IDLE_CAUSES))
