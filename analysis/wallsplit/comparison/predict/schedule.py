"""In which order a replay simulates what: the same whatever is changed, but for whether calls wait."""

from collections.abc import Iterable, Sequence

from wallsplit.comparison.predict.program import Operation, Program
from wallsplit.frozen import dataclass


@dataclass(frozen=True, eq=False)
class Schedule:
    """Whose turn comes when."""

    placed: Sequence[Sequence[int]]
    """The operations that each call's start lets begin, in turn; a last entry for those that no call needed."""
    turn: Sequence[int]
    """The place of each operation among all of them: what comes later is not known when its turn comes."""


@dataclass(frozen=True, eq=False)
class Starts:
    """What each call's start is reckoned from."""

    after_all: Sequence[bool]
    """From the last end of all calls before: none was running."""
    after: Sequence[int]
    """Else from the end of this call, the last of its thread; -1: from none."""
    beside: Sequence[int]
    """Else from the start of this call, when no other was running."""
    since_ns: Sequence[int]
    """The recorded time of what the start is reckoned from."""


def schedule(program: Program, *, waits: bool) -> Schedule:
    """Return the order for calls that wait, or for such as do not.

    A call's own operations come with it; so do those it has to wait for. Before an operation come those that it waits
    for itself, if their calls have begun.
    """
    operations = program.operations
    before = [_before(operation) for operation in operations]
    turn = [-1] * len(operations)
    count = 0

    def place(wanted: Iterable[int], begun: int) -> list[int]:
        nonlocal count
        placed = []
        for number in wanted:
            stack = [number]
            while stack:
                if turn[stack[-1]] >= 0:
                    stack.pop()
                    continue
                missing = [i for i in before[stack[-1]] if turn[i] < 0 and (operations[i].call or 0) < begun]
                if missing:
                    stack += missing
                    continue
                turn[stack[-1]] = count
                count += 1
                placed.append(stack.pop())
        return placed

    every = []
    for number, call in enumerate(program.calls):
        behind = () if call.queued_behind is None else (call.queued_behind,)
        every.append(place((*call.operations, *behind, *(call.waits_for if waits else ())), number + 1))
    every.append(place(range(len(operations)), len(program.calls) + 1))
    return Schedule(every, turn)


def _before(operation: Operation) -> list[int]:
    others = (operation.previous, operation.before_on_engine, operation.node_before, operation.waited_for)
    return [other for other in others if other is not None]


def starts(program: Program) -> Starts:
    """Return what the start of each call is reckoned from; that of the first one from the program's."""
    calls = program.calls
    last_of: dict[int, int] = {}
    last_end, alone = -(2**63), 0
    after_all, after, beside, since = [], [], [], []
    for number, call in enumerate(calls):
        same = last_of.get(call.thread, -1)
        is_alone = number > 0 and call.start >= last_end
        alone = number if is_alone else alone
        follows = not is_alone and same >= 0 and calls[same].end >= calls[alone].start
        after_all.append(is_alone)
        after.append(same if follows else -1)
        beside.append(alone)
        if number == 0:
            since.append(program.start_ns)
        else:
            since.append(last_end if is_alone else calls[same].end if follows else calls[alone].start)
        last_of[call.thread] = number
        last_end = max(last_end, call.end)
    return Starts(after_all, after, beside, since)
