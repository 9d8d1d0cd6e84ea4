"""The headline: one sentence a newcomer can repeat, built from the ledgers."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from wallsplit import units
from wallsplit.accounts import ACCOUNTS, OTHER_PROCESS, PARTS, Part
from wallsplit.diagnosis.explanation import Explained
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger, Window

WORTH_SAYING = 0.01
"""Steady steps that leave out less of the window are the window, as far as a sentence goes."""


@dataclass(frozen=True)
class Share:
    """What one part of the headline took, over the ledgers it was computed from."""

    part: Part
    time_ns: int
    percent: Decimal
    """Of the ledgers' wall time, rounded so that the shares of all parts add up to 100.0."""


def shares(ledgers: Sequence[Ledger]) -> tuple[Share, ...]:
    """Return the parts of the ledgers' wall time, in order. What was not measured counts as zero."""
    times = [sum(ledger.accounts[a] or 0 for ledger in ledgers for a in part.accounts) for part in PARTS]
    percents = units.largest_remainders(times, sum(times))
    return tuple(Share(*row) for row in zip(PARTS, times, percents, strict=True))


def account_percents(ledger: Ledger) -> dict[str, Decimal]:
    """Return the per cent of wall time of each account; the accounts of a part add up to what the headline prints."""
    result: dict[str, Decimal] = dict.fromkeys(ACCOUNTS, Decimal(0))
    for share in shares([ledger]):
        times = [ledger.accounts[a] or 0 for a in share.part.accounts]
        tenths = units.apportion(times, int(share.percent * 10))
        result |= dict(zip(share.part.accounts, map(units.percent, tenths), strict=True))
    return result


def of_gpus(ledgers: Sequence[Ledger]) -> tuple[Ledger, ...]:
    """Return the ledgers that speak for the GPUs: of each, those of the process with the most GPU time on it.

    Of equal ones the lower process id decides. In order of the GPUs; empty without a ledger on a GPU.
    """
    busy: dict[int, dict[int, int]] = {}
    for ledger in ledgers:
        if ledger.gpu is not None:
            processes = busy.setdefault(ledger.gpu, {})
            processes[ledger.pid] = processes.get(ledger.pid, 0) + (ledger.gpu_busy_ns or 0)
    speakers = {gpu: min(processes, key=lambda pid: (-processes[pid], pid)) for gpu, processes in busy.items()}
    return tuple(
        ledger for gpu in sorted(speakers) for ledger in ledgers if (ledger.gpu, ledger.pid) == (gpu, speakers[gpu])
    )


def headline(ledgers: Sequence[Ledger], window: Window | None, explained: Explained | None = None) -> str:
    """Return one sentence about where the window's wall time went; a second one about its steady steps, if it has some.

    It speaks of physical GPUs: the mean over them of the ledgers `of_gpus`. GPU parts of an incomplete ledger are lower
    bounds ("at least"), and so the others are upper bounds. Without a GPU nothing is said about one.
    """
    if window is None:
        return "No wall time to account for: the trace has no CUDA calls, GPU work or NVTX ranges"
    if not ledgers:
        return f"{_wall(ledgers, window)}, in which no CUDA, NVTX or OS runtime activity was recorded"
    if of_gpus(ledgers):
        return f"{_on_gpus(ledgers, window)}{_once_running(ledgers, window, explained)}"
    if any(ledger.accounts["cuda.launch"] is not None for ledger in ledgers):
        return _without_gpu_rows(ledgers, window)
    return _cpu_run(ledgers, window)


def _on_gpus(ledgers: Sequence[Ledger], window: Window) -> str:
    speaking = of_gpus(ledgers)
    return f"{_wall(speaking, window)}{_where(ledgers)}: {_listed(speaking, ledgers)}"


def _listed(speaking: Sequence[Ledger], ledgers: Sequence[Ledger]) -> str:
    """Return the parts of the ledgers that speak among all ledgers, with bounds where GPU work is missing."""
    whole = all(ledger.gpu_complete is not False for ledger in speaking)
    speakers = {(ledger.gpu, ledger.pid) for ledger in speaking}
    others_whole = all(x.gpu_complete is not False for x in ledgers if (x.gpu, x.pid) not in speakers)
    return ", ".join(
        f"{share.part.title} {_bound(share.part, whole=whole, others_whole=others_whole)}{share.percent} %"
        for share in shares(speaking)
        if share.percent
    )


def _once_running(ledgers: Sequence[Ledger], window: Window, explained: Explained | None) -> str:
    """Return the sentence about the steady steps of the ledgers that speak; empty unless all have some.

    It is left out where next to nothing is outside of them.
    """
    speaking = of_gpus(ledgers)
    steady = []
    for ledger, why in zip(ledgers, explained.ledgers if explained else (), strict=False):
        phases = {phase.name: phase for phase in why.diagnosis.phases_of_run or ()}
        if ledger in speaking and "steady" in phases:
            steady.append((phases["steady"], replace(ledger, accounts={**phases["steady"].accounts})))
    outside = [1 - (phase.end_ns - phase.start_ns) / window.wall_ns for phase, _ in steady]
    if len(steady) < len(speaking) or max(outside, default=0) < WORTH_SAYING:
        return ""
    longest = max(phase.end_ns - phase.start_ns for phase, _ in steady)
    return f". Once running, {units.ns(longest)} of it: {_listed([running for _, running in steady], ledgers)}"


def _bound(part: Part, *, whole: bool, others_whole: bool) -> str:
    """Return what a part's share is, where GPU work is missing of the processes that speak, or of others."""
    if part.on_gpu:
        return "" if whole else "at least "
    if part.accounts == (OTHER_PROCESS,) and not others_whole:
        return "at least " if whole else "about "
    return "" if whole and others_whole else "at most "


def _without_gpu_rows(ledgers: Sequence[Ledger], window: Window) -> str:
    parts = [f"{s.part.without_device} {s.percent} %" for s in shares(ledgers) if s.part.without_device and s.percent]
    return f"{_wall(ledgers, window)}: {', '.join(parts)}; {why_without_gpu(ledgers)}"


def why_without_gpu(ledgers: Sequence[Ledger]) -> str:
    """Return why no ledger has GPU work: not recorded, every launch failed, or there was none."""
    classes = {name for ledger in ledgers for name in ledger.api_exposure}
    if any(ledger.gpu_complete is False for ledger in ledgers):
        return "what the GPU did was not recorded"
    if "cuda.launch" in classes:
        return "every launch failed"
    if classes & {"cuda.memcpy", "cuda.memset"}:
        return "what the GPU did was not recorded"
    return f"the program{'s' if len({ledger.pid for ledger in ledgers}) > 1 else ''} launched nothing"


def _cpu_run(ledgers: Sequence[Ledger], window: Window) -> str:
    measured = "in the whole capture" if window.name == "capture" else "between the first and the last NVTX range"
    if window.name not in ("capture", "nvtx"):
        measured = "in the window asked for"
    return f"{_wall(ledgers, window)} in host code, {measured}{_host_parts(ledgers)}; no CUDA activity was recorded"


def _host_parts(ledgers: Sequence[Ledger]) -> str:
    totals: dict[str, int] = {}
    for ledger in ledgers:
        for name, time in (ledger.host_parts or {}).items():
            totals[name] = totals.get(name, 0) + time
    percents = units.largest_remainders(list(totals.values()), sum(totals.values()))
    parts = [f"{name.removeprefix('host.')} {p} %" for name, p in zip(totals, percents, strict=True) if p]
    return f": {', '.join(parts)}" if parts else ""


def _wall(ledgers: Sequence[Ledger], window: Window) -> str:
    ranges = {(x.window.start_ns, x.window.end_ns) for x in ledgers if x.window}
    if len(ranges) < 2:
        return f"{units.ns(window.wall_ns)} of wall time"
    wall_ns = sum(end - start for start, end in ranges)
    return f"{units.ns(wall_ns)} of wall time in {units.count(len(ranges))} ranges"


def _where(ledgers: Sequence[Ledger]) -> str:
    gpus = {ledger.gpu for ledger in ledgers if ledger.gpu is not None}
    used = {(ledger.gpu, ledger.pid) for ledger in ledgers if ledger.gpu is not None}
    if len(used) == len(gpus):
        return f" on {len(gpus)} GPUs" if len(gpus) > 1 else ""
    if len(gpus) == 1:
        return f" on 1 GPU that {len(used)} processes share, as process {of_gpus(ledgers)[0].pid} sees it"
    return f" on {len(gpus)} GPUs, each as the process sees it that used it most"
