"""The main thread's host instants and samples by its innermost range: the open one that began last."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, elapsed, holding, intersect, total_ns, union
from wallsplit.ledger.labels import NONE, paint
from wallsplit.ledger.timeline import summed
from wallsplit.model import Model
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.scopes import Scopes, own_ranges
from wallsplit.why.samples.summaries import ENOUGH_OF_A_PHASE, summary
from wallsplit.why.samples.values import Phase

MOST = 50
"""Ranges told of, those with most host time."""


@dataclass(frozen=True)
class _Stretches:
    """Stretches of time in which one range is the innermost, and the label it goes by."""

    when: Intervals  # ascending; neighbours may touch
    label: npt.NDArray[np.int64]
    cuts: npt.NDArray[np.int64]  # labels cut in two by a range without length, once for each cut


def phases(
    sampling: Sampling, model: Model, scopes: Scopes, phase_of: Callable[[str], str | None] | None = None
) -> tuple[Phase, ...]:
    """Return the ranges of the main thread, those with most host time first.

    With `phase_of`, ranges whose name has a phase go by that.
    """
    ranges = own_ranges(model, frozenset({scopes.main} if scopes.main is not None else ()))
    if ranges.is_empty():
        return ()
    label, names = _labels(ranges["range"], model, phase_of)
    stretches = _innermost(ranges["start"].to_numpy(), ranges["end"].to_numpy(), label)
    return tuple(_phases(sampling, scopes, stretches, names))


def _innermost(starts: Times, ends: Times, label: npt.NDArray[np.int64]) -> _Stretches:
    """Return the stretches; of ranges that begin at once the shorter is the inner one, then the later by name."""
    order = np.lexsort((label, -ends, starts))
    painted = paint(starts[order], ends[order], order.astype(np.int32))
    shown = np.flatnonzero(painted.codes != NONE)  # never the last: it is NONE
    when = Intervals(painted.times[shown], painted.times[np.minimum(shown + 1, len(painted.times) - 1)])
    label_of = label[painted.codes[shown]]
    at_once = np.unique(starts[starts == ends])
    inside = holding(when, at_once)
    cut = inside[(inside >= 0) & (when.starts[inside] < at_once)] if len(when.starts) else inside[:0]
    return _Stretches(when, label_of, label_of[cut])


def _phases(sampling: Sampling, scopes: Scopes, stretches: _Stretches, names: list[str]) -> Iterator[Phase]:
    when, label = stretches.when, stretches.label
    host_ns = summed(label, elapsed(scopes.host, when.ends) - elapsed(scopes.host, when.starts), len(names))
    instances = np.bincount(np.concatenate([label, stretches.cuts]), minlength=len(names))
    rows = scopes.in_window[scopes.in_host]
    at = holding(when, sampling.start[rows])
    of_sample = np.where(at >= 0, label[at], NONE) if len(label) else at
    is_main = scopes.is_main[scopes.in_host]
    present = np.flatnonzero(instances).tolist()
    for code in sorted(present, key=lambda code: (-int(host_ns[code]), names[code]))[:MOST]:
        mine, stretch = of_sample == code, label == code
        yield Phase(
            range=names[code],
            host_ns=int(host_ns[code]),
            instances=int(instances[code]),
            main=summary(sampling, rows[mine & is_main], ENOUGH_OF_A_PHASE),
            others_count=int((mine & ~is_main).sum()),
            on_cpu_ns=_on_cpu_ns(sampling, scopes, union(when.starts[stretch], when.ends[stretch])),
        )


def _labels(
    ranges: pl.Series, model: Model, phase_of: Callable[[str], str | None] | None
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the position of each range's label among the labels, and these."""
    rows, inverse = np.unique(ranges.to_numpy(), return_inverse=True)
    texts = model.names.text(pl.Series(rows)).to_list()
    shown = [(phase_of and phase_of(text)) or text for text in texts]
    names = sorted(set(shown))
    position = {name: i for i, name in enumerate(names)}
    return np.array([position[name] for name in shown], np.int64)[inverse], names


def _on_cpu_ns(sampling: Sampling, scopes: Scopes, when: Intervals) -> int | None:
    if scopes.main is None or scopes.main not in sampling.running:
        return None
    return total_ns(intersect(intersect(when, scopes.host), sampling.running[scopes.main].intervals))
