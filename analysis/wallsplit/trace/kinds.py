"""A table as kinds of rows: what differs from row to row, and what is of a few kinds only, once per kind."""

from dataclasses import dataclass

import numpy as np
import polars as pl


@dataclass(frozen=True, eq=False)
class Kinds:
    """The rows of a table, in file order. Equal kinds may occur twice."""

    rows: pl.DataFrame
    """The columns that differ from row to row."""
    kinds: pl.DataFrame
    """The other columns, a row per kind."""
    kind: pl.Series | None
    """The kind of each row, as UInt32; None: each row is a kind of its own."""

    def of_rows(self, of_kinds: pl.Series) -> pl.Series:
        """Return for each row what its kind is given as."""
        return of_kinds if self.kind is None else of_kinds.gather(self.kind)

    def where(self, rows: pl.Series) -> "Kinds":
        """Return the rows for which a mask holds."""
        if rows.all():
            return self
        if self.kind is None:
            return Kinds(self.rows.filter(rows), self.kinds.filter(rows) if self.kinds.width else self.kinds, None)
        return Kinds(self.rows.filter(rows), self.kinds, self.kind.filter(rows))

    def in_use(self) -> "Kinds":
        """Return the same rows without the kinds that none of them is of."""
        if self.kind is None:
            return self
        occurs = np.zeros(self.kinds.height, np.bool_)
        occurs[self.kind.to_numpy()] = True
        if occurs.all():
            return self
        place = pl.Series(np.cumsum(occurs, dtype=np.uint32) - np.uint32(1))
        return Kinds(self.rows, self.kinds.filter(pl.Series(occurs)), place.gather(self.kind))

    def with_kinds(self, kinds: pl.DataFrame) -> pl.DataFrame:
        """Return the columns of the rows, and some columns of the kinds, row by row."""
        return self.rows.hstack([self.of_rows(column) for column in kinds.get_columns()])
