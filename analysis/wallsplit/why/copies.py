"""Which copies hold up the host: of pageable memory, blocking, or tiny and waited for?"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.rows import Rows
from wallsplit.schema import COPIES, MEMORY_OPERATIONS

KINDS = (
    *("0", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"),
    *("UnifiedHtoD", "UnifiedDtoH", "UnifiedDtoD"),
)
"""Short names of the kinds of copies, in the order of `schema.MEMORY_OPERATIONS`; "0" where it is not known."""
DEVICE_TO_HOST = MEMORY_OPERATIONS.index("[CUDA memcpy Device-to-Host]")
SMALL_BYTES = 1_024
"""Reads of at most this are results the host looks at, such as a loss by `.item()`."""


@dataclass(frozen=True)
class Copies:
    """The copies of one kind, from or to one kind of host memory."""

    operation: str
    memory: str | None
    """pageable: the source or the destination is; other; None where not recorded."""
    count: int
    bytes: int
    blocking_count: int
    """Those whose call ends no earlier than the copy."""
    call_ns: int
    gpu_ns: int


@dataclass(frozen=True)
class SmallReads:
    """Copies of at most SMALL_BYTES to the host that block, or whose thread waits next."""

    count: int
    host_ns: int
    """In the calls that copy, and in the waits after those that do not block."""
    idle_after_ns: int
    """In the idle gaps that begin where such a copy ends: only that is lost."""


def copies(called: pl.DataFrame) -> tuple[Copies, ...]:
    """Return copies, given as `with_calls` returns them, by kind and host memory."""
    by = called.group_by("operation", "is_pageable").agg(
        pl.len().alias("count"),
        pl.col("bytes").sum(),
        pl.col("is_blocking").sum(),
        (pl.col("call_end") - pl.col("call_start")).sum(),
        (pl.col("end") - pl.col("start")).sum().alias("gpu_ns"),
    )
    memory = {True: "pageable", False: "other", None: None}
    found = [
        Copies(KINDS[MEMORY_OPERATIONS.index(operation)], memory[is_pageable], *figures)
        for operation, is_pageable, *figures in by.iter_rows()
    ]
    return tuple(sorted(found, key=lambda x: str((x.operation, x.memory))))


def small_reads(called: pl.DataFrame, calls: pl.DataFrame, busy: Intervals, is_wait: pl.Expr) -> SmallReads:
    """Return the small reads among copies, given as `with_calls` returns them for the process's `calls`.

    `busy`: when the device works; `is_wait`: of API calls.
    """
    is_small = (pl.col("operation") == MEMORY_OPERATIONS[DEVICE_TO_HOST]) & (
        pl.col("bytes").fill_null(0) <= SMALL_BYTES
    )
    reads = called.filter(is_small & pl.col("call").is_not_null())
    blocking = reads.filter("is_blocking").with_columns(host_ns=pl.col("call_end") - pl.col("call_start"))
    others = reads.filter(~pl.col("is_blocking"))
    next_wait = _lengths_of_next_wait(calls, others["call"].to_numpy(), is_wait)
    waiting = others.with_columns(host_ns=pl.col("call_end") - pl.col("call_start") + next_wait).drop_nulls("host_ns")
    found = pl.concat([blocking, waiting])
    return SmallReads(found.height, int(found["host_ns"].sum()), _idle_from(busy, found["end"].to_numpy()))


def with_calls(rows: Rows, window: Window) -> pl.DataFrame:
    """Return the copies that begin in the window, with `call` (row of the calls), `call_start`, `call_end`.

    Of several calls with a copy's number it is the one that ends last, then the first in file order. All three are null
    where there is none. `is_blocking`: the call ends no earlier than the copy.
    """
    begins = (pl.col("start") >= window.start_ns) & (pl.col("start") < window.end_ns)
    mine = rows.memory_ops.filter((pl.col("operation") != MEMORY_OPERATIONS[-1]) & begins)
    calls = rows.calls.select("number", call_start="start", call_end="end").with_row_index("call")
    of_copies = calls.filter(pl.col("number").is_in(mine["number"].unique().implode()))
    last = of_copies.sort("call_end", "call", descending=[True, False]).unique("number", keep="first")
    joined = mine.join(last, on="number", how="left", maintain_order="left")
    return joined.with_columns(is_blocking=(pl.col("call_end") >= pl.col("end")).fill_null(value=False))


def _lengths_of_next_wait(calls: pl.DataFrame, rows: npt.NDArray[np.integer], is_wait: pl.Expr) -> pl.Series:
    """Return the length in ns of the call that each of the calls' thread makes next, null where that is no wait."""
    if not len(rows):
        return pl.Series([], dtype=pl.Int64)
    threads = calls[rows]["thread"].unique()
    in_turn = (
        calls.lazy()
        .with_row_index("call")
        .filter(pl.col("is_driving") & pl.col("thread").is_in(threads.implode()))
        .sort("thread", "start", "end", maintain_order=True)
        .select("call", length=pl.when(is_wait).then(pl.col("end") - pl.col("start")).shift(-1).over("thread"))
        .collect()
    )
    length = np.full(calls.height, -1)
    length[in_turn["call"].to_numpy()] = in_turn["length"].fill_null(-1).to_numpy()
    after = pl.Series(length[rows])
    return after.set(after < 0, None)


def _idle_from(busy: Intervals, times: Times) -> int:
    """Return the ns of the idle gaps that begin at the times, each time counted; none begins after the last work."""
    before = np.searchsorted(busy.starts, times, side="right") - 1
    ends_there = (before >= 0) & (before < len(busy.starts) - 1)
    before, times = before[ends_there], times[ends_there]
    quiet = busy.ends[before] == times
    return int((busy.starts[before[quiet] + 1] - times[quiet]).sum())


def table(found: Iterable[tuple[int, int | None, Iterable[Copies]]]) -> pl.DataFrame:
    """Return `schema.COPIES`: a row per (process, device), kind of copy and kind of host memory."""
    rows = [{"pid": pid, "device": device, **vars(x)} for pid, device, kinds in found for x in kinds]
    return pl.DataFrame(rows, schema=COPIES)
