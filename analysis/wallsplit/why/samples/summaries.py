"""The samples of a scope, summed up by class."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.why.samples.classes import CODES, NAMES, UNNAMED
from wallsplit.why.samples.sampling import CALLERS, NOT_CHAINED, Sampling
from wallsplit.why.samples.shares import Tally, tally, wilson
from wallsplit.why.samples.values import ArithmeticShare, ClassShare, Summary

Rows = npt.NDArray[np.intp]
"""Positions of samples, ascending, and so in the order of time."""

ENOUGH = 100
"""Samples of a scope from which on shares are said: half of a 95 % interval is then at most 9.6 points."""
ENOUGH_OF_A_PHASE = 30
_DIGITS = 6
_ARITHMETIC = CODES["arithmetic"]


def summary(sampling: Sampling, rows: Rows, enough: int = ENOUGH) -> Summary:
    """Return the summary of some samples of a trace."""
    code, weight = sampling.code[rows], sampling.weighing.ns[rows]
    found = tally(code, weight, len(NAMES))
    shares: list[ClassShare] = []
    if found.total:
        shares = [
            _class_share(sampling, rows[code == each], found, each) for each in np.flatnonzero(found.count).tolist()
        ]
    return Summary(
        sample_count=len(rows),
        effective_count=round(found.effective, 1),
        enough=len(rows) >= enough,
        cpu_ns=_cpu_ns(sampling, found.total),
        classes=tuple(sorted(shares, key=lambda share: (-share.share, share.sample_class))),
        absent_below=round(wilson(0, found.effective)[1], _DIGITS) if found.effective else None,
        arithmetic=_arithmetic(found) if found.total else None,
    )


def _class_share(sampling: Sampling, rows: Rows, found: Tally, code: int) -> ClassShare:
    low, high = found.interval(code)
    effect = found.design_effect(code)
    caller = sampling.caller[rows]
    return ClassShare(
        sample_class=NAMES[code],
        count=len(rows),
        share=round(found.share(code), _DIGITS),
        low=round(low, _DIGITS),
        high=round(high, _DIGITS),
        cpu_ns=_cpu_ns(sampling, float(found.weight[code])),
        design_effect=None if effect is None else round(effect, 3),
        groups=counts(sampling.group[rows], sampling.groups),
        callers=counts(caller[caller != NOT_CHAINED], CALLERS),
    )


def _arithmetic(found: Tally) -> ArithmeticShare:
    maybe = (_ARITHMETIC, *UNNAMED)
    return ArithmeticShare(
        at_least=round(found.interval(_ARITHMETIC)[0], _DIGITS),
        named=round(found.share(_ARITHMETIC), _DIGITS),
        with_unnamed=round(found.share(*maybe), _DIGITS),
        at_most=round(found.interval(*maybe)[1], _DIGITS),
    )


def _cpu_ns(sampling: Sampling, weight: float) -> int | None:
    return round(weight) if sampling.weighing.source else None


def counts(codes: npt.NDArray[np.integer], names: Sequence[str]) -> dict[str, int]:
    """Return how often each name occurs, the most frequent first."""
    often = np.bincount(codes.astype(np.int64))
    present = sorted(np.flatnonzero(often).tolist(), key=lambda code: (-int(often[code]), names[code]))
    return {names[code]: int(often[code]) for code in present}
