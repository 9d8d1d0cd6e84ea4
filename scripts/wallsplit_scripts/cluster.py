"""Many traces on many machines: one task per trace for a Dask cluster that exists; only the small results come back.

What is sent, trusted and encrypted is written in docs/dask.md.
"""

import logging
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import wallsplit
from wallsplit.errors import WallsplitError
from wallsplit_scripts.many import guarded
from wallsplit_scripts.messages import say

if TYPE_CHECKING:
    from distributed import Client, Future

    from wallsplit.analysis import Outcome

    Analyze = Callable[[Path], Outcome]

CONNECT_LIMIT_S = 5.0
WORKERS_LIMIT_S = 60.0  # for which a cluster may be without workers before it is given up
LOOK_S = 1.0  # between looks for them
RETRIES = 2  # of a task that fails; how many workers may die over one is the cluster's own setting


def analyze_all(
    traces: Sequence[Path], one: "Analyze", address: str, advance: Callable[[str], None]
) -> "list[Outcome]":
    """Return the outcome of each trace, in their order; the workers of the scheduler at the address call `one`.

    `one` can be imported there; `advance` is called here with the name of each trace whose outcome has come back.

    Raises:
        WallsplitError: Dask is not installed, no scheduler answers, it has no workers for WORKERS_LIMIT_S, or they lack
            this version of wallsplit.
    """
    outcomes: list[Outcome | None] = []
    with _connected(address) as client:
        if not _has_workers(client):
            say(f"{address}: the cluster has no workers yet; waiting for them")
        tasks = [_sent(client, one, trace) for trace in traces]
        for trace, task in zip(traces, tasks, strict=True):
            outcomes.append(_outcome(client, trace, task, address))
            advance(trace.name)
        # A worker that dies takes with it what else it was at: those traces get a second chance, each alone.
        return [
            outcome or _outcome(client, trace, _sent(client, one, trace), address) or _given_up(trace, address)
            for trace, outcome in zip(traces, outcomes, strict=True)
        ]


@contextmanager
def _connected(address: str) -> "Iterator[Client]":
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise WallsplitError(f"--dask needs Dask ({error}); install it with pip install 'wallsplit[dask]'") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # its tracebacks; errors tell it in one line
    try:
        client = Client(address, timeout=CONNECT_LIMIT_S)
    except (OSError, ValueError) as error:
        raise WallsplitError(
            f"{address}: no Dask scheduler answers there ({type(error).__name__}); its log tells its address, "
            "like tcp://host:8786"
        ) from error
    with client:
        yield client


@dataclass(frozen=True)
class _Call:
    """Pickled, a call of `_task`; unpickled, what that call returned.

    Schedulers and workers unpickle what they are sent, and a worker that cannot, for want of wallsplit, ends. Bytes
    pass through all of them, and `pickle.loads` fails as tasks do.
    """

    one: "Analyze"
    trace: Path
    version: str

    def __reduce__(self) -> "tuple[Callable[..., Outcome], tuple[Analyze, Path, str]]":
        return _task, (self.one, self.trace, self.version)


def _task(one: "Analyze", trace: Path, version: str) -> "Outcome":
    """Return what a worker does for one trace."""
    from wallsplit.analysis import Failure

    if wallsplit.__version__ != version:
        raise WallsplitError(f"a worker has wallsplit {wallsplit.__version__}, this machine {version}")
    if not trace.exists():
        return Failure(str(trace), f"{trace}: no such file where the Dask worker runs; it must see the same paths")
    return guarded(one, trace)


def _sent(client: "Client", one: "Analyze", trace: Path) -> "Future":
    call = pickle.dumps(_Call(one, trace.absolute(), wallsplit.__version__))
    return client.submit(pickle.loads, call, retries=RETRIES, pure=False)


def _await(client: "Client", task: "Future", address: str) -> None:
    """Return when the task is done; Dask itself would wait for ever for workers that do not come.

    Raises:
        WallsplitError: there was no worker for WORKERS_LIMIT_S.
    """
    last_seen = time.monotonic()
    while not _done(task):
        if _has_workers(client):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen >= WORKERS_LIMIT_S:
            raise WallsplitError(
                f"{address}: the cluster has had no workers for {WORKERS_LIMIT_S:g} s, and is given up; their logs may "
                f"tell why; start some (dask worker {address}) and try again"
            )


def _done(task: "Future") -> bool:
    """Return whether the task is done, failed or cancelled, as soon as it is or after a moment."""
    from concurrent.futures import CancelledError

    from distributed import wait

    with suppress(TimeoutError, CancelledError):
        wait([task], timeout=LOOK_S)
    return bool(task.done())


def _has_workers(client: "Client") -> bool:
    """Return whether the scheduler knows of workers; one that does not answer has none for us."""
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=CONNECT_LIMIT_S))
    except OSError:  # that it takes too long is one, too
        return False


def _outcome(client: "Client", trace: Path, task: "Future", address: str) -> "Outcome | None":
    """Return the task's outcome, as if analysed here under the path that the user gave; None if its workers died."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    from wallsplit.analysis import Failure

    _await(client, task, address)
    try:
        outcome = _checked(task.result())
    except KilledWorker:
        return None
    except CancelledError as error:
        raise WallsplitError(f"{address}: the Dask scheduler is gone; its log may tell why") from error
    except (ImportError, AttributeError, TypeError, WallsplitError) as error:
        raise WallsplitError(
            f"{address}: its workers cannot analyse ({error}); install wallsplit {wallsplit.__version__} there"
        ) from error
    if isinstance(outcome, Failure):
        return Failure(str(trace), outcome.message.replace(str(trace.absolute()), str(trace)))
    return replace(outcome, path=str(trace))


def _checked(outcome: object) -> "Outcome":
    """Return what a worker sent, if it is what this version would have made.

    Raises:
        WallsplitError: it is no outcome, or a table has not the columns of its schema.
    """
    from wallsplit import schema
    from wallsplit.analysis import Analysis, Failure
    from wallsplit.breakdowns import BREAKDOWNS

    if isinstance(outcome, Failure):
        return Failure(str(outcome.path), str(outcome.message))
    if not isinstance(outcome, Analysis):
        raise WallsplitError(f"what one sent is no analysis but {type(outcome).__name__}")
    if set(outcome.tables) != {breakdown.name for breakdown in BREAKDOWNS}:
        raise WallsplitError("an analysis that one sent has other tables")
    schema.conform(outcome.gpus, schema.GPU_USE, "gpus")
    schema.conform(outcome.processes, schema.PROCESSES, "processes")
    for breakdown in BREAKDOWNS:
        frame = outcome.tables[breakdown.name]
        if frame is not None:
            schema.conform(frame, breakdown.schema, breakdown.name)
    return outcome


def _given_up(trace: Path, address: str) -> "Outcome":
    from wallsplit.analysis import Failure

    return Failure(
        str(trace),
        f"{trace}: the process that analysed it died, again and again, and Dask gave up; out of memory? "
        f"the logs of the workers of {address} may tell",
    )
