"""The GPU operations on either side of an idle gap, and the call behind the one that ends it."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from wallsplit.ledger.rows import Rows
from wallsplit.model import Names

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


def neighbours(rows: Rows, names: Names, start: int, end: int) -> Neighbours:
    """Return the neighbours of the gap `[start, end)`."""
    operations = rows.operations
    starts, ends = operations["start"].to_numpy(), operations["end"].to_numpy()
    begun = ends[: np.searchsorted(starts, start, "right")]
    over = np.where(begun <= start, begun, np.iinfo(np.int64).min)
    before = len(over) - 1 - int(over[::-1].argmax()) if (begun <= start).any() else None  # of equal ends the last
    first, stop = np.searchsorted(starts, [end, end + 1])
    after = operations[int(first) : int(stop)].sort("end", "number", maintain_order=True)
    return Neighbours(
        None if before is None else _name(operations[before], rows, names),
        None if after.is_empty() else _name(after[:1], rows, names),
        None if after.is_empty() else _call(after["number"][0], rows, names),
    )


def _name(operation: pl.DataFrame, rows: Rows, names: Names) -> str:
    kind, row = operation["kind"][0], operation["row"][0]
    if kind == 0:
        return names[rows.kernels["short_name"][row]]
    if kind == 1:
        return f"[graph {rows.replays['graph'][row]}]"
    if kind == 2:
        return f"[memcpy {COPIES[rows.memory_ops['operation'].to_physical()[row]]}]"
    return "[memset]"


def _call(number: int, rows: Rows, names: Names) -> Call | None:
    calls = rows.calls.filter(pl.col("number") == number)
    if calls.is_empty():
        return None
    call = calls.row(int(str(calls["end"].arg_max())), named=True)
    return Call(names[call["name"]], call["thread"] & TID_BITS, call["start"], call["end"])
