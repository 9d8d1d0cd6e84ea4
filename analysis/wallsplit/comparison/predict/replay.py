"""The replay: a program simulated in the order it was recorded in, with one thing changed."""

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from wallsplit.comparison.predict.dependencies import NODE_GAP_NS, Delays
from wallsplit.comparison.predict.program import COPY, LAUNCH, SET, Call, Operation, Program
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


def replay(program: Program, delays: Delays, change: Change = UNCHANGED, *, residuals: bool = False) -> float:
    """Return the ns from the first start to the last end.

    `residuals`: each operation keeps what is unexplained of its own delay; else delays are medians.
    """
    run = _Run(program, delays, change, residuals)
    for number in range(len(program.calls)):
        run.call(number)
    for number in range(len(program.operations)):
        run.place(number)
    return max(*run.call_end, *(end for end in run.end if end is not None)) - run.origin


class _Run:
    """One replay: what has been simulated so far."""

    def __init__(self, program: Program, delays: Delays, change: Change, residuals: bool) -> None:
        self.calls, self.operations = program.calls, program.operations
        self.delays, self.change, self.residuals = delays, change, residuals
        self.origin = program.start_ns
        self.call_start: list[float] = []
        self.call_end: list[float] = []
        self.begin: list[float | None] = [None] * len(self.operations)
        self.end: list[float | None] = [None] * len(self.operations)
        self._anchor = 0
        """The call before which no other was running."""
        self._recorded_end = -(2**63)
        self._simulated_end = float(self.origin)
        self._latest: dict[int, int] = {}
        self._shift = 0.0
        bounds = np.array([call.start for call in self.calls] + [call.end for call in self.calls], np.int64)
        self._left_out: dict[int, int] = dict(
            zip(bounds.tolist(), elapsed(change.without, bounds).tolist(), strict=True)
        )
        """ns of `without` before each call's start and end."""

    def call(self, number: int) -> None:
        """Simulate one call, and what it begins and waits for."""
        call = self.calls[number]
        start = self._start(number, call)
        self.call_start.append(start)
        self._shift = start - call.start
        end = start + self._own(call)
        self.call_end.append(end)
        for operation in call.operations:
            self.place(operation)
        if call.queued_behind is not None:
            end = max(end, self._placed(call.queued_behind, self.begin))
        if call.waits_for and self.change.waits:
            done = max(self._placed(i, self.end) for i in call.waits_for)
            end = max(end, done + self._tail(call))
        self.call_end[number] = end
        self._latest[call.thread] = number
        self._recorded_end = max(self._recorded_end, call.end)
        self._simulated_end = max(self._simulated_end, end)

    def _start(self, number: int, call: Call) -> float:
        """Return when a call starts: its gap after the last ended where none ran, else in step with those that ran."""
        host, same = self.change.host, self._latest.get(call.thread)
        if number == 0:
            return self.origin + (call.start - self.origin) * host
        if call.start >= self._recorded_end:
            self._anchor = number
            return self._simulated_end + self._gap(call, self._recorded_end) * host
        if same is not None and self.calls[same].end >= self.calls[self._anchor].start:
            return self.call_end[same] + max(0, call.start - self.calls[same].end) * host
        return self.call_start[self._anchor] + (call.start - self.calls[self._anchor].start) * host

    def _gap(self, call: Call, since: int) -> float:
        """Return what is left of the gap from `since`, when a call ended, to this call."""
        recorded = call.start - since - (self._left_out[call.start] - self._left_out[since])
        within_train = recorded <= _TRAIN_NS and call.kind in (LAUNCH, SET, COPY)
        return min(recorded, _GRAPH_GAP_NS) if self.change.as_graphs and within_train else recorded

    def _own(self, call: Call) -> float:
        joins_graph = call.kind in (LAUNCH, SET) or (call.kind == COPY and "Async" in call.name)
        if self.change.as_graphs and joins_graph and not call.is_set_up:
            return min(_GRAPH_CALL_NS, call.own_ns)
        return call.own_ns * self.change.host

    def _tail(self, call: Call) -> float:
        if not call.waited:
            return 0.0
        return call.tail_ns if self.residuals else self.delays.tails_ns[call.name]

    def _placed(self, number: int, times: Sequence[float | None]) -> float:
        self.place(number)
        time = times[number]
        assert time is not None
        return time

    def place(self, number: int) -> None:
        """Simulate one operation, those first that it waits for and whose calls were simulated."""
        stack = [number]
        while stack:
            if self.begin[stack[-1]] is not None:
                stack.pop()
                continue
            operation = self.operations[stack[-1]]
            missing = [i for i in self._before(operation) if self.begin[i] is None and self._is_issued(i)]
            if missing:
                stack += missing
                continue
            begin = self._ready(operation) + (operation.residual_ns if self.residuals else 0.0)
            self.begin[stack[-1]] = begin
            self.end[stack[-1]] = begin + self._lasts(operation)
            stack.pop()

    def _is_issued(self, number: int) -> bool:
        call = self.operations[number].call
        return call is None or call < len(self.call_start)

    def _before(self, operation: Operation) -> list[int]:
        others = (operation.previous, operation.before_on_engine, operation.node_before, operation.waited_for)
        return [other for other in others if other is not None]

    def _lasts(self, operation: Operation) -> float:
        kernels = self.change.kernels if operation.kind in ("kernel", "graph") else 1.0
        return operation.ns * self.change.gpu * kernels

    def _is_hidden(self, operation: Operation) -> bool:
        return operation.kind in self.change.hidden or (operation.is_comm and "comm" in self.change.hidden)

    def _ready(self, operation: Operation) -> float:
        """Return when an operation can begin."""
        hidden, delays = self._is_hidden(operation), self.delays
        times = [self._issued(operation)]
        if operation.node_before is not None and (done := self.end[operation.node_before]) is not None:
            times.append(done + min(delays.queued_ns, NODE_GAP_NS))
        if operation.before_on_engine is not None and (done := self.end[operation.before_on_engine]) is not None:
            times.append(done)
        before = self._previous(operation, hidden=hidden)
        if before is not None and (done := self.end[before]) is not None:
            times.append(done + delays.queued_ns)
        other = operation.waited_for
        if other is not None and not hidden and not self._is_hidden(self.operations[other]):
            done = self.end[other]
            times += [] if done is None else [done + operation.delay_ns]
        return max(times)

    def _previous(self, operation: Operation, *, hidden: bool) -> int | None:
        """Return the operation before it on its stream: of what is hidden and what is not, the last of its own sort."""
        before = operation.previous
        if not self.change.hidden:
            return before
        while before is not None and self._is_hidden(self.operations[before]) != hidden:
            before = self.operations[before].previous
        return before

    def _issued(self, operation: Operation) -> float:
        """Return when the operation has been handed to the device."""
        if operation.call is None:
            return operation.start + self._shift
        call, start = self.calls[operation.call], self.call_start[operation.call]
        if operation.node_before is not None:
            return start
        if call.kind == LAUNCH:
            return start + self._own(call) + self.delays.after_launch_ns
        return start + self.delays.launch_ns
