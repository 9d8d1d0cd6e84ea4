"""The GPU operations on either side of an idle gap, and the call behind the one that ends it."""

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times
from wallsplit.ledger.rows import Rows
from wallsplit.model import Names
from wallsplit.schema import MEMORY_OPERATIONS

TID_BITS = 0xFFFFFF
COPIES = (
    *("0", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"),
    *("UnifiedHtoD", "UnifiedDtoH", "UnifiedDtoD"),
)
"""Short names of the copies of schema.MEMORY_OPERATIONS, in its order."""


@dataclass(frozen=True)
class Call:
    """An API call; times in ns."""

    name: str
    tid: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Neighbours:
    """What lies on either side of a gap; None = nothing."""

    previous: str | None = None
    """The operation that ended last before the gap."""
    next: str | None = None
    """The operation that ends the gap."""
    next_call: Call | None = None
    """The call that enqueued it; of several the one that returned last."""


def neighbours(rows: Rows | None, names: Names, gaps: Intervals) -> tuple[Neighbours, ...]:
    """Return the neighbours of each of a few gaps."""
    if rows is None or rows.operations.is_empty():
        return (Neighbours(),) * len(gaps.starts)
    before, after = _before(rows.operations, gaps.starts), _after(rows.operations, gaps.ends)
    numbers = [rows.operations["number"][row] for row in after if row is not None]
    calls = rows.calls[np.flatnonzero(np.isin(rows.calls["number"].to_numpy(), numbers))]
    in_turn = calls.sort("end", descending=True, maintain_order=True)
    return tuple(
        Neighbours(
            None if left is None else _name(left, rows, names),
            None if right is None else _name(right, rows, names),
            None if right is None else _call(in_turn, rows.operations["number"][right], names),
        )
        for left, right in zip(before, after, strict=True)
    )


def _before(operations: pl.DataFrame, instants: Times) -> list[int | None]:
    """Return the row of the operation that ends last before or at each instant, at which none runs.

    Of several it is that which starts last.
    """
    starts, ends = (operations[edge].to_numpy() for edge in ("start", "end"))
    latest = np.maximum.accumulate(ends)
    rows: list[int | None] = []
    for stop in np.searchsorted(starts, instants, "right").tolist():
        first = int(np.searchsorted(latest, latest[stop - 1])) if stop else 0
        last = np.flatnonzero(ends[first:stop] == latest[stop - 1])  # nothing that began before runs on
        rows.append(first + int(last[-1]) if stop else None)
    return rows


def _after(operations: pl.DataFrame, instants: Times) -> list[int | None]:
    """Return the row of the operation that starts at each instant; of several the first to end, then by call."""
    starts, ends, numbers = (operations[column].to_numpy() for column in ("start", "end", "number"))
    rows = []
    for first, stop in zip(
        *(np.searchsorted(starts, instants, side).tolist() for side in ("left", "right")), strict=True
    ):
        at_once = list(zip(ends[first:stop].tolist(), numbers[first:stop].tolist(), strict=True))
        rows.append(first + at_once.index(min(at_once)) if at_once else None)
    return rows


def _name(operation: int, rows: Rows, names: Names) -> str:
    kind, row = (rows.operations[column][operation] for column in ("kind", "row"))
    if kind == 0:
        return names[rows.kernels["short_name"][row]]
    if kind == 1:
        return f"[graph {rows.replays['graph'][row]}]"
    if kind == 2:
        return f"[memcpy {COPIES[MEMORY_OPERATIONS.index(rows.memory_ops['operation'][row])]}]"
    return "[memset]"


def _call(in_turn: pl.DataFrame, number: int, names: Names) -> Call | None:
    """Return the first of the calls, those first that returned last, with a correlation number."""
    enqueuing = np.flatnonzero(in_turn["number"].to_numpy() == number)
    if not len(enqueuing):
        return None
    name, thread, start, end = (in_turn[column][int(enqueuing[0])] for column in ("name", "thread", "start", "end"))
    return Call(names[name], thread & TID_BITS, start, end)
