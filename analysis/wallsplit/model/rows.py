"""Which raw rows can be used, and how nsys packs process and thread into its global ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import polars as pl

from wallsplit.trace import Trace
from wallsplit.trace.kinds import Kinds

LATEST_NS = 2**62
"""A time beyond this on either side is not a time (docs/ledger.md, Window). Differences of two such fit 64 bits, except
that of the two bounds themselves: the lower one is left out."""
LONGEST_NS = 2**55
"""No call and no kernel lasts longer, and no row of a recording lies further from the middle one: 417 days."""
MOST_BYTES = 2**50
"""More than any memory has, and sums of thousands of it fit 64 bits."""

PID_BITS = 0xFFFFFF << 24
INT32_MAX = 2**31 - 1

TIMES = pl.col("start"), pl.col("end")


@dataclass
class RawRows:
    """Reads event tables and keeps count of the rows that cannot be used."""

    trace: Trace
    earliest: int = -LATEST_NS
    """Excluded."""
    latest: int = LATEST_NS
    unusable: dict[str, int] = field(default_factory=dict)
    impossible_sizes: int = 0
    """Rows of which the bytes are none: they count as not measured."""
    _spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """First start and last end of the usable rows, by table."""

    def read(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return the usable rows of an event table: `start`, `end` and `columns`."""
        return self.usable(table, self.trace.read(table, ["start", "end", *columns]))

    def read_kinds(self, table: str, columns: Sequence[str], keys: Sequence[str], *, expanded: bool = False) -> Kinds:
        """Return the usable rows of an event table: `start`, `end` and `columns`; `keys` once per kind of row.

        `expanded`: as `Trace.kinds` has it.
        """
        return self.usable_kinds(table, self.trace.kinds(table, ["start", "end", *columns], keys, expanded=expanded))

    def read_instants(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return the usable rows of a table of instants: `start`, an equal `end`, and `columns`."""
        rows = self.trace.read(table, ["start", *columns])
        return self.usable(table, rows.with_columns(end="start"))

    def usable(self, table: str, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with an end that is not before their start, and possible times; the others are counted."""
        is_usable = self._is_usable(table, rows)
        return rows if is_usable.all() else rows.filter(is_usable)

    def usable_kinds(self, table: str, rows: Kinds) -> Kinds:
        """Return what `usable` does, of kinds of rows."""
        return rows.where(self._is_usable(table, rows.rows))

    def _is_usable(self, table: str, rows: pl.DataFrame) -> pl.Series:
        """Return which rows are usable, the others being counted."""
        if rows.is_empty():  # most traces lack most tables
            return pl.Series("usable", [], pl.Boolean)
        usable = _usable(self.earliest, self.latest)
        is_usable = rows.select(usable.alias("usable")).to_series()
        lost = len(is_usable) - int(is_usable.sum())
        if lost:
            self.unusable[table] = self.unusable.get(table, 0) + lost
        if lost < rows.height:
            kept = rows.select("start", "end").filter(is_usable) if lost else rows
            self._spans[table] = first_and_last(kept)
        return is_usable

    def sizes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with `bytes` null where no memory has so many; such rows are counted."""
        possible = rows["bytes"].is_between(0, MOST_BYTES)
        lost = int((~possible).sum())  # null is neither
        self.impossible_sizes += lost
        return rows.with_columns(bytes=pl.when(possible).then("bytes")) if lost else rows

    def nearer(self) -> "RawRows | None":
        """Return what reads the rows near the middle one of all that were read, by start; None where all are near it.

        One absurd time would else stretch the trace over a century.
        """
        starts, ends = zip(*self._spans.values(), strict=True) if self._spans else ((0,), (0,))
        if max(ends) - min(starts) <= LONGEST_NS:
            return None
        every = [self.trace.read(table, ["start"])["start"] for table in self._spans]
        possible = pl.concat(every).drop_nulls()
        possible = possible.filter(possible.is_between(-LATEST_NS, LATEST_NS))
        middle = int(possible.sort()[len(possible) // 2])
        return RawRows(self.trace, max(middle - LONGEST_NS, -LATEST_NS), min(middle + LONGEST_NS, LATEST_NS))


def first_and_last(rows: pl.DataFrame) -> tuple[int, int]:
    """Return the first start and the last end of rows, of which there is one."""
    return cast("int", rows["start"].min()), cast("int", rows["end"].max())


def _usable(earliest: int, latest: int) -> pl.Expr:
    start, end = TIMES
    inside = (start > earliest) & (end <= latest)
    return (inside & (start <= end) & (end - start <= LONGEST_NS)).fill_null(value=False)


PLACE = ("globalPid", "deviceId", "streamId")
"""Raw columns that tell where a GPU operation ran."""
GPU_OPERATION = (*PLACE, "correlationId")
"""Raw columns that every kind of GPU operation has, beside its times."""


def gpu_operation() -> tuple[pl.Expr, ...]:
    """Return the columns that every frame of GPU operations begins with, from `start` to `correlation_id`."""
    return (*TIMES, *place_of_operation(), pl.col("correlationId").alias("correlation_id"))


def place_of_operation() -> tuple[pl.Expr, ...]:
    """Return where a GPU operation ran: process, device and stream."""
    return pid("globalPid"), device(), stream()


def device() -> pl.Expr:
    """Return the device (Int32): 0 where none is recorded; a number that none has becomes the nearest that fits."""
    return pl.col("deviceId").fill_null(0).clip(-INT32_MAX, INT32_MAX).cast(pl.Int32).alias("device")


def stream() -> pl.Expr:
    """Return the stream (Int32), null where none is recorded or the number means all of them."""
    number = pl.col("streamId")
    return pl.when(number.is_between(0, INT32_MAX)).then(number).cast(pl.Int32).alias("stream")


def pid(global_id: str) -> pl.Expr:
    """Return the process id (Int32) packed at bits 24 to 47 of a global process or thread id."""
    return ((pl.col(global_id).fill_null(0) & PID_BITS) // (1 << 24)).cast(pl.Int32).alias("pid")


def is_node() -> pl.Expr:
    """Return whether an operation is a node of a graph, from `graphNodeId`: 0 or nothing where it is none."""
    return (pl.col("graphNodeId") != 0).fill_null(value=False).alias("is_node")
