"""How does work reach the GPU: what does a launch cost, how long does work queue, how deep is the queue?

A launch is a call of class launch, made outside stream capture, with a kernel or graph replay on the device.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.pieces import Pieces
from wallsplit.ledger.rows import Rows
from wallsplit.ledger.timeline import summed
from wallsplit.ranks import ranked
from wallsplit.schema import LAUNCH
from wallsplit.why.launch_queue import Depth, Queue
from wallsplit.why.spread import Spread, median, spread

SHORT_GAP_NS = 100_000
"""Idle gaps below it lie within a train of launches; CUDA graphs could close them."""
GRAPHS_SAVE = ("cuda.launch", "cuda.latency", "cuda.other", HOST)
"""What a short gap is booked to, that replaying a graph would spare."""
FULL_QUEUE = 256
"""With as many pending, a slow launch waits for room in the queue (1,000 and more fit, by GPU and driver)."""
PRESSED_NS = 20_000
PRESSED_TIMES = 5
"""Such a launch lasts at least PRESSED_NS, and this many times the median launch of what was launched before."""
SMALL_KERNEL_NS = 10_000

_GPU_WORK = 1  # the largest `kind` of Rows.operations that a launch starts: a kernel or a graph replay
_NEVER = np.iinfo(np.int64).max
_NO_CALL = np.iinfo(np.int64).min
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Backpressure:
    """Launches that waited for room in a full queue."""

    count: int
    total_ns: int
    depth_med: float | None
    """Operations pending when they began."""


@dataclass(frozen=True)
class SmallKernels:
    """How short kernels are, by themselves and beside the calls that launch them; a graph's nodes have no own call."""

    kernel_med_ns: float | None
    shorter_than_call_ratio: float | None
    under_10us_ratio: float | None


@dataclass(frozen=True)
class Launch:
    """The launches of a ledger."""

    count: int
    api: Spread
    """Durations of the calls."""
    first: Spread | None
    """Durations of those that launch a kernel, or graph, for the first time on the device: code is loaded there."""
    latency: Spread
    """From the call's start to the start of its first operation."""
    queue: Spread | None
    """From the call's end to the start of its first operation, where that comes later."""
    depth: Depth
    backpressure: Backpressure
    small: SmallKernels
    per_step_med: float | None
    """Launches per step; None with fewer than two steps."""
    graph_saving_upper_ns: int
    """What CUDA graphs could save at most: GRAPHS_SAVE in short gaps."""
    short_gaps_ns: dict[str, int]
    """By account, the idle time between first and last operation in gaps shorter than SHORT_GAP_NS."""


def launch(activity: Activity, window: Window, step_starts: Times, cut: Pieces) -> Launch | None:
    """Return how work is launched in the window; None without a device or a launch.

    Calls and kernels count where they begin in the window; depth and gaps are cut at its ends. `step_starts` are the
    times on the host at which steps begin, ascending; `cut` are the window's pieces.

    Raises:
        LedgerError: the queue's depths do not add up to the window.
    """
    rows = activity.rows
    if activity.device is None or rows is None:
        return None
    calls = _Calls.of(rows)
    operations = rows.operations
    queue = Queue.of(calls.earliest_start[operations["number"].to_numpy()], operations["end"].to_numpy())
    launches = _launches(rows, calls, window)
    if not len(launches.starts):
        return None
    lengths = launches.ends - launches.starts
    waited = launches.first_operation - launches.ends
    later = lengths[~launches.is_first]
    usual = median(later if len(later) else lengths)
    api, latency = spread(lengths), spread(launches.first_operation - launches.starts)
    assert api is not None and latency is not None and usual is not None  # there is a launch
    gaps = _short_gaps(cut)
    return Launch(
        count=len(lengths),
        api=api,
        first=spread(lengths[launches.is_first]),
        latency=latency,
        queue=spread(waited[waited >= 0]),
        depth=queue.depth(window),
        backpressure=_backpressure(queue.pending(launches.starts), lengths, usual),
        small=_small(rows.kernels, calls, window),
        per_step_med=median(np.diff(np.searchsorted(launches.starts, step_starts))),
        graph_saving_upper_ns=sum(gaps.get(account, 0) for account in GRAPHS_SAVE),
        short_gaps_ns=gaps,
    )


@dataclass(frozen=True)
class _Calls:
    """What the calls of a process are to its operations, by correlation number: _NEVER or _NO_CALL without a call."""

    size: int
    earliest_start: Times
    longest: Times

    @classmethod
    def of(cls, rows: Rows) -> "_Calls":
        numbers = rows.calls["number"].to_numpy()
        starts, ends = rows.calls["start"].to_numpy(), rows.calls["end"].to_numpy()
        size = int(max(numbers.max(initial=-1), rows.operations["number"].to_numpy().max(initial=-1))) + 1
        earliest, longest = np.full(size, _NEVER), np.full(size, _NO_CALL)
        np.minimum.at(earliest, numbers, starts)
        np.maximum.at(longest, numbers, ends - starts)
        return cls(size, earliest, longest)


@dataclass(frozen=True)
class _Launches:
    """Launches by start, then end."""

    starts: Times
    ends: Times
    first_operation: Times
    """When the call's first operation begins on the device."""
    is_first: npt.NDArray[np.bool_]


def _launches(rows: Rows, calls: _Calls, window: Window) -> _Launches:
    operations = rows.operations.lazy().filter(pl.col("kind") <= _GPU_WORK).select("number", "start").collect()
    first_operation = np.full(calls.size, _NEVER)
    in_turn = operations["number"].to_numpy()[::-1]  # by start: the last one written is the earliest
    first_operation[in_turn] = operations["start"].to_numpy()[::-1]
    columns = ("start", "end", "number", "booked_class", "is_driving")
    of_class = rows.calls.lazy().filter(pl.col("api_class") == "launch").select(columns).collect()
    starts = of_class["start"].to_numpy()
    if (starts[1:] <= starts[:-1]).any():
        of_class = of_class.sort("start", "end", maintain_order=True)
    begun = first_operation[of_class["number"].to_numpy()]
    first = _firsts(rows, of_class, calls.size)
    counted = of_class.with_columns(pl.Series("first_operation", begun), pl.Series("is_first", first)).filter(
        (pl.col("booked_class") != "graph_build") & (pl.col("first_operation") < _NEVER) & _begins_in(window)
    )
    return _Launches(*(counted[name].to_numpy() for name in ("start", "end", "first_operation", "is_first")))


def _begins_in(window: Window) -> pl.Expr:
    return (pl.col("start") >= window.start_ns) & (pl.col("start") < window.end_ns)


def _firsts(rows: Rows, in_turn: pl.DataFrame, size: int) -> npt.NDArray[np.bool_]:
    """Return which calls of class launch, in the order of their starts, launch something new to the device."""
    is_first = np.zeros(in_turn.height, np.bool_)
    turn = np.full(size, in_turn.height)  # of the first call of a driving thread with a number
    driving = np.flatnonzero(in_turn["is_driving"].to_numpy())
    np.minimum.at(turn, in_turn["number"].to_numpy()[driving], driving)
    for numbers, what in _launched(rows):
        earliest = np.full(int(what.max(initial=-1)) + 1, in_turn.height)
        np.minimum.at(earliest, what, turn[numbers])
        is_first[earliest[earliest < in_turn.height]] = True
    return is_first


def _launched(rows: Rows) -> Iterable[tuple[Numbers, Numbers]]:
    """Return, per kind of operation, the correlation numbers and what is launched: a kernel's name, a graph …"""
    yield rows.kernels["number"].to_numpy(), rows.kernels["name"].to_numpy()
    graphs = rows.replays["executable"].fill_null(-1).to_numpy()
    yield rows.replays["number"].to_numpy(), ranked(graphs)[1]
    is_set = (rows.memory_ops["operation"] == "[CUDA memset]").to_numpy()  # graph nodes, for which a launch is to blame
    yield rows.memory_ops["number"].to_numpy(), is_set.astype(np.int64)


def _backpressure(pending: Numbers, lengths: Times, usual: float) -> Backpressure:
    pressed = (pending >= FULL_QUEUE) & (lengths >= max(PRESSED_TIMES * usual, PRESSED_NS))
    return Backpressure(int(pressed.sum()), int(lengths[pressed].sum()), median(pending[pressed]))


def _small(kernels: pl.DataFrame, calls: _Calls, window: Window) -> SmallKernels:
    begun = kernels.lazy().filter(_begins_in(window)).select("start", "end", "number", "is_node").collect()
    lengths = (begun["end"] - begun["start"]).to_numpy()
    call = calls.longest[begun["number"].to_numpy()]
    launched = (call > _NO_CALL) & ~begun["is_node"].to_numpy()
    return SmallKernels(
        kernel_med_ns=median(lengths),
        shorter_than_call_ratio=_share(lengths[launched] < call[launched]),
        under_10us_ratio=_share(lengths < SMALL_KERNEL_NS),
    )


def _share(holds: npt.NDArray[np.bool_]) -> float | None:
    return int(holds.sum()) / len(holds) if len(holds) else None


def _short_gaps(cut: Pieces) -> dict[str, int]:
    """Return the time of short idle gaps between operations by account."""
    starts, ends = cut.gaps
    is_short = (ends - starts < SHORT_GAP_NS) & (starts > cut.times[0]) & (ends < cut.times[-1])
    short = np.flatnonzero(cut.of_gaps(is_short, np.bool_(0)))
    by_account = summed(cut.account[short], cut.ns[short], len(ACCOUNTS))
    return {account: int(ns) for account, ns in zip(ACCOUNTS, by_account, strict=True) if ns}


def table(found: Iterable[tuple[int, int | None, Launch | None]]) -> pl.DataFrame:
    """Return `schema.LAUNCH`: a row per (process, device) with a launch."""
    rows = [{"pid": pid, "device": device, **_columns(how)} for pid, device, how in found if how]
    return pl.DataFrame(rows, schema=LAUNCH)


def _columns(how: Launch) -> dict[str, object]:
    parts = ("api", "first", "latency", "queue", "depth", "backpressure", "small")
    values = {part: getattr(how, part) for part in parts}
    flat = {f"{part}_{name}": x for part, value in values.items() if value for name, x in vars(value).items()}
    single = ("count", "per_step_med", "graph_saving_upper_ns")
    return {**flat, **{name: getattr(how, name) for name in single}}
