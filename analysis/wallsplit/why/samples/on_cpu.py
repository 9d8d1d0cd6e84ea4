"""When each thread was on a CPU, from the scheduler's events."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, union


@dataclass(frozen=True)
class OnCpu:
    """What the scheduler said of one thread."""

    intervals: Intervals
    first_ns: int  # before the thread's first event nothing is known
    event_count: int


def on_cpu(switches: pl.DataFrame, capture_end_ns: int) -> Mapping[int, OnCpu]:
    """Return, by thread, when it was on a CPU: from each switch in to its next switch out.

    `switches` is schema.THREAD_SWITCHES. At equal times a switch out counts first; of several switches in a row the
    first one opens, or closes, an interval; one left open ends with the capture.
    """
    if switches.is_empty():
        return {}
    rows = switches.sort("thread", "start", "is_in", maintain_order=True)
    thread, start = rows["thread"].to_numpy(), rows["start"].to_numpy()
    is_in = rows["is_in"].to_numpy()
    new = np.flatnonzero(np.append(True, thread[1:] != thread[:-1]))
    was_in = np.append(False, is_in[:-1])
    was_in[new] = False
    result = {}
    for first, end in zip(new.tolist(), np.append(new[1:], len(thread)).tolist(), strict=True):
        inside = is_in[first:end]
        begins = start[first:end][inside & ~was_in[first:end]]
        ends = start[first:end][~inside & was_in[first:end]]
        if len(ends) < len(begins):
            ends = np.append(ends, capture_end_ns)
        result[int(thread[first])] = OnCpu(union(begins, ends), int(start[first]), end - first)
    return result
