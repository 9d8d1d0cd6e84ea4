"""What a trace's processes would take if one thing were different, or why that cannot be told."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from wallsplit.comparison.predict.changes import QUESTIONS, Question, without
from wallsplit.comparison.predict.dependencies import LONG_NS, Delays, blocked, fit
from wallsplit.comparison.predict.program import Program, program
from wallsplit.comparison.predict.replay import Replays
from wallsplit.errors import ComparisonError
from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.booking import COMPLETE
from wallsplit.model import Model

ERROR_LIMIT = 0.05
UNEXPLAINED_LIMIT = 0.02
NO_KERNEL = "no kernel ran, only copies and sets; wallsplit analyze says which launches failed or are missing"
"""A refusal beside which no figure of the replay means anything."""
_UNUSUAL = 10
"""A call that lasts so many times what is usual for its name waited, if the GPU worked meanwhile."""


@dataclass(frozen=True)
class Answer:
    """What one process would take, in ns per unit of work; the truth lies between, if the model holds."""

    question: Question
    low_ns: float
    high_ns: float


@dataclass(frozen=True)
class Prediction:
    """One process."""

    pid: int
    gpus: tuple[int, ...]
    calls: int
    operations: int
    wall_ns: int
    """From its first call or operation to its last."""
    replay_error_ratio: float
    """(unchanged replay - wall) ÷ wall. Small is needed, and proves little."""
    unexplained_ratio: float
    """Share of wall in long calls over a working GPU that nothing explains."""
    launch_coverage: float | None
    """The smallest of its ledgers', like the next."""
    api_coverage: float | None
    queue: int | None
    """Launches that may be pending, where some waited for room."""
    refusals: tuple[str, ...]
    """Why nothing is predicted; empty where something is."""
    answers: tuple[Answer, ...]


def predictions(
    model: Model,
    activities: Sequence[Activity],
    questions: Sequence[Question] = QUESTIONS,
    patterns: Sequence[str] = (),
    advance: Callable[[str], None] = lambda _pid: None,
) -> tuple[Prediction, ...]:
    """Return the predictions of each process with calls and GPU work, by process.

    Between the replay with median delays and that in which each operation keeps its own lies every figure. `patterns`:
    of the names of NVTX ranges without which the process is also replayed.

    Raises:
        ComparisonError: no process has a range that matches one of the patterns.
    """
    result = []
    missing = dict.fromkeys(patterns)
    for pid, own in groupby(activities, key=lambda activity: activity.pid):
        mine = tuple(own)
        process = program(model, mine)
        if process is not None:
            advance(f"process {pid}")
            more = {pattern: without(model, process, pattern) for pattern in patterns}
            left_out = {pattern: question for pattern, question in more.items() if question is not None}
            missing = {pattern: None for pattern in missing if pattern not in left_out}
            result.append(_prediction(process, mine, fit(process), (*questions, *left_out.values())))
    for pattern in missing:
        raise ComparisonError(f"without:{pattern}: no thread that makes CUDA calls has an NVTX range of that name")
    return tuple(result)


def _prediction(
    process: Program, activities: Sequence[Activity], delays: Delays, questions: Sequence[Question]
) -> Prediction:
    replays = Replays(process, delays)
    medians, exact = (replays.ns(residuals=residuals) for residuals in (False, True))
    error, unexplained = medians / process.wall_ns - 1, unexplained_ns(process, delays) / process.wall_ns
    launches, calls = (_lowest(getattr(a, name) for a in activities) for name in ("launch_coverage", "api_coverage"))
    kinds = {operation.kind for operation in process.operations}
    kinds |= {"comm"} if any(operation.is_comm for operation in process.operations) else set()
    no_kernel = () if {"kernel", "graph"} & kinds else (NO_KERNEL,)
    refusals = (*no_kernel, *_refusals(error, unexplained, launches, calls))
    return Prediction(
        pid=process.pid,
        gpus=tuple(sorted({activity.gpu for activity in activities if activity.gpu is not None})),
        calls=len(process.calls),
        operations=len(process.operations),
        wall_ns=process.wall_ns,
        replay_error_ratio=error,
        unexplained_ratio=unexplained,
        launch_coverage=launches,
        api_coverage=calls,
        queue=delays.queue,
        refusals=refusals,
        answers=tuple(
            _answer(process, replays, question, medians, exact)
            for question in (() if refusals else questions)
            if question.change.hidden <= kinds
        ),
    )


def _answer(process: Program, replays: Replays, question: Question, medians: float, exact: float) -> Answer:
    """Return both replays' change applied to the recorded wall; of more samples, per as many as were recorded."""
    ratios = [
        replays.ns(question.change, residuals=residuals) / unchanged
        for residuals, unchanged in ((False, medians), (True, exact))
    ]
    if question.samples > 1:
        ratios = [ratio / question.samples for ratio in (1.0, *ratios)]
    return Answer(question, min(ratios) * process.wall_ns, max(ratios) * process.wall_ns)


def _refusals(error: float, unexplained: float, launches: float | None, calls: float | None) -> Iterator[str]:
    if abs(error) > ERROR_LIMIT:
        missed = percent(abs(error))
        yield f"the unchanged replay misses the recorded time by {missed}; {percent(ERROR_LIMIT, 0)} will do"
    if unexplained > UNEXPLAINED_LIMIT:
        yield (
            f"{percent(unexplained)} of the time are long calls over a working GPU that nothing recorded explains; "
            f"{percent(UNEXPLAINED_LIMIT, 0)} will do"
        )
    if launches is not None and launches < COMPLETE:
        yield f"of the launches, {percent(launches)} have GPU rows; {percent(COMPLETE, 0)} are needed"
    if calls is not None and calls < COMPLETE:
        yield f"of the GPU work, {percent(calls)} has an API call; {percent(COMPLETE, 0)} are needed"


def unexplained_ns(process: Program, delays: Delays) -> int:
    """Return the ns in long calls, with the GPU working, that no wait explains; set-up and first launches left out."""
    busy = process.busy()
    until = np.concatenate([[0], np.cumsum(busy.ends - busy.starts)]).tolist()
    starts, ends = busy.starts.tolist(), busy.ends.tolist()

    def worked(time: int) -> int:
        k = bisect_right(starts, time)
        return 0 if k == 0 else int(until[k - 1] + min(time, ends[k - 1]) - starts[k - 1])

    return sum(
        worked(call.end) - worked(call.start)
        for call in process.calls
        if not call.is_set_up and not blocked(call, process.operations) and call.name in delays.usual_ns
        if call.ns > LONG_NS and call.ns > _UNUSUAL * delays.usual_ns[call.name]
    )


def percent(ratio: float, decimals: int = 1) -> str:
    """Return a ratio in per cent."""
    return f"{100 * ratio:.{decimals}f} %"


def _lowest(shares: Iterable[float | None]) -> float | None:
    return min((share for share in shares if share is not None), default=None)
