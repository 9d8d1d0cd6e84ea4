"""All that is known of why a ledger's time went where it went, as one value per ledger."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import polars as pl

from wallsplit.cores import Each, in_turn
from wallsplit.diagnosis.diagnose import Evidence, diagnose, without_cuda, without_device
from wallsplit.diagnosis.diagnosis import Diagnosis, Finding
from wallsplit.diagnosis.long_calls import long_calls
from wallsplit.errors import WindowError
from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host import HostTimelines, host_timelines
from wallsplit.ledger.host_parts import host_parts
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.phases import PHASE_NAMES, PHASES, PhaseRules, phase_of
from wallsplit.ledger.pieces import pieces
from wallsplit.ledger.rows import Rows
from wallsplit.model import Model, Names
from wallsplit.model.device_clock import ClockAhead
from wallsplit.schema import MEMORY_USE, RANGE_THREADS, IdleCauses, empty
from wallsplit.why.causes import CauseTimeline
from wallsplit.why.comm import Comm, RankSkew, comm, rank_skew
from wallsplit.why.contention import Contention, contention
from wallsplit.why.course import Course, course
from wallsplit.why.gpu_metrics import GpuMetricMeans, gpu_metrics
from wallsplit.why.idle_time import IdleTime, causes_of, idle_time
from wallsplit.why.launch import Launch, launch
from wallsplit.why.managed_memory import ManagedMemory, managed_memory
from wallsplit.why.memory import MemoryUse, memory_use, over_time
from wallsplit.why.pageable import PageableCopies, pageable_copies
from wallsplit.why.range_threads import range_threads
from wallsplit.why.samples.executed import executed
from wallsplit.why.samples.host_samples import host_samples
from wallsplit.why.samples.rules import Rule as ClassRule
from wallsplit.why.samples.sampling import Sampling, sampling
from wallsplit.why.samples.values import CpuSampling, HostSamples
from wallsplit.why.sm import Sm, covered_ns, sm
from wallsplit.why.steps import Steps, steps
from wallsplit.why.sync import PhaseAt, Sync, sync

STEADY = "steady"
"""The window of the steady steps."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the time of one ledger went where it went; None = not measured, or there is none."""

    idle: IdleTime
    steps: Steps
    sm: Sm | None
    launch: Launch | None
    sync: Sync | None
    comm: Comm | None
    host_samples: HostSamples | None
    """What the CPU executed in `host`, estimated from samples; beside the ledger, never inside it."""
    diagnosis: Diagnosis
    contention: Contention | None = None
    """Of the whole process, whatever the device."""
    pageable_copies: PageableCopies | None = None
    managed_memory: ManagedMemory | None = None
    memory_use: MemoryUse | None = None
    """In the whole trace; of a ledger without a device, on all devices."""
    gpu_metrics: GpuMetricMeans | None = None
    """In the scope of the diagnosis."""
    course: Course | None = None
    """The ledger stretch by stretch."""


@dataclass(frozen=True, eq=False)
class Explained:
    """The explanations of a window's ledgers, in their order, and what several ranks together tell."""

    ledgers: tuple[Explanation, ...] = ()
    rank_skew: RankSkew | None = None
    cpu_sampling: CpuSampling | None = None
    """How the CPU was sampled; None where it was not."""
    clocks_ahead: tuple[ClockAhead, ...] = ()
    """In the whole trace."""
    range_threads: pl.DataFrame = field(default_factory=lambda: empty(RANGE_THREADS))
    """The ranges whose work other threads launched, as schema.RANGE_THREADS."""
    memory_over_time: pl.DataFrame = field(default_factory=lambda: empty(MEMORY_USE))
    """What each process held when, in the whole trace, as schema.MEMORY_USE."""


def explain(
    model: Model,
    activities: Sequence[Activity],
    ledgers: Sequence[Ledger],
    window: Window,
    rules: PhaseRules = PHASES,
    classes: Sequence[ClassRule] = (),
    each: Each = in_turn,
) -> Explained:
    """Return why the time of each ledger of one window went where it went.

    `rules`: which range is of which phase; `classes`: of which class a CPU sample is, before the built-in rules. `each`
    may work on several ledgers at a time.

    Raises:
        LedgerError: some parts do not sum to their whole.
    """
    booked = {(ledger.pid, ledger.device): ledger for ledger in ledgers}
    hosts = host_timelines(model, activities, rules)
    samples = sampling(model, classes)

    def explanation(of: tuple[Activity, HostTimelines]) -> Explanation:
        activity, host = of
        ledger = booked[activity.pid, activity.device]
        return _explanation(model, activity, host, ledger, window, rules, samples)

    pairs = [(a, host) for a, host in zip(activities, hosts, strict=True) if (a.pid, a.device) in booked]
    explanations = tuple(each(explanation, pairs))
    return Explained(
        ledgers=explanations,
        rank_skew=rank_skew(activities, window),
        cpu_sampling=samples.facts if samples else None,
        clocks_ahead=model.clocks_ahead,
        range_threads=range_threads(model, window),
        memory_over_time=pl.concat(
            [
                empty(MEMORY_USE),
                *(over_time(model.memory_events, pid, None) for pid in sorted({x.pid for x in ledgers})),
            ]
        ),
    )


def split_host(
    model: Model,
    activities: Sequence[Activity],
    ledgers: Sequence[Ledger],
    window: Window,
    rules: PhaseRules = PHASES,
) -> tuple[dict[str, int], ...]:
    """Return the parts of `host` of each ledger, where each has its own window inside `window`.

    Raises:
        LedgerError: the parts of a ledger do not sum to its `host`.
    """
    parts: dict[int, dict[str, int]] = {}
    for activity, host in zip(activities, host_timelines(model, activities, rules), strict=True):
        places = [i for i, x in enumerate(ledgers) if (x.pid, x.device) == (activity.pid, activity.device)]
        own = host_parts(pieces(activity, host, window), host, [ledgers[i] for i in places])
        parts |= dict(zip(places, own, strict=True))
    return tuple(parts[i] for i in range(len(ledgers)))


def steady_window(explained: Explained) -> Window:
    """Return the steady steps of the first ledger that has some: the window `steady`, for all ledgers.

    Raises:
        WindowError: no ledger has steady steps; the message says why.
    """
    for why in explained.ledgers:
        scope = why.diagnosis.scope
        if why.diagnosis.phases_of_run and scope:
            return Window(STEADY, scope.start_ns, scope.end_ns)
    reasons = [why.steps.reason or "its steps are too few, or too little of the run" for why in explained.ledgers]
    raise WindowError(f"window {STEADY}: no steady steps: {reasons[0] if reasons else 'no ledger'}; give START:END")


def _explanation(
    model: Model,
    activity: Activity,
    host: HostTimelines,
    ledger: Ledger,
    window: Window,
    rules: PhaseRules,
    samples: Sampling | None,
) -> Explanation:
    found = steps(model, activity, window, rules=rules)  # first: it takes most memory
    step_starts = found.rows["host_start"].to_numpy()
    cut = pieces(activity, host, window)
    launches = launch(activity, window, step_starts, cut)
    went = course(model, activity, host.ranges, cut, window, found, executed(samples, model, activity, window))
    causes = causes_of(model, activity, cut)
    idle = idle_time(model, activity, host, cut, causes, ledger)
    del cut  # millions of pieces, and what was told of them
    use = sm(activity, window, model.gpus)
    if activity.rows is None:
        diagnosis = without_cuda(_host_ns(idle.idle_causes), window.wall_ns)
    elif causes is None:
        diagnosis = without_device(activity.rows, model.names)
    else:
        evidence = Evidence(
            activity=activity,
            window=window,
            names=model.names,
            accounts=ledger.accounts,
            causes_between=causes.between,
            steps=found,
            coverage_while_active=use.sm_coverage_while_active if use else None,
            covered_between=lambda start, end: covered_ns(activity, Window("scope", start, end), model.gpus),
        )
        diagnosis = _with_long_calls(diagnose(evidence), activity.rows, model.names, causes)
    scope = diagnosis.scope
    return Explanation(
        course=went,
        idle=idle,
        steps=found,
        sm=use,
        launch=launches,
        sync=sync(activity, window, model.names, _phase_at(host), host.elsewhere),
        comm=comm(activity, window, model.names),
        host_samples=host_samples(samples, model, activity, window, _own_phases(rules)),
        diagnosis=diagnosis,
        contention=contention(activity, window),
        pageable_copies=pageable_copies(activity, window, model.names),
        managed_memory=managed_memory(activity, window, model),
        memory_use=memory_use(model.memory_events, activity.pid, activity.device, step_starts),
        gpu_metrics=gpu_metrics(
            model.gpu_metrics, activity.gpu, Window("scope", scope.start_ns, scope.end_ns) if scope else window
        ),
    )


def _with_long_calls(diagnosis: Diagnosis, rows: Rows, names: Names, causes: CauseTimeline) -> Diagnosis:
    """Return the diagnosis; where a few long calls hold most of a finding's cause, the finding says so."""
    scope = diagnosis.scope
    if scope is None:
        return diagnosis

    def looked_at(finding: Finding) -> Finding:
        if finding.cause not in scope.causes:
            return finding
        when = causes.when(finding.cause, scope.start_ns, scope.end_ns)
        return replace(finding, long_calls=long_calls(rows, names, finding.cause, when))

    return replace(diagnosis, findings=tuple(map(looked_at, diagnosis.findings)))


def _phase_at(host: HostTimelines) -> PhaseAt:
    """Return the function that tells the phase of the host at some times."""
    names = pl.Series([*PHASE_NAMES, None], dtype=pl.String)  # the last for an instant without a phase
    return lambda times: names.gather(pl.Series(host.phase.at(times) % len(names), dtype=pl.UInt32))


def _host_ns(idle_causes: IdleCauses) -> dict[str, int]:
    """Return the host's ns by phase; without one, by the OS call that it is blocked in."""
    totals: dict[str, int] = defaultdict(int)
    for phase, call, ns in idle_causes.select("phase", "call", "ns").iter_rows():
        totals[phase or (f"blocked in {call}" if call else "unnamed")] += ns
    return totals


def _own_phases(rules: PhaseRules) -> Callable[[str], str | None] | None:
    """Return what tells the phase of a range's name by the user's rules; None without any: ranges go by their names."""
    return None if rules is PHASES else lambda name: phase_of(name, rules)
