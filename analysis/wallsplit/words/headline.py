"""The headline: one sentence a newcomer can repeat, built from the ledgers."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from wallsplit import units
from wallsplit.accounts import ACCOUNTS, PARTS, Part
from wallsplit.ledger.ledger import Ledger, Window


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


def headline(ledgers: Sequence[Ledger], window: Window | None) -> str:
    """Return one sentence about where the window's wall time went.

    Several ledgers: the means over those with a device. GPU parts of an incomplete ledger are lower bounds ("at
    least"), and so the others are upper bounds. Without a device nothing is said about a GPU.
    """
    if window is None:
        return "No wall time to account for: the trace has no CUDA calls, GPU work or NVTX ranges"
    if not ledgers:
        return f"{_wall(ledgers, window)}, in which no CUDA, NVTX or OS runtime activity was recorded"
    on_gpu = [ledger for ledger in ledgers if ledger.device is not None]
    if on_gpu:
        return _with_device(on_gpu, window)
    if any(ledger.accounts["cuda.launch"] is not None for ledger in ledgers):
        return _without_gpu_rows(ledgers, window)
    return _cpu_run(ledgers, window)


def _with_device(ledgers: Sequence[Ledger], window: Window) -> str:
    complete = all(ledger.gpu_complete is not False for ledger in ledgers)
    parts = []
    for share in shares(ledgers):
        if share.percent:
            bound = "" if complete else "at least " if share.part.on_gpu else "at most "
            parts.append(f"{share.part.title} {bound}{share.percent} %")
    return f"{_wall(ledgers, window)}{_where(ledgers)}: {', '.join(parts)}"


def _without_gpu_rows(ledgers: Sequence[Ledger], window: Window) -> str:
    parts = [f"{s.part.without_device} {s.percent} %" for s in shares(ledgers) if s.part.without_device and s.percent]
    return f"{_wall(ledgers, window)}: {', '.join(parts)}; what the GPU did was not recorded"


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
    devices = len({ledger.device for ledger in ledgers})
    processes = len({ledger.pid for ledger in ledgers})
    if len({(ledger.pid, ledger.device) for ledger in ledgers}) > devices:
        return f" on {devices} GPU{'s' if devices > 1 else ''}, mean of {processes} processes"
    return f" on {devices} GPUs" if devices > 1 else ""
