"""The same collectives in the traces of several ranks, and the clocks of these traces set by them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.spread import median

Times = npt.NDArray[np.int64]
How = Literal["collectives", "utc", "none"]

TOGETHER = r"(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all"
"""Collectives that no rank leaves before the last one has joined, so that they end together."""
ENOUGH_FOR_DRIFT = 16
"""Matched collectives from which on clocks may be seen to run at different speeds."""
OVERLAP = 0.5
"""Of the matched collectives, the part that has to overlap once the clocks are set."""


@dataclass(frozen=True, eq=False)
class RankTrace:
    """What one rank recorded: its activity without the rows, and its communication kernels."""

    label: str
    activity: Activity
    window: Window
    start_utc_ns: int | None
    """UTC at 0 of the trace's clock."""
    collectives: pl.DataFrame
    """start, end, name; by start."""


@dataclass(frozen=True, eq=False)
class Matched:
    """Collectives that all ranks ran, each rank's on its own clock: arrays of (ranks, collectives)."""

    names: tuple[str, ...]
    starts: Times
    ends: Times
    reason: str | None = None
    """Why there are none."""

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Clocks:
    """How the ranks' clocks were set by the first rank's; all in ns."""

    how: How
    offsets_ns: tuple[int, ...] | None
    """To add to each rank's times at `middles_ns`."""
    middles_ns: tuple[int, ...] | None
    """The middle of the collectives on each rank's own clock."""
    drifts: tuple[float, ...] | None
    """How much faster the first rank's clock runs than each rank's: 1e-6 is a microsecond a second."""
    spread_ns: int | None
    """Median distance of a collective's ends on two ranks, once the clocks are set: what skews are certain to."""
    corrected_ns: int | None
    """By how much at most the collectives corrected what UTC said; None where one of both is missing."""
    told: str
    """The same in words."""


def rank_traces(model: Model, activities: Sequence[Activity], window: Window, label: str) -> tuple[RankTrace, ...]:
    """Return the ranks in a trace: each process on a device that communicates; where none does, each with a device."""
    with_device = [x for x in activities if x.device is not None and x.rows is not None]
    found = [(x, _collectives(model, x)) for x in with_device]
    ranks = [(x, kernels) for x, kernels in found if kernels.height] or found
    return tuple(
        RankTrace(
            label if len(ranks) == 1 else f"{label}, process {x.pid}, GPU {x.gpu}",
            replace(x, rows=None),
            window,
            model.capture.start_utc_ns,
            kernels,
        )
        for x, kernels in ranks
    )


def _collectives(model: Model, activity: Activity) -> pl.DataFrame:
    assert activity.rows is not None
    rows = activity.rows.kernels.filter("is_comm").select("start", "end", "short_name")
    named = rows.select("start", "end", model.names.text(rows["short_name"]).alias("name"))
    return named.sort("start", "end", maintain_order=True)


def matched(ranks: Sequence[RankTrace]) -> Matched:
    """Return the collectives that all ranks ran, the n-th of a name on one being the n-th on every other.

    Where the numbers differ, a capture began later or ended earlier; then UTC tells which is the n-th.
    """
    counts = [dict(rank.collectives["name"].value_counts().iter_rows()) for rank in ranks]
    nothing = np.empty((len(ranks), 0), np.int64)
    if not any(counts):
        return Matched((), nothing, nothing, "no rank ran a communication kernel")
    common = sorted(set.intersection(*map(set, counts)))
    if not common:
        return Matched((), nothing, nothing, "no communication kernel is common to all ranks")
    is_equal = all(count == counts[0] for count in counts)
    has_utc = all(rank.start_utc_ns is not None for rank in ranks)
    if not is_equal and not has_utc:
        reason = "the ranks ran different numbers of collectives"
        return Matched((), nothing, nothing, reason)
    parts = [_of_name(ranks, name, by_utc=not is_equal) for name in common]
    names = [name for name, (starts, _) in zip(common, parts, strict=True) for _ in range(starts.shape[1])]
    starts, ends = (np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))
    order = np.argsort(starts[0], kind="stable")
    nowhere = None if len(order) else "no collective lies in all traces"
    return Matched(tuple(names[i] for i in order), starts[:, order], ends[:, order], nowhere)


def _of_name(ranks: Sequence[RankTrace], name: str, *, by_utc: bool) -> tuple[Times, Times]:
    frames = [rank.collectives.filter(pl.col("name") == name) for rank in ranks]
    starts, ends = ([frame[column].to_numpy() for frame in frames] for column in ("start", "end"))
    first = [0] * len(ranks)  # place of each rank's first collective among the first rank's
    if by_utc:
        utc = [times + (rank.start_utc_ns or 0) for times, rank in zip(ends, ranks, strict=True)]
        first = [_nearest(utc[0], other) for other in utc]
    begin, end = max(first), min(place + len(times) for place, times in zip(first, starts, strict=True))
    kept = [slice(begin - place, max(begin, end) - place) for place in first]
    return _cut(starts, kept), _cut(ends, kept)


def _cut(rows: Sequence[Times], kept: Sequence[slice]) -> Times:
    return np.stack([times[part] for times, part in zip(rows, kept, strict=True)])


def _nearest(reference: Times, other: Times) -> int:
    """Return the place in `reference` that `other[0]` falls to where both agree best."""
    guess = int(np.searchsorted(reference, other[0]))
    places = range(max(guess - 2, 1 - len(other)), min(guess + 2, len(reference) - 1) + 1)
    return min(places, key=lambda place: (abs(_distance(reference, other, place)), abs(place - guess)), default=guess)


def _distance(reference: Times, other: Times, place: int) -> float:
    ours = reference[max(place, 0) : place + len(other)]
    theirs = other[max(-place, 0) :][: len(ours)]
    return median(theirs - ours[: len(theirs)]) or 0.0


def clocks(ranks: Sequence[RankTrace], collectives: Matched) -> Clocks:
    """Return how to set the ranks' clocks by the first one's: by the ends of collectives, else by UTC, if at all."""
    began = [rank.start_utc_ns for rank in ranks]
    utc = None if None in began else tuple((start or 0) - (began[0] or 0) for start in began)
    if not len(collectives):
        if utc is None:
            return Clocks(
                "none",
                None,
                None,
                None,
                None,
                None,
                f"the clocks cannot be set: {collectives.reason}, and UTC is missing",
            )
        sentence = (
            f"the clocks are set by UTC alone ({collectives.reason}): between machines it may be off by milliseconds"
        )
        return Clocks("utc", utc, (0,) * len(ranks), (0.0,) * len(ranks), None, None, sentence)
    is_together = pl.Series(collectives.names).str.contains(TOGETHER).to_numpy()
    chosen = is_together if is_together.any() else np.ones(len(collectives), np.bool_)
    ends = collectives.ends[:, chosen]
    lines = [_line(ends[0] - own, own) for own in ends]
    offsets = tuple(round(offset) for offset, _ in lines)
    drifts = tuple(drift for _, drift in lines)
    middles = tuple(round(median(own) or 0.0) for own in ends)
    set_ends = set_by(Clocks("collectives", offsets, middles, drifts, None, None, ""), ends)
    apart = np.abs(set_ends - set_ends[0])[1:]
    spread_ns = round(median(apart.ravel()) or 0.0)
    corrected = None if utc is None else max(abs(offset - other) for offset, other in zip(offsets, utc, strict=True))
    sentence = (
        f"the clocks are set by the ends of {int(chosen.sum()):,} collectives, which then lie {spread_ns:,} ns apart"
    )
    return Clocks("collectives", offsets, middles, drifts, spread_ns, corrected, sentence)


def set_by(clocks: Clocks, times: Times) -> Times:
    """Return times of each rank, in rows, on the first rank's clock, which must be known."""
    lines = zip(times, clocks.offsets_ns or (), clocks.middles_ns or (), clocks.drifts or (), strict=True)
    rows = [own + offset + np.rint(drift * (own - middle)).astype(np.int64) for own, offset, middle, drift in lines]
    return np.stack(rows)


def _line(differences: Times, times: Times) -> tuple[float, float]:
    """Return (middle, slope) of differences over time, told from medians of halves: a few stragglers move neither."""
    middle = median(differences) or 0.0
    half = len(times) // 2
    if len(times) < ENOUGH_FOR_DRIFT:
        return middle, 0.0
    early, late = (slice(None, half), slice(-half, None))
    span = (median(times[late]) or 0.0) - (median(times[early]) or 0.0)
    rise = (median(differences[late]) or 0.0) - (median(differences[early]) or 0.0)
    return middle, rise / span if span > 0 else 0.0
