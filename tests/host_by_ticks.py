"""What each instant goes to, tick by tick: the definitions of docs/ledger.md and docs/idle-time.md once more, slowly.

All times of a trace are whole ticks, so that nothing changes inside one. What the ledger's own tests settle (which
layers are active, what a call is booked as) is taken as given; all else is looked up in plain rows.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS, HOST, LAYERS
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.os_calls import os_class
from wallsplit.ledger.phases import phase_of
from wallsplit.model import Model

TICK = 50_000
"""ns: two are a pause between launches, twenty a wait that nothing recorded explains."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Tick:
    """What is known of one tick."""

    start: int
    account: str
    position: str | None
    phase: str | None
    call: str | None
    call_class: str | None
    elsewhere: bool
    range: str | None
    gap: tuple[int, int] | None
    ends_in_input: bool

    @property
    def combination(self) -> tuple[str | None, ...]:
        told = (self.account, self.position, self.phase, self.call, self.call_class)
        return (*told, "device" if self.elsewhere else None)


def ticks(model: Model, activity: Activity, every: tuple[Activity, ...], window: Window) -> list[Tick]:
    """Return the ticks of the window."""
    host = _Host(model, activity, every)
    return [host.tick(start, window) for start in range(window.start_ns, window.end_ns, TICK)]


def summed(labels: Iterator[Any]) -> dict[Any, int]:
    """Return the ns of each label, of one label a tick."""
    return {label: count * TICK for label, count in Counter(labels).items()}


class _Host:
    def __init__(self, model: Model, activity: Activity, every: tuple[Activity, ...]) -> None:
        def rows(frame: Any, name: str) -> list[Row]:
            texts = frame.with_columns(model.names.text(frame[name]).alias("text"))
            mine = [row for row in texts.to_dicts() if row["pid"] == activity.pid]
            return [row for row in mine if row["thread"] in set(activity.driving.tolist())]

        self.activity = activity
        self.ranges = rows(model.nvtx, "range")
        self.phased = [{**row, "phase": phase_of(row["text"])} for row in self.ranges]
        self.phased += [{**row, "phase": "mpi"} for row in rows(model.mpi, "name")]
        self.os_calls = rows(model.osrt, "name")
        self.calls = []
        self.operations = []
        if activity.rows is not None:
            calls = activity.rows.calls
            texts = calls.with_columns(model.names.text(calls["name"]).alias("text"))
            self.calls = [row for row in texts.to_dicts() if row["is_driving"]]
            self.operations = [
                *({**row, "what": f"kernel {row['name']}"} for row in activity.rows.kernels.to_dicts()),
                *({**row, "what": f"graph {row['executable']}"} for row in activity.rows.replays.to_dicts()),
                *({**row, "what": "set" if "set" in row["operation"] else "copy"} for row in _copies(activity)),
            ]
        self.first = self._first_launches()
        self.live = self._lives()
        self.others = [other for other in every if other.pid == activity.pid and other.device != activity.device]

    def _first_launches(self) -> list[Row]:
        seen: set[str] = set()
        first = []
        launches = [row for row in self.calls if row["api_class"] == "launch"]
        for call in sorted(launches, key=lambda row: (row["start"], row["end"])):
            launched = {row["what"] for row in self.operations if row["number"] == call["number"]}
            if launched - seen:
                first.append(call)
            seen |= launched
        return first

    def _lives(self) -> dict[int, tuple[int, int]]:
        lives: dict[int, tuple[int, int]] = {}
        for row in (*self.calls, *self.os_calls, *self.phased):
            start, end = lives.get(row["thread"], (row["start"], row["end"]))
            lives[row["thread"]] = min(start, row["start"]), max(end, row["end"])
        return lives

    def tick(self, start: int, window: Window) -> Tick:
        account = self._account(start)
        idle = account not in (*GPU_ACCOUNTS, "gpu.other")
        call = self._call(account, start)
        gap = self._gap(start, window)
        phased = _latest([row for row in self.phased if row["phase"]], start)
        innermost = _latest([row for row in self.ranges if not row["is_library"]], start)
        return Tick(
            start=start,
            account=account,
            position=self._position(start),
            phase=phased["phase"] if phased and idle else None,
            call=call[0],
            call_class=call[1],
            elsewhere=idle and any(_inside(other.busy, start) for other in self.others),
            range=innermost["text"] if innermost else None,
            gap=gap,
            ends_in_input=gap is not None and any(_is_input(row) and row["start"] == gap[1] for row in self.operations),
        )

    def _account(self, instant: int) -> str:
        layers = self.activity.layers
        return next((name for name in LAYERS if layers is not None and _inside(layers[name], instant)), HOST)

    def _position(self, instant: int) -> str | None:
        busy = self.activity.busy
        if not len(busy.starts):
            return None
        return "before" if instant < busy.starts[0] else "after" if instant >= busy.ends[-1] else "between"

    def _call(self, account: str, instant: int) -> tuple[str | None, str | None]:
        if account == HOST:
            return self._os_call(instant)
        booked = [row for row in self.calls if f"cuda.{row['booked_class']}" == account]
        call = _latest(booked, instant)
        if call is None:
            return None, None
        return call["text"], "first" if account == "cuda.launch" and call in self.first else None

    def _os_call(self, instant: int) -> tuple[str | None, str | None]:
        live = [thread for thread, (start, end) in self.live.items() if start <= instant < end]
        calls = [_latest([row for row in self.os_calls if row["thread"] == thread], instant) for thread in live]
        inside = [(row["end"], os_class(row["text"]), row["text"]) for row in calls if row is not None]
        if not live or len(inside) < len(live) or any(kind == "signal" for _, kind, _ in inside):
            return None, None
        _, kind, name = min(inside)
        return name, kind

    def _gap(self, instant: int, window: Window) -> tuple[int, int] | None:
        busy = [(start, end) for start, end in zip(*self.activity.busy, strict=True)]
        if any(start <= instant < end for start, end in busy):
            return None
        start = max([window.start_ns, *(int(end) for _, end in busy if end <= instant)])
        return start, min([window.end_ns, *(int(begin) for begin, _ in busy if begin > instant)])


def cause(tick: Tick) -> str:
    """Return the cause of a tick."""
    at_host, gap_ns = tick.account == "host", (tick.gap[1] - tick.gap[0]) if tick.gap else 0
    kind, _, name = tick.account.partition(".")
    if kind == "gpu":
        return {"kernel": "work", "graph": "work", "comm": "comm", "other": "shared_gpu"}.get(name, "transfer")
    if tick.elsewhere and (at_host or name in {"sync", "memcpy", "latency", "other"}):
        return "other_device"
    if name == "sync" and gap_ns >= 1_000_000:
        return "unseen_wait"
    if tick.position in {"before", "after"}:
        return "startup" if tick.position == "before" else "teardown"
    if name == "setup" or (name == "launch" and tick.call_class == "first"):
        return "loading"
    if name in {"profiler", "graph_build", "alloc", "sync"}:
        return name
    if name in {"memcpy", "memset"}:
        return "transfer"
    if at_host and tick.phase in {"setup", "data", "comm", "mpi", "compile"}:
        return {"setup": "startup", "mpi": "comm"}.get(tick.phase, tick.phase)
    if gap_ns < 100_000 or name in {"launch", "other"}:
        return "launch"
    if name == "latency":
        return "device_wait"
    if tick.ends_in_input:
        return "input"
    return "blocked" if tick.call_class == "wait" else "host"


def part(tick: Tick) -> str:
    """Return the part of `host` that a tick of it goes to."""
    return f"host.{tick.phase}" if tick.phase else "host.blocked" if tick.call else "host.run"


def in_order(by_account: dict[str, int]) -> dict[str, int]:
    return {name: by_account[name] for name in ACCOUNTS if name in by_account}


def _copies(activity: Activity) -> list[Row]:
    return [] if activity.rows is None else activity.rows.memory_ops.to_dicts()


def _is_input(row: Row) -> bool:
    return row.get("operation") == "[CUDA memcpy Host-to-Device]" and row["bytes"] >= 4_096


def _latest(rows: list[Row], instant: int) -> Row | None:
    """Return the row, of those open, that began last; of several the shortest, of the smallest thread, the first."""
    inside = [(row, number) for number, row in enumerate(rows) if row["start"] <= instant < row["end"]]
    if not inside:
        return None
    return min(inside, key=lambda x: (-x[0]["start"], x[0]["end"], x[0]["thread"], x[1]))[0]


def _inside(intervals: Any, instant: int) -> bool:
    return any(start <= instant < end for start, end in zip(*intervals, strict=True))
