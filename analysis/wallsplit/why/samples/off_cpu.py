"""The main thread on and off the CPU in the host instants, and what others of its process did meanwhile."""

import math

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import EMPTY, Intervals, clip, gaps, holding, intersect, merge, total_ns, union
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.scopes import Scopes, pid_of
from wallsplit.why.samples.shares import Z
from wallsplit.why.samples.summaries import summary
from wallsplit.why.samples.values import Meanwhile, Scheduling, Summary, Wall


@dataclass(frozen=True)
class OffCpu:
    """What the scheduler's events add to the samples of the main thread."""

    scheduling: Scheduling
    meanwhile: Meanwhile
    wall: Wall


def off_cpu(sampling: Sampling, model: Model, scopes: Scopes, window: Window, main: Summary) -> OffCpu | None:
    """Return it; `main` is the summary of the main thread's samples. None without scheduling events of the thread."""
    thread = scopes.main
    if thread is None or thread not in sampling.running:
        return None
    own = sampling.running[thread]
    known = clip(scopes.host, min(own.first_ns, window.end_ns), window.end_ns)
    unknown_ns = total_ns(scopes.host) - total_ns(known)
    on = intersect(own.intervals, known)
    off = intersect(gaps(own.intervals, window.start_ns, window.end_ns), known)
    meanwhile = _meanwhile(sampling, scopes, off)
    weighing = sampling.weighing
    in_calls_ns = _in_os_calls_ns(model, thread, off)
    scheduling = Scheduling(
        on_cpu_ns=total_ns(on),
        off_cpu_ns=total_ns(off),
        off_cpu_in_os_call_ns=in_calls_ns,
        off_cpu_elsewhere_ns=None if in_calls_ns is None else total_ns(off) - in_calls_ns,
        unknown_ns=unknown_ns,
        event_count=own.event_count,
        unsampled_ns=total_ns(on) - (main.cpu_ns or 0) if weighing.is_clock else None,
        unsampled_resolution_ns=_resolution_ns(weighing.period_ns, len(known.starts)) if weighing.period_ns else None,
    )
    return OffCpu(scheduling, meanwhile, _wall(main, meanwhile, total_ns(on), unknown_ns))


def _in_os_calls_ns(model: Model, thread: int, off: Intervals) -> int | None:
    if model.samples is None or not model.samples.os_calls_traced:
        return None
    calls = model.osrt.filter(pl.col("thread") == thread)
    return total_ns(intersect(off, union(calls["start"].to_numpy(), calls["end"].to_numpy())))


def _resolution_ns(period_ns: int, stretches: int) -> int:
    """Return what counting whole periods can miss: each stretch of host is wrong by up to half of one, either way."""
    return math.ceil(Z * period_ns * math.sqrt(max(1, stretches) / 4))


def _meanwhile(sampling: Sampling, scopes: Scopes, off: Intervals) -> Meanwhile:
    pid = pid_of(scopes.main or 0)
    running = [on.intervals for t, on in sampling.running.items() if pid_of(t) == pid and t != scopes.main]
    others_ns = total_ns(intersect(off, merge(running) if running else EMPTY))
    rows = scopes.in_window[~scopes.is_main]
    seen = summary(sampling, rows[holding(off, sampling.start[rows]) >= 0])
    return Meanwhile(**vars(seen), others_on_cpu_ns=others_ns, nobody_on_cpu_ns=total_ns(off) - others_ns)


def _wall(main: Summary, meanwhile: Meanwhile, on_cpu_ns: int, unknown_ns: int) -> Wall:
    others_ns = meanwhile.others_on_cpu_ns
    return Wall(
        main={each.sample_class: each.cpu_ns or 0 for each in main.classes},
        unsampled_ns=on_cpu_ns - (main.cpu_ns or 0),
        meanwhile={each.sample_class: round(each.share * others_ns) for each in meanwhile.classes}
        or {"unknown": others_ns},
        nobody_on_cpu_ns=meanwhile.nobody_on_cpu_ns,
        unknown_ns=unknown_ns,
    )
