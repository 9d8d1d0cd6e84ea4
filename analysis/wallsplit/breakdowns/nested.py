"""The ranges with GPU operations, what these are, and which of the ranges lie inside which: in one sweep if possible.

Push/pop ranges nest, so that a stack per thread tells all of it at once: the compiled core has that sweep. Threads
whose ranges cross, and everything without a compiled core, are projected and nested by searches over whole arrays.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from wallsplit import native
from wallsplit.breakdowns.nesting import nesting
from wallsplit.breakdowns.projection import Calls, Ranges, project
from wallsplit.breakdowns.slices import Ints
from wallsplit.frozen import dataclass
from wallsplit.intervals import outer_first

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Nested:
    """Ranges with GPU operations, one entry each, in no order."""

    rows: Codes
    first: Ints
    """When their operations begin on the GPU, in ns."""
    last: Ints
    operations: Ints
    level: Codes
    """In how many such ranges of its thread a range lies."""
    children: Codes
    """How many such ranges lie directly in it."""

    def of(self, rows: Ints) -> "Nested":
        """Return some of the ranges."""
        return Nested(*(column[rows] for column in vars(self).values()))


def nested(calls: Calls, ranges: Ranges, rank: Codes) -> Nested:
    """Return the ranges that hold calls of their thread; of two equal ranges that with smaller `rank` is outer.

    Which calls a range holds: `projection.project`; which ranges another: `nesting.nesting`.
    """
    order = outer_first(ranges.start, ranges.end, rank)
    in_turn = np.argsort(calls.start, kind="stable")
    threads = 1 + max(int(thread.max(initial=-1)) for thread in (calls.thread, ranges.thread))
    found = native.project(
        ranges.thread, ranges.start, ranges.end, order, [column[in_turn] for column in vars(calls).values()], threads
    )
    del order, in_turn
    if found is None:
        return searched(calls, ranges, rank)
    crossing = found.crossing
    result = Nested(found.rows, found.first, found.last, found.operations, found.level, found.children)
    if not crossing.any():
        return result
    crosses = np.append(crossing, False)  # the last for ranges on no thread
    some = np.flatnonzero(crosses[ranges.thread])
    own = Ranges(ranges.thread[some], ranges.start[some], ranges.end[some])
    mine = crosses[calls.thread]
    apart = searched(Calls(*(column[mine] for column in vars(calls).values())), own, rank[some])
    kept = result.of(np.flatnonzero(~crosses[ranges.thread[result.rows]]))
    both = zip(vars(kept).values(), (some[apart.rows], *list(vars(apart).values())[1:]), strict=True)
    return Nested(*(np.concatenate(pair) for pair in both))


def searched(calls: Calls, ranges: Ranges, rank: Codes) -> Nested:
    """Return what `nested` does, whether ranges cross or not."""
    found = project(calls, ranges)
    rows = found.rows
    level, children = nesting(ranges.thread[rows], ranges.start[rows], ranges.end[rows], rank[rows])
    return Nested(rows, found.first, found.last, found.operations, level, children)
