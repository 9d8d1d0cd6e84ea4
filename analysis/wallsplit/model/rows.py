"""Which raw rows can be used, and how nsys packs process and thread into its global ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from wallsplit.trace import Trace

LATEST_NS = 2**62
"""A time beyond this on either side is not a time (LEDGER.md, Window); differences of two such still fit 64 bits."""

PID_BITS = 0xFFFFFF << 24

TIMES = pl.col("start"), pl.col("end")


@dataclass
class RawRows:
    """Reads event tables and keeps count of the rows that cannot be used."""

    trace: Trace
    unusable: dict[str, int] = field(default_factory=dict)

    def read(self, table: str, columns: Sequence[str], *, keep: pl.Expr | None = None) -> pl.DataFrame:
        """Return the usable rows of an event table: `start`, `end` and `columns`.

        Rows with a missing or reversed end, or an impossible time, are counted in `unusable`. `keep` selects the rows
        that are events of the kind wanted; the others are neither used nor counted.
        """
        frame = self.trace.scan(table, ["start", "end", *columns])
        frame = frame if keep is None else frame.filter(keep)
        rows = frame.with_columns(usable=_usable()).collect()
        lost = rows.height - int(rows["usable"].sum())
        if lost:
            self.unusable[table] = self.unusable.get(table, 0) + lost
            rows = rows.filter("usable")
        return rows.drop("usable")


def _usable() -> pl.Expr:
    start, end = TIMES
    inside = start.is_between(-LATEST_NS, LATEST_NS) & end.is_between(-LATEST_NS, LATEST_NS)
    return (inside & (end >= start)).fill_null(value=False)


def pid(global_id: str) -> pl.Expr:
    """Return the process id (Int32) packed at bits 24 to 47 of a global process or thread id."""
    return ((pl.col(global_id).fill_null(0) & PID_BITS) // (1 << 24)).cast(pl.Int32).alias("pid")
