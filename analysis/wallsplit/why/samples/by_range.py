"""The main thread's host instants and samples by its innermost range."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.intervals import Intervals, intersect, ns_before, total_ns, union
from wallsplit.ledger.timeline import summed
from wallsplit.model import Model
from wallsplit.why.samples.innermost import innermost
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.scopes import Scopes, own_ranges
from wallsplit.why.samples.summaries import ENOUGH_OF_A_PHASE, summary
from wallsplit.why.samples.values import Phase

MOST = 50
"""Ranges told of, those with most host time."""


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
    text_order = np.argsort(np.argsort(np.array(names, dtype=object), kind="stable"), kind="stable")
    stretches = innermost(ranges["start"].to_numpy(), ranges["end"].to_numpy(), text_order[label])
    of_stretch = label[stretches.row]
    host_ns = summed(
        of_stretch, ns_before(scopes.host, stretches.ends) - ns_before(scopes.host, stretches.starts), len(names)
    )
    rows = scopes.in_window[scopes.in_host]
    at = stretches.at(sampling.start[rows])
    of_sample = np.where(at >= 0, of_stretch[at], -1) if len(of_stretch) else at
    is_main = scopes.is_main[scopes.in_host]
    found = []
    instances = np.bincount(of_stretch, minlength=len(names))
    present = np.flatnonzero(instances).tolist()
    for code in sorted(present, key=lambda code: (-int(host_ns[code]), names[code]))[:MOST]:
        mine = of_sample == code
        stretch = of_stretch == code
        when = union(stretches.starts[stretch], stretches.ends[stretch])
        found.append(
            Phase(
                range=names[code],
                host_ns=int(host_ns[code]),
                instances=int(instances[code]),
                main=summary(sampling, rows[mine & is_main], ENOUGH_OF_A_PHASE),
                others_count=int((mine & ~is_main).sum()),
                on_cpu_ns=_on_cpu_ns(sampling, scopes, when),
            )
        )
    return tuple(found)


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
