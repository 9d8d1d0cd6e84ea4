"""What the CPU executed in the instants that a ledger books as host."""

from collections.abc import Callable, Iterator

import numpy as np

from wallsplit.accounts import ACCOUNTS
from wallsplit.intervals import total_ns
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.samples.by_range import phases
from wallsplit.why.samples.classes import NAMES
from wallsplit.why.samples.off_cpu import off_cpu
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.scopes import TID_BITS, Scopes, accounts_at, scopes
from wallsplit.why.samples.summaries import ENOUGH, Rows, counts, summary
from wallsplit.why.samples.values import FunctionCount, HostSamples, MainSummary, MainThread

MOST_FUNCTIONS = 20


def host_samples(
    sampling: Sampling | None,
    model: Model,
    activity: Activity,
    window: Window,
    phase_of: Callable[[str], str | None] | None = None,
) -> HostSamples | None:
    """Return what the samples of a trace say about one ledger; None where its process has none.

    With `phase_of`, a range whose name has a phase goes by the phase.
    """
    scope = scopes(sampling, model, activity, window) if sampling else None
    if sampling is None or scope is None:
        return None
    in_host, main_host = scope.in_window[scope.in_host], scope.in_window[scope.in_host & scope.is_main]
    is_main, drives = scope.is_main[scope.in_host], scope.is_driving[scope.in_host]
    main = summary(sampling, main_host)
    off = off_cpu(sampling, model, scope, window, main)
    scheduling, meanwhile, wall = (off.scheduling, off.meanwhile, off.wall) if off else (None, None, None)
    return HostSamples(
        host_ns=total_ns(scope.host),
        main_thread=_main_thread(model, scope),
        driving_threads=len(scope.driving),
        main=MainSummary(**vars(main), scheduling=scheduling, meanwhile=meanwhile),
        other_driving=summary(sampling, in_host[drives & ~is_main]),
        not_driving=summary(sampling, in_host[~drives]),
        unresolved_count=int(sampling.is_nameless[main_host].sum()),
        chain_count=int(sampling.has_callers[main_host].sum()),
        wall=wall,
        phases=phases(sampling, model, scope, phase_of),
        accounts=_accounts(sampling, activity, scope),
        functions=_functions(sampling, main_host),
        warnings=tuple(_warnings(sampling, main.sample_count)),
    )


def _main_thread(model: Model, scope: Scopes) -> MainThread:
    if scope.main is None or model.samples is None:
        return MainThread(None, None)
    names = dict(model.samples.thread_names.drop_nulls().iter_rows())
    name = names.get(scope.main)
    return MainThread(scope.main & TID_BITS, None if name is None else model.names[name])


def _accounts(sampling: Sampling, activity: Activity, scope: Scopes) -> dict[str, dict[str, int]]:
    rows = scope.in_window[scope.is_main]
    account = accounts_at(activity, sampling.start[rows])
    return {ACCOUNTS[code]: counts(sampling.code[rows[account == code]], NAMES) for code in np.unique(account).tolist()}


def _functions(sampling: Sampling, rows: Rows) -> tuple[FunctionCount, ...]:
    often = np.bincount(sampling.function[rows])
    codes = sorted(np.flatnonzero(often).tolist(), key=lambda code: (-int(often[code]), code))[:MOST_FUNCTIONS]
    return tuple(
        FunctionCount(*sampling.functions[code], int(often[code]), round(int(often[code]) / len(rows), 6))
        for code in codes
    )


def _warnings(sampling: Sampling, count: int) -> Iterator[str]:
    """Yield what must be known before the figures are believed."""
    facts, is_clock = sampling.facts, sampling.weighing.is_clock
    if count < ENOUGH:
        yield f"{count} samples of the main thread are too few for shares"
    if not facts.kernel_sampled:
        yield "the kernel was not sampled: system calls and page faults are in no share"
    if not is_clock and facts.scheduling and not facts.kernel_sampled:
        yield "time in the kernel counts as what the thread executed next"
    if not is_clock:
        stands_for = "stands for the CPU time since the one before" if facts.scheduling else "is one of counted events"
        yield f"no clock triggered the samples: each {stands_for}"
    if not facts.scheduling:
        yield "scheduling was not recorded: time off the CPU is not measured"
