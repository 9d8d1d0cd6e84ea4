"""What does communication cost, and who waits for whom?"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.statistics import overlapping
from wallsplit.frozen import dataclass
from wallsplit.intervals import clip, total_ns
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import mask, where
from wallsplit.model import Names
from wallsplit.schema import COMM, RANK_SKEW
from wallsplit.why.spread import Spread, spread


@dataclass(frozen=True)
class Comm:
    """The communication kernels of a ledger; union = hidden + exposed."""

    union_ns: int
    hidden_ns: int
    """A compute kernel, or a graph, runs on the device meanwhile."""
    exposed_ns: int
    count: int
    by_name: dict[str, int]
    """Kernels by their short name."""


@dataclass(frozen=True)
class RankSkew:
    """How much later than the first rank each starts the same collective. None = there is nothing to compare."""

    matched: int
    not_overlapping: int | None = None
    """Left out: they are not one collective, or the window cuts the ranks differently."""
    start_skew: Spread | None = None
    """From the first rank's start to the last one's."""
    wait_ns: dict[str, int] | None = None
    """By "pid/device": how long its kernels ran before the last rank joined: work for nobody."""
    reason: str | None = None


def comm(activity: Activity, window: Window, names: Names) -> Comm | None:
    """Return the communication of a ledger in the window; None where there is none.

    Times are cut at the window's ends; the kernels counted are those that overlap it.
    """
    if activity.rows is None or activity.layers is None:
        return None
    kernels = activity.rows.kernels.filter("is_comm").select("start", "end", "short_name")
    if kernels.is_empty():
        return None
    communicating = clip(activity.layers["gpu.comm"], window.start_ns, window.end_ns)
    if not len(communicating.starts):
        return None
    kernels = overlapping(kernels, window)
    alone = where(activity.timeline, mask("gpu.comm"), never=mask("gpu.kernel", "gpu.graph"))
    union, exposed = total_ns(communicating), total_ns(clip(alone, window.start_ns, window.end_ns))
    counts = kernels.with_columns(names.text(kernels["short_name"]))["short_name"].value_counts()
    by_name = dict(sorted(counts.iter_rows()))
    return Comm(union, union - exposed, exposed, kernels.height, by_name)


def rank_skew(everything: Sequence[Activity], window: Window) -> RankSkew | None:
    """Return the skew between the ranks of a trace in the window; None with fewer than two that communicate.

    Their kernels are matched by order, where all run equally many of each name.
    """
    ranks = [(a, _collectives(a, window)) for a in everything]
    ranks = [(a, kernels) for a, kernels in ranks if kernels.height]
    if len(ranks) < 2:
        return None
    counts = [sorted(kernels["short_name"].value_counts().iter_rows()) for _, kernels in ranks]
    if any(count != counts[0] for count in counts):
        return RankSkew(matched=0, reason="the ranks do not run the same collectives in this window")
    starts = np.stack([kernels["start"].to_numpy() for _, kernels in ranks])
    ends = np.stack([kernels["end"].to_numpy() for _, kernels in ranks])
    overlap = starts.max(axis=0) < ends.min(axis=0)
    starts = starts[:, overlap]
    last = starts.max(axis=0, initial=np.iinfo(np.int64).min)
    waits = (last - starts).sum(axis=1)
    labels = [f"{a.pid}/{a.device}" for a, _ in ranks]
    return RankSkew(
        matched=int(overlap.sum()),
        not_overlapping=int((~overlap).sum()),
        start_skew=spread(_span(starts)),
        wait_ns=dict(sorted(zip(labels, map(int, waits), strict=True))) if overlap.any() else {},
    )


def _collectives(activity: Activity, window: Window) -> pl.DataFrame:
    if activity.rows is None:
        return pl.DataFrame()
    kernels = activity.rows.kernels.filter("is_comm").select("start", "end", "short_name")
    return overlapping(kernels, window).sort("start", "end", maintain_order=True)


def _span(starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.asarray(np.ptp(starts, axis=0))


def table(found: Iterable[tuple[int, int | None, Comm | None]]) -> pl.DataFrame:
    """Return `schema.COMM`: a row per (process, device) that communicates."""
    columns = ("union_ns", "hidden_ns", "exposed_ns", "count")
    rows = [
        {"pid": pid, "device": device, **{name: getattr(x, name) for name in columns}} for pid, device, x in found if x
    ]
    return pl.DataFrame(rows, schema=COMM)


def rank_skew_table(skew: RankSkew | None) -> pl.DataFrame:
    """Return `schema.RANK_SKEW`: a row per rank, none where the ranks cannot be compared."""
    if skew is None or skew.start_skew is None:
        return pl.DataFrame(schema=RANK_SKEW)
    spread_columns = {f"start_skew_{name}": value for name, value in vars(skew.start_skew).items()}
    same = {"matched": skew.matched, "not_overlapping": skew.not_overlapping, **spread_columns}
    rows = []
    for rank, wait_ns in (skew.wait_ns or {}).items():
        pid, _, device = rank.partition("/")
        rows.append({"pid": int(pid), "device": int(device), **same, "wait_ns": wait_ns})
    return pl.DataFrame(rows, schema=RANK_SKEW)
