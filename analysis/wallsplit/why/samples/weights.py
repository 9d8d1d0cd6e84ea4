"""What a sample stands for: the period of a clock, or the CPU time its thread had since the sample before.

A hardware counter takes a sample every so many events, so its samples are dense where the code makes many of them;
counting them would show events, not time.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times, elapsed, holding
from wallsplit.model.samples import SamplingSettings
from wallsplit.why.samples.on_cpu import OnCpu

CLOCK = "software"
INFERRED_CLOCK = "software (inferred)"
FEWEST_GAPS = 20
"""Gaps between samples that a median is taken of, at least."""
EVEN = 0.02
"""A clock ticks evenly and a counter does not: half of the gaps lie this close to their median, relatively."""


@dataclass(frozen=True)
class Weights:
    """The weight of each sample, and how it came about. None = not known."""

    ns: npt.NDArray[np.float64]  # 1 each, which is no time, where `source` is None
    source: str | None
    period_ns: int | None
    period_source: str | None
    trigger: str | None

    @property
    def is_clock(self) -> bool:
        """Whether each sample stands for a period of its thread's CPU time."""
        return self.source == "period"


def weights(thread: Times, start: Times, running: Mapping[int, OnCpu], settings: SamplingSettings) -> Weights:
    """Return the weights of samples taken on `thread` at `start`, which ascends."""
    gaps = np.concatenate([np.empty(0, np.int64), *_gaps(thread, start, running)])
    median = int(np.median(gaps)) if len(gaps) >= FEWEST_GAPS else None
    trigger = settings.trigger
    if trigger is None and median and np.mean(np.abs(gaps / median - 1) <= EVEN) >= 0.5:
        trigger = INFERRED_CLOCK
    period, period_source = median, None
    if trigger == CLOCK and settings.period:
        period, period_source = settings.period, "capture option"
    elif median:
        where = "median gap of samples"
        period_source = f"{where} on threads that stayed on a CPU" if running else where
    if trigger in (CLOCK, INFERRED_CLOCK) and period:
        ns, source = np.full(len(start), float(period)), "period"
    elif running:
        ns, source = (
            _cpu_time_since(thread, start, running, median or 0),
            "cpu time since the previous sample of the thread",
        )
    elif period:
        ns, source = np.full(len(start), float(period)), "median gap (equal weights)"
    else:
        return Weights(np.ones(len(start)), None, None, None, trigger)
    return Weights(ns, source, period or None, period_source, trigger)


def _gaps(thread: Times, start: Times, running: Mapping[int, OnCpu]) -> Iterator[Times]:
    """Yield the times between neighbouring samples of a thread, where it is known: while it never left the CPU."""
    for number, rows in _by_thread(thread):
        gaps = np.diff(start[rows])
        if number in running:
            stay = holding(running[number].intervals, start[rows])
            gaps = gaps[(stay[1:] == stay[:-1]) & (stay[1:] >= 0)]
        yield gaps


def _cpu_time_since(thread: Times, start: Times, running: Mapping[int, OnCpu], first: int) -> npt.NDArray[np.float64]:
    """Return the CPU time since the thread's sample before; `first`, at most, for its first; `first` if unknown."""
    result = np.full(len(start), float(first))
    for number, rows in _by_thread(thread):
        if number in running:
            had = elapsed(running[number].intervals, start[rows])
            result[rows] = np.diff(had, prepend=max(0, int(had[0]) - first))
    return result


def _by_thread(thread: Times) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Yield each thread and the rows it has, in order."""
    order = np.argsort(thread, kind="stable")
    bounds = np.flatnonzero(np.diff(thread[order])) + 1
    for rows in np.split(order, bounds):
        if len(rows):
            yield int(thread[rows[0]]), rows
