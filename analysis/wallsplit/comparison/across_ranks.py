"""Several ranks of one run, a trace each: which one the others wait for, and how evenly they compute."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.comparison.collectives import OVERLAP, Clocks, Matched, RankTrace, clocks, matched, set_by
from wallsplit.errors import ComparisonError
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times, clip, intersect, merge, total_ns
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.why.spread import Spread, spread


@dataclass(frozen=True, eq=False)
class Rank:
    """One rank, from its first matched collective's start to its last one's end. Times in ns."""

    label: str
    ledger: Ledger
    compute_ns: int
    """A compute kernel or a graph runs."""
    comm_ns: int
    """A communication kernel runs."""
    comm_exposed_ns: int
    """The same with nothing computed meanwhile: what communication costs this rank, waiting for others included."""
    wait_ns: int | None
    """Its kernels ran while some other rank had not joined: work for nobody. None: the clocks cannot be set."""
    came_last: int | None
    """Collectives that it joined last."""
    holds_up_ns: int | None
    """By how much it came after the last but one where it came last: what it alone is to blame for."""


@dataclass(frozen=True)
class CollectiveSkew:
    """The collectives of one name: from the first rank's start to the last one's."""

    name: str
    count: int
    skew: Spread
    wait_ns: int
    """Of all ranks together."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of one run."""

    ranks: tuple[Rank, ...]
    clocks: Clocks
    matched: int
    """Collectives that all ranks ran and that overlap."""
    not_overlapping: int
    skew: Spread | None
    by_name: tuple[CollectiveSkew, ...]
    slowest: str | None
    """The rank that holds the others up most; None where no clock tells."""
    imbalance_ratio: float | None
    """Compute time of the rank that computes most ÷ the mean - 1."""
    reason: str | None
    """Why nothing is told about who waits for whom."""


def compare_ranks(traces: Sequence[RankTrace]) -> Ranks:
    """Return what the ranks' traces tell together.

    Raises:
        ComparisonError: there are fewer than two ranks.
    """
    if len(traces) < 2:
        raise ComparisonError(f"{len(traces)} rank with a GPU: it takes two to compare; give the trace of every rank")
    collectives = matched(traces)
    setting = clocks(traces, collectives)
    reason = collectives.reason
    starts = ends = np.empty((len(traces), 0), np.int64)
    if setting.how == "collectives":
        starts, ends = set_by(setting, collectives.starts), set_by(setting, collectives.ends)
    is_shared = starts.max(axis=0) < ends.min(axis=0)
    if len(collectives) and is_shared.mean() < OVERLAP:
        overlap = f"of {len(collectives):,} collectives only {int(is_shared.sum()):,} overlap on all ranks"
        reason = f"the clocks cannot be set: {overlap}"
        is_shared[:] = False
    starts = starts[:, is_shared]
    waits, last, margin = _arrivals(starts)
    is_known = bool(is_shared.any())
    ranks = tuple(
        _rank(trace, _span(trace, collectives, row), _told(is_known, waits, last, margin, row))
        for row, trace in enumerate(traces)
    )
    held_up = [rank.holds_up_ns or 0 for rank in ranks]
    computed = [rank.compute_ns for rank in ranks]
    return Ranks(
        ranks=ranks,
        clocks=setting,
        matched=int(is_shared.sum()),
        not_overlapping=int((~is_shared).sum()),
        skew=spread(np.asarray(np.ptp(starts, axis=0))) if is_known else None,
        by_name=_by_name(collectives, is_shared, starts, waits) if is_known else (),
        slowest=ranks[int(np.argmax(held_up))].label if max(held_up) > 0 else None,
        imbalance_ratio=max(computed) * len(computed) / sum(computed) - 1 if sum(computed) else None,
        reason=reason,
    )


def _arrivals(starts: Times) -> tuple[Times, Times, Times]:
    """Return what each rank waits at each collective, which rank came last, and by how much after the last but one."""
    ordered = np.sort(starts, axis=0)
    return ordered[-1:] - starts, np.argmax(starts, axis=0), ordered[-1] - ordered[-2]


def _told(is_known: bool, waits: Times, last: Times, margin: Times, row: int) -> tuple[int, int, int] | None:
    if not is_known:
        return None
    came_last = (last == row) & (margin > 0)
    return int(waits[row].sum()), int(came_last.sum()), int(margin[came_last].sum())


def _span(trace: RankTrace, collectives: Matched, row: int) -> Window:
    """Return from when to when a rank is looked at: its matched collectives; without any, its whole window."""
    if not len(collectives):
        return trace.window
    return Window("collectives", int(collectives.starts[row].min()), int(collectives.ends[row].max()))


def _rank(trace: RankTrace, span: Window, waited: tuple[int, int, int] | None) -> Rank:
    (ledger,) = book(trace.activity, (span,))
    layers = trace.activity.layers
    assert layers is not None
    computing, communicating = (
        clip(merge([layers[name] for name in names]), span.start_ns, span.end_ns)
        for names in (("gpu.kernel", "gpu.graph"), ("gpu.comm",))
    )
    comm_ns = total_ns(communicating)
    wait_ns, came_last, holds_up_ns = waited or (None, None, None)
    return Rank(
        label=trace.label,
        ledger=ledger,
        compute_ns=total_ns(computing),
        comm_ns=comm_ns,
        comm_exposed_ns=comm_ns - total_ns(intersect(communicating, computing)),
        wait_ns=wait_ns,
        came_last=came_last,
        holds_up_ns=holds_up_ns,
    )


def _by_name(
    collectives: Matched, kept: npt.NDArray[np.bool_], starts: Times, waits: Times
) -> tuple[CollectiveSkew, ...]:
    names = np.array(collectives.names)[kept]
    result = []
    for name in sorted(set(names.tolist())):
        mine = names == name
        skew = spread(np.asarray(np.ptp(starts[:, mine], axis=0)))
        assert skew is not None
        result.append(CollectiveSkew(name, skew.count, skew, int(waits[:, mine].sum())))
    return tuple(sorted(result, key=lambda skew: (-skew.wait_ns, skew.name)))
