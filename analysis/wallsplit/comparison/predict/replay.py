"""The replay: a program simulated in the order it was recorded in, with one thing changed."""

from collections.abc import Iterable, Iterator
from dataclasses import field

import numpy as np
import numpy.typing as npt

from wallsplit.comparison.predict.dependencies import NODE_GAP_NS, Delays
from wallsplit.comparison.predict.program import COPY, LAUNCH, SET, Call, Operation, Program
from wallsplit.comparison.predict.schedule import Schedule, schedule, starts
from wallsplit.frozen import dataclass
from wallsplit.intervals import EMPTY, Intervals, elapsed

_TRAIN_NS = 200_000
"""A shorter gap before a launch is the framework's own work of launching."""
_GRAPH_CALL_NS, _GRAPH_GAP_NS = 600.0, 100.0


@dataclass(frozen=True)
class Change:
    """What is different from the recording; as it stands, nothing."""

    gpu: float = 1.0
    """What an operation takes, of what it took; 0: nothing."""
    kernels: float = 1.0
    """The same of kernels and graphs alone."""
    host: float = 1.0
    """What gaps between calls, and calls by themselves, take."""
    waits: bool = True
    """Whether waiting calls wait."""
    as_graphs: bool = False
    """Whether launches, sets and asynchronous copies cost what they would in a CUDA graph."""
    hidden: frozenset[str] = field(default_factory=frozenset)
    """Kinds of operations that others no longer wait for: `copy`, `comm`."""
    without: Intervals = EMPTY
    """When the host's gaps between calls take no time, on the recording's clock."""


UNCHANGED = Change()


class Replays:
    """The replays of one program: columns, and the order of its events, are made once for all of them."""

    def __init__(self, program: Program, delays: Delays) -> None:
        self._program, self._delays = program, delays
        calls, operations = program.calls, program.operations
        self._starts = starts(program)
        self._start, self._since = _integers(call.start for call in calls), _integers(self._starts.since_ns)
        self._own_ns = _reals(call.own_ns for call in calls)
        self._in_train = np.array([call.kind in (LAUNCH, SET, COPY) for call in calls]) & self._starts.after_all
        self._joins_graph = np.array([_joins_graph(call) for call in calls])
        self._call_of = [-1 if operation.call is None else operation.call for operation in operations]
        is_node = np.array([operation.node_before is not None for operation in operations])
        self._is_launched = ~is_node & np.array([call.kind == LAUNCH for call in calls])[self._call_of]
        after_start = np.where(is_node, 0.0, delays.launch_ns)
        self._handed_over: list[float] = np.where(self._is_launched, delays.after_launch_ns, after_start).tolist()
        self._lasts_ns = _reals(operation.ns for operation in operations)
        self._is_kernel = np.array([operation.kind in ("kernel", "graph") for operation in operations])
        self._schedules: dict[bool, Schedule] = {}
        self._dependencies: dict[tuple[bool, frozenset[str]], list[list[tuple[int, float]]]] = {}

    def ns(self, change: Change = UNCHANGED, *, residuals: bool = False) -> float:
        """Return the ns from the first start to the last end.

        `residuals`: each operation keeps what is unexplained of its own delay; else delays are medians.
        """
        calls, operations = self._program.calls, self._program.operations
        call_of, handed_over, depends = self._call_of, self._handed_over, self._depends(change)
        own = self._own(change)
        called = np.where(self._is_launched, own[call_of], 0.0).tolist()
        kernels = np.where(self._is_kernel, change.kernels, 1.0)
        lasts = (self._lasts_ns * change.gpu * kernels).tolist()
        residual = [operation.residual_ns for operation in operations] if residuals else [0.0] * len(operations)
        begin, end = [0.0] * len(operations), [0.0] * len(operations)
        call_start: list[float] = []
        call_end: list[float] = []
        latest = float(self._program.start_ns)

        def place(numbers: Iterable[int], shift: float) -> None:
            for i in numbers:
                call = call_of[i]
                ready = operations[i].start + shift if call < 0 else call_start[call] + called[i] + handed_over[i]
                for other, delay in depends[i]:
                    done = end[other] + delay
                    if done > ready:
                        ready = done
                begin[i] = ready = ready + residual[i]
                end[i] = ready + lasts[i]

        *placed, rest = self._schedule(change).placed
        shift = 0.0
        reckoned = zip(self._starts.after_all, self._starts.after, self._starts.beside, strict=True)
        for call, numbers, (after_all, after, beside), gap, takes in zip(
            calls, placed, reckoned, self._gaps(change).tolist(), own.tolist(), strict=True
        ):
            if after_all:
                start = latest + gap
            elif after >= 0:
                start = call_end[after] + gap
            else:
                start = (call_start[beside] if call_start else self._program.start_ns) + gap
            call_start.append(start)
            shift = start - call.start
            place(numbers, shift)
            done = start + takes
            if call.queued_behind is not None:
                done = max(done, begin[call.queued_behind])
            if call.waits_for and change.waits:
                done = max(done, max(end[i] for i in call.waits_for) + self._tail(call, residuals=residuals))
            call_end.append(done)
            if done > latest:
                latest = done
        place(rest, shift)
        return max([latest, *end]) - self._program.start_ns

    def _gaps(self, change: Change) -> npt.NDArray[np.float64]:
        """Return how long after what its start is reckoned from each call starts."""
        recorded = self._start - self._since
        spared = elapsed(change.without, self._start) - elapsed(change.without, self._since)
        recorded -= np.where(self._starts.after_all, spared, 0)
        recorded = np.where(np.array(self._starts.after) >= 0, np.maximum(recorded, 0), recorded)
        if change.as_graphs:
            in_train = self._in_train & (recorded <= _TRAIN_NS)
            recorded = np.where(in_train, np.minimum(recorded, _GRAPH_GAP_NS), recorded)
        gaps: npt.NDArray[np.float64] = recorded * np.float64(change.host)
        return gaps

    def _own(self, change: Change) -> npt.NDArray[np.float64]:
        """Return what each call takes by itself."""
        scaled = self._own_ns * change.host
        if not change.as_graphs:
            return scaled
        return np.where(self._joins_graph, np.minimum(_GRAPH_CALL_NS, self._own_ns), scaled)

    def _tail(self, call: Call, *, residuals: bool) -> float:
        if not call.waited:
            return 0.0
        return call.tail_ns if residuals else self._delays.tails_ns[call.name]

    def _schedule(self, change: Change) -> Schedule:
        if change.waits not in self._schedules:
            self._schedules[change.waits] = schedule(self._program, waits=change.waits)
        return self._schedules[change.waits]

    def _depends(self, change: Change) -> list[list[tuple[int, float]]]:
        """Return the operations after whose ends each can begin, and how long after."""
        key = change.waits, change.hidden
        if key not in self._dependencies:
            turn = self._schedule(change).turn
            self._dependencies[key] = [
                [(other, delay) for other, delay in self._after(operation, change) if turn[other] < turn[number]]
                for number, operation in enumerate(self._program.operations)
            ]
        return self._dependencies[key]

    def _after(self, operation: Operation, change: Change) -> Iterator[tuple[int, float]]:
        operations, hidden = self._program.operations, _is_hidden(operation, change)
        if operation.node_before is not None:
            yield operation.node_before, min(self._delays.queued_ns, NODE_GAP_NS)
        if operation.before_on_engine is not None:
            yield operation.before_on_engine, 0.0
        previous = operation.previous  # of what is hidden and what is not, the last of its own sort on its stream
        while previous is not None and change.hidden and _is_hidden(operations[previous], change) != hidden:
            previous = operations[previous].previous
        if previous is not None:
            yield previous, self._delays.queued_ns
        other = operation.waited_for
        if other is not None and not hidden and not _is_hidden(operations[other], change):
            yield other, operation.delay_ns


def _is_hidden(operation: Operation, change: Change) -> bool:
    return operation.kind in change.hidden or (operation.is_comm and "comm" in change.hidden)


def _joins_graph(call: Call) -> bool:
    in_graph = call.kind in (LAUNCH, SET) or (call.kind == COPY and "Async" in call.name)
    return in_graph and not call.is_set_up


def _integers(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def _reals(values: Iterable[float]) -> npt.NDArray[np.float64]:
    return np.fromiter(values, np.float64)
