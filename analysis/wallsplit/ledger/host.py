"""What the host was doing when: decided on the whole trace, like the accounts (docs/idle-time.md, Timelines).

Each timeline is one array sweep: the phase of the innermost named range, the OS call that every driving thread sits in,
the API call behind each account, and whether another device of the process works.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import API_ACCOUNTS
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, of_others
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.labels import NONE, UNLABELLED, Codes, Labels, latest_begun, paint
from wallsplit.ledger.os_calls import SIGNAL, os_class
from wallsplit.ledger.phases import MPI, PHASE_NAMES, PHASES, PhaseRule, phase_of
from wallsplit.ledger.rows import Rows
from wallsplit.model import Model, Names
from wallsplit.model.annotations import Annotations
from wallsplit.ranks import distinct, ranked
from wallsplit.schema import API_CLASSES


@dataclass(frozen=True, eq=False)
class HostTimelines:
    """What the threads of one process that drive one device were doing at each instant of the trace."""

    phase: Labels
    """Positions in PHASE_NAMES."""
    os_call: Labels
    """Rows of Names: of the OS calls that every live driving thread is inside, the one that returns first."""
    elsewhere: Intervals
    """When another device of the same process works."""
    ranges: Annotations
    """The NVTX ranges of the driving threads."""
    has_os_calls: bool
    """Whether OS runtime calls of a driving thread were traced."""


def host_timelines(
    model: Model, activities: Sequence[Activity], rules: tuple[PhaseRule, ...] = PHASES
) -> tuple[HostTimelines, ...]:
    """Return the host's timelines of each activity; `rules` say which range is of which phase."""
    processes: dict[int, _Process] = {}
    for activity in activities:
        if activity.pid not in processes:
            processes[activity.pid] = _process(model, activity, rules)
    elsewhere = on_other_devices(activities)
    return tuple(
        HostTimelines(
            phase=(own := processes[activity.pid]).phase,
            os_call=own.os_call,
            elsewhere=elsewhere[activity.pid, activity.device],
            ranges=own.ranges,
            has_os_calls=own.has_os_calls,
        )
        for activity in activities
    )


def on_other_devices(activities: Sequence[Activity]) -> dict[tuple[int, int | None], Intervals]:
    """Return, by process and device, when another device of the process works."""
    by_process: dict[int, list[Activity]] = {}
    for activity in activities:
        by_process.setdefault(activity.pid, []).append(activity)
    return {
        (each.pid, each.device): others
        for own in by_process.values()
        for each, others in zip(own, of_others([a.busy for a in own]), strict=True)
    }


def on_driving_threads(activity: Activity) -> tuple[pl.Expr, pl.Expr]:
    """Return the conditions that rows lie on the driving threads of the activity's process."""
    driving = pl.Series(activity.driving, dtype=pl.Int64).implode()
    return pl.col("pid") == activity.pid, pl.col("thread").is_in(driving)


@dataclass(frozen=True, eq=False)
class _Process:
    phase: Labels
    os_call: Labels
    ranges: Annotations
    has_os_calls: bool


def _process(model: Model, activity: Activity, rules: tuple[PhaseRule, ...]) -> _Process:
    driving = on_driving_threads(activity)
    chosen = model.annotations.kinds.select(pl.all_horizontal(*driving)).to_series().to_numpy()
    ranges = model.annotations.of_kinds(chosen)
    mpi, os_calls = (
        frame.lazy().filter(*driving).select("start", "end", "thread", "name").collect()
        for frame in (model.mpi, model.osrt)
    )
    return _Process(
        _phases(ranges, _phase_codes(ranges.kinds, chosen, model.names, rules), mpi),
        UNLABELLED
        if os_calls.is_empty()
        else _os_calls(os_calls, _lives([*_live_rows(activity, ranges), os_calls.lazy(), mpi.lazy()]), model.names),
        ranges=ranges,
        has_os_calls=not os_calls.is_empty(),
    )


def _phases(ranges: Annotations, codes: Codes, mpi: pl.DataFrame) -> Labels:
    """Return the phase of the range or MPI call that began last; `codes`: that of each kind of range."""
    phased = ranges.of_kinds(codes != NONE)
    start, end, phase, thread = phased.start, phased.end, phased.each(codes), phased.thread
    if mpi.height:
        start, end, thread = (np.append(a, mpi[b]) for a, b in ((start, "start"), (end, "end"), (thread, "thread")))
        phase = np.append(phase, np.full(mpi.height, PHASE_NAMES.index(MPI), np.int32))
    return latest_begun(start, end, phase, thread)


def _phase_codes(
    kinds: pl.DataFrame, chosen: npt.NDArray[np.bool_], names: Names, rules: tuple[PhaseRule, ...]
) -> Codes:
    """Return the phase of each kind of range that is chosen, by its name.

    Names that differ in numbers only ("step 1", "step 2" …) are looked at once.
    """
    of_names, shapes = names.shapes
    of_kinds = of_names[kinds["range"].to_numpy()]
    used = distinct(of_kinds[chosen])
    phases = [phase_of(text, rules) for text in shapes.gather(used)]
    codes = np.full(len(shapes), NONE, np.int32)
    codes[used] = [NONE if phase is None else PHASE_NAMES.index(phase) for phase in phases]
    phase_of_kinds: Codes = codes[of_kinds]
    return phase_of_kinds


def _live_rows(activity: Activity, ranges: Annotations) -> list[pl.LazyFrame]:
    """Return thread, start and end of the calls and ranges of a process."""
    own = pl.LazyFrame({"thread": ranges.thread, "start": ranges.start, "end": ranges.end})
    return [own] if activity.rows is None else [activity.rows.calls.lazy().filter("is_driving"), own]


def _lives(frames: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    """Return thread, start and end: a thread is live from its first to its last row of any kind."""
    ends = pl.col("start").min(), pl.col("end").max()
    each = [frame.group_by("thread").agg(*ends) for frame in frames]
    return pl.concat(each).group_by("thread").agg(*ends).collect()


def _os_calls(calls: pl.DataFrame, lives: pl.DataFrame, names: Names) -> Labels:
    """Return the OS call that returns first, while every live thread is inside one that blocks it."""
    place, signals = _os_names(calls["name"], names)
    thread = np.concatenate([calls["thread"], lives["thread"]])
    starts = np.concatenate([calls["start"], lives["start"]])
    ends = np.concatenate([calls["end"], lives["end"]])
    starts, ends, row = _by_thread(thread, starts, ends)
    inside_call = row < calls.height  # the others are lives: nothing else is known of the thread then
    row = np.where(inside_call, row, 0)
    name, returns = calls["name"].to_numpy()[row], calls["end"].to_numpy()[row]
    runs = ~inside_call | signals[name]
    order = np.lexsort(
        (-place[name], -returns, runs)
    )  # whoever returns first paints last; a thread that runs, after it
    return paint(starts[order], ends[order], np.where(runs, np.int32(NONE), name)[order])


def _os_names(rows: pl.Series, names: Names) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return, by row of Names, the place of an OS call by class and name, and whether it is a signal."""
    distinct = [int(row) for row in rows.unique()]
    place = np.zeros(len(names.texts), np.int64)
    signals = np.zeros(len(names.texts), np.bool_)
    by_class = sorted((os_class(names[row]), names[row], row) for row in distinct)
    for number, (kind, _, row) in enumerate(by_class):
        place[row] = number
        signals[row] = kind == SIGNAL
    return place, signals


def _by_thread(thread: npt.NDArray[np.int64], starts: Times, ends: Times) -> tuple[Times, Times, Codes]:
    """Return the pieces (start, end, row) in which a row is the one of its thread that began last.

    The threads lie one behind the other on one axis, so that one sweep serves them all.
    """
    number = ranked(thread)[1]
    ticks = distinct(np.concatenate([starts, ends]))
    begins, stops = (number * len(ticks) + np.searchsorted(ticks, times) for times in (starts, ends))
    latest = latest_begun(begins, stops, np.arange(len(starts), dtype=np.int32), np.zeros_like(number))
    labelled = np.flatnonzero(latest.codes != NONE)
    times = ticks[latest.times % len(ticks)]
    return times[labelled], times[labelled + 1], latest.codes[labelled]


def api_calls(rows: Rows) -> dict[str, Labels]:
    """Return, by API account, the call of a driving thread booked there that began last.

    A call is told by twice its row of Names, plus 1 where a launch call launches something for the first time.
    """
    start, end, name, thread = (rows.calls[column].to_numpy() for column in ("start", "end", "name", "thread"))
    booked = rows.calls["booked_class"].to_physical().to_numpy().copy()
    booked[~rows.calls["is_driving"].to_numpy()] = len(API_CLASSES)
    result = {}
    for account in API_ACCOUNTS:
        own = account.removeprefix("cuda.")
        mine = np.flatnonzero(booked == API_CLASSES.index(own))
        label = 2 * name[mine]
        if own == "launch":
            label += first_launches(rows)[mine]
        result[account] = latest_begun(start[mine], end[mine], label, thread[mine])
    return result


def first_launches(rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which calls launch a kernel, by name, or a graph for the first time on the device: code is loaded then.

    Only launch calls, by name, of driving threads are looked at, in order of (start, end).
    """
    calls = rows.calls
    chosen = np.flatnonzero(((calls["api_class"] == "launch") & calls["is_driving"]).to_numpy())
    result = np.zeros(calls.height, np.bool_)
    what, number = _launched(rows)
    if not len(chosen) or not len(number):
        return result
    starts, ends = (calls[column].to_numpy()[chosen] for column in ("start", "end"))
    in_turn = chosen[np.lexsort((ends, starts))]
    numbers = calls["number"].to_numpy()[in_turn]
    never = len(in_turn)
    turn = np.full(int(max(numbers.max(), number.max())) + 1, never, np.int64)
    np.minimum.at(turn, numbers, np.arange(never))
    first = np.full(int(what.max()) + 1, never, np.int64)
    np.minimum.at(first, what, turn[number])
    result[in_turn[first[first < never]]] = True
    return result


def _launched(rows: Rows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return (what, number) of each GPU operation: equal kernels, equal graphs, all copies, all sets are one thing."""
    kernels = rows.kernels["name"].to_numpy().astype(np.int64)
    graphs = rows.replays["executable"].rank("dense").fill_null(0).to_numpy().astype(np.int64)
    copies = (rows.memory_ops["operation"] == "[CUDA memset]").to_numpy().astype(np.int64)
    first_graph = int(kernels.max(initial=-1)) + 1
    first_copy = first_graph + int(graphs.max(initial=-1)) + 1
    numbers = np.concatenate([frame["number"] for frame in (rows.kernels, rows.replays, rows.memory_ops)])
    return np.concatenate([kernels, first_graph + graphs, first_copy + copies]), numbers
