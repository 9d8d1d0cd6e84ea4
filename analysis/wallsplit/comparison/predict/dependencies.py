"""What the calls and operations of a recorded program waited for, fitted in place."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from wallsplit.comparison.predict.program import COPY, LAUNCH, SET, WAIT, Call, Operation, Program
from wallsplit.frozen import dataclass

NEAR_NS = 20_000
"""An operation that begins so soon after the end of another stream's may have waited for it."""
UNEXPLAINED_NS = 2_000
"""A shorter delay needs no explanation."""
TAIL_NS = 50_000
"""A call that returns so soon after an operation's end may have waited for it."""
AHEAD_NS = 50_000
"""The device's clock may run so far ahead of the host's: a wait "returns before" what it waited for."""
LONG_NS = 100_000
"""A call that lasts longer waited for something, or did much."""
PENDING = 500
"""Fewer launches in flight than these never fill a queue."""
NODE_GAP_NS = 1_500
_TRIES = 8
_NODES_BACK = 32
_BLOCKING = (
    *("cudaFree", "cuMemFree", "cudaMalloc", "cudaHostAlloc", "cudaFreeHost", "cudaHostUnregister"),
    *("cuMemHostUnregister", "cuMemFreeHost", "cuModuleUnload"),
)
"""Calls that may wait for the device, by how their names begin."""
_WHOLE_DEVICE = ("cudaDeviceSynchronize", "cuCtxSynchronize", "cudaThreadSynchronize")
_STREAM = ("cudaStreamSynchronize", "cuStreamSynchronize")


@dataclass(frozen=True)
class Delays:
    """What the recording says about delays, in ns: medians."""

    launch_ns: float
    """From a copying call's start to its operation's, where the stream was idle."""
    after_launch_ns: float
    """From a launch call's end to its operation's start, where the stream was idle; may be negative."""
    queued_ns: float
    """From one operation's end to the start of the next that was waiting for it."""
    queue: int | None
    """How many launches may be pending on a stream; None where no launch waited for room."""
    tails_ns: dict[str, float]
    """From the end of what a waiting call waited for to its return, by name."""
    usual_ns: dict[str, float]
    """What calls take that wait for nothing, by name."""


def fit(program: Program) -> Delays:
    """Set what each call and operation waited for, and return the delays."""
    calls, operations = program.calls, program.operations
    _orders(calls, operations)
    launch, after, queued = _medians(calls, operations)
    delays = Delays(launch, after, queued, None, {}, {})
    _inferred(calls, operations, delays)
    for operation in operations:
        operation.residual_ns = operation.start - ready_ns(operation, calls, operations, delays)
    queue = _queue(calls, operations)
    _waits(calls, operations, program.awaited)
    _queued(calls, operations, queue)
    usual = _by_name((call.name, call.ns) for call in calls if not blocked(call, operations))
    tails = _by_name((call.name, call.tail_ns) for call in calls if call.waited)
    for call in calls:
        typical = usual.get(call.name, 3_000.0)
        if call.waited:
            call.own_ns = min(max(0, call.ns - max(0, call.tail_ns)), typical)
        else:
            call.own_ns = min(call.ns, typical) if blocked(call, operations) else call.ns
    return Delays(launch, after, queued, queue, tails, usual)


def blocked(call: Call, operations: Sequence[Operation]) -> bool:
    """Return whether a call waited, for operations or for room in the launch queue."""
    behind = call.queued_behind
    return call.waited or (behind is not None and operations[behind].start > call.start)


def ready_ns(operation: Operation, calls: Sequence[Call], operations: Sequence[Operation], delays: Delays) -> float:
    """Return when a recorded operation could have begun, by all that is known of what it waited for."""
    times: list[float] = []
    if operation.call is not None:
        call = calls[operation.call]
        if operation.node_before is not None:
            times += [call.start, operations[operation.node_before].end + min(delays.queued_ns, NODE_GAP_NS)]
        elif call.kind == LAUNCH:
            times.append(call.end + delays.after_launch_ns)
        else:
            times.append(call.start + delays.launch_ns)
    if operation.previous is not None:
        times.append(operations[operation.previous].end + delays.queued_ns)
    if operation.before_on_engine is not None:
        times.append(operations[operation.before_on_engine].end)
    if operation.waited_for is not None:
        times.append(operations[operation.waited_for].end + operation.delay_ns)
    return max(times, default=operation.start)


def _orders(calls: Sequence[Call], operations: Sequence[Operation]) -> None:
    """Set what comes before each operation on its stream, on its copy engine and in its graph."""
    last: dict[object, int] = {}
    for i, operation in enumerate(operations):
        before = last.get(operation.stream)
        operation.previous = before
        operation.place = 0 if before is None else operations[before].place + 1
        last[operation.stream] = i
        if operation.engine is not None:
            busy = last.get(operation.engine)
            other_stream = busy is not None and operations[busy].stream != operation.stream
            operation.before_on_engine = busy if other_stream else None
            last[operation.engine] = i
    for call in calls:
        for place, i in enumerate(call.operations):
            nodes = call.operations[max(0, place - _NODES_BACK) : place]
            done = [j for j in nodes if operations[j].end <= operations[i].start]
            operations[i].node_before = max(done, key=lambda j: operations[j].end, default=None)


def _medians(calls: Sequence[Call], operations: Sequence[Operation]) -> tuple[float, float, float]:
    launch: list[int] = []
    after: list[int] = []
    queued: list[int] = []
    for i, operation in enumerate(operations):
        if operation.call is None:
            continue
        call = calls[operation.call]
        free = None if operation.previous is None else operations[operation.previous].end
        if call.operations[0] == i and (free is None or free <= call.start):
            (after if call.kind == LAUNCH else launch).append(
                operation.start - (call.end if call.kind == LAUNCH else call.start)
            )
        if free is not None and call.end < free <= operation.start:
            queued.append(operation.start - free)
    return _median(launch, 5_000), _median(after, 0), _median(queued, 1_000)


def _median(values: Sequence[int], otherwise: float) -> float:
    return float(median(values)) if values else otherwise


def _inferred(calls: Sequence[Call], operations: Sequence[Operation], delays: Delays) -> None:
    """Set which operation of another stream one waited for, where nothing else explains when it began."""
    order = sorted(range(len(operations)), key=lambda i: operations[i].end)
    ends = [operations[i].end for i in order]
    for operation in operations:
        ready = ready_ns(operation, calls, operations, delays)
        if operation.start - ready <= UNEXPLAINED_NS:
            continue
        latest = bisect_right(ends, operation.start) - 1
        for k in range(latest, max(-1, latest - _TRIES), -1):
            other = operations[order[k]]
            if ends[k] <= max(ready, operation.start - NEAR_NS):
                break
            if other.stream != operation.stream and other.start < operation.start:
                operation.waited_for, operation.delay_ns = order[k], operation.start - other.end
                break


def _queue(calls: Sequence[Call], operations: Sequence[Operation]) -> int | None:
    """Return how many launches may be pending: as many as were when launches that took long returned."""
    starts = defaultdict(list)
    for operation in operations:
        starts[operation.stream].append(operation.start)
    pending = []
    for call in calls:
        if call.kind == LAUNCH and call.operations and call.ns > LONG_NS:
            first = operations[call.operations[0]]
            pending.append(first.place - bisect_right(starts[first.stream], call.end))
    full = [count for count in pending if count > PENDING]
    return int(median(full)) if len(full) >= 3 else None


def _queued(calls: Sequence[Call], operations: Sequence[Operation], queue: int | None) -> None:
    """Set which operation must have begun before each launch found room in a queue of that length."""
    if queue is None:
        return
    on_stream = defaultdict(list)
    for i, operation in enumerate(operations):
        on_stream[operation.stream].append(i)
    for call in calls:
        if call.operations:
            first = operations[call.operations[0]]
            if first.place > queue:
                call.queued_behind = on_stream[first.stream][first.place - queue]


def _waits(calls: Sequence[Call], operations: Sequence[Operation], streams: Mapping[int, int]) -> None:
    """Set what waiting calls wait for: what is recorded, else what their names say, else what ended just before."""
    order = sorted(range(len(operations)), key=lambda i: operations[i].end)
    ends = [operations[i].end for i in order]
    issued = sorted((calls[o.call].start, i) for i, o in enumerate(operations) if o.call is not None)
    last: dict[tuple[int, int | None], int] = {}
    done = 0
    for number, call in enumerate(calls):
        while done < len(issued) and issued[done][0] <= call.start:
            i = issued[done][1]
            last[operations[i].stream] = max(i, last.get(operations[i].stream, -1))
            done += 1
        stream = streams.get(number)
        if call.name.startswith(_WHOLE_DEVICE):
            targets = list(last.values())
        elif call.name.startswith(_STREAM) and stream is not None:
            targets = [i for (_, own), i in last.items() if own == stream]
        else:
            targets = _ended_inside(number, call, operations, order, ends)
        if targets:
            end = max(operations[i].end for i in targets)
            call.waits_for = tuple(targets)
            call.waited = call.start < end <= call.end + AHEAD_NS
            call.tail_ns = call.end - end if call.waited else 0


def _ended_inside(
    number: int, call: Call, operations: Sequence[Operation], order: Sequence[int], ends: Sequence[int]
) -> list[int]:
    """Return the operation that ended last inside a call that may block, if the call returned soon after."""
    latest = bisect_right(ends, call.end) - 1
    if latest < 0 or ends[latest] <= call.start:
        return []
    own = operations[order[latest]].call == number
    may_block = call.kind == WAIT or call.name.startswith(_BLOCKING) or (own and call.kind in (COPY, SET))
    return [order[latest]] if may_block and call.end - ends[latest] <= TAIL_NS * (4 if own else 1) else []


def _by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, float]:
    grouped = defaultdict(list)
    for name, ns in pairs:
        grouped[name].append(ns)
    return {name: float(median(values)) for name, values in grouped.items()}
