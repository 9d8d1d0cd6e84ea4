"""A table as kinds of rows: what differs from row to row, and what is of a few kinds only, once per kind."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.ranks import in_order, ranked


@dataclass(frozen=True, eq=False)
class Kinds:
    """The rows of a table, in file order. Equal kinds may occur twice."""

    rows: pl.DataFrame
    """The columns that differ from row to row."""
    kinds: pl.DataFrame
    """The other columns, a row per kind."""
    kind: pl.Series
    """The kind of each row, as UInt32."""

    @classmethod
    def of(cls, rows: pl.DataFrame, keys: pl.DataFrame) -> "Kinds":
        """Return rows, and what each of them is, as kinds in the order of their first rows."""
        kind, first = numbered(keys)
        in_turn = np.argsort(first)
        place = np.empty(len(first), np.uint32)
        place[in_turn] = np.arange(len(first), dtype=np.uint32)
        return cls(rows, keys[first[in_turn]], pl.Series("kind", place[kind]))

    @classmethod
    def each(cls, rows: pl.DataFrame, keys: pl.DataFrame) -> "Kinds":
        """Return rows each of which is of its own kind."""
        return cls(rows, keys, pl.Series("kind", np.arange(rows.height, dtype=np.uint32)))

    def of_rows(self, of_kinds: pl.Series) -> pl.Series:
        """Return for each row what its kind is given as."""
        return of_kinds.gather(self.kind)

    def where(self, rows: pl.Series) -> "Kinds":
        """Return the rows for which a mask holds."""
        if rows.all():
            return self
        return Kinds(self.rows.filter(rows), self.kinds, self.kind.filter(rows))

    def in_use(self) -> "Kinds":
        """Return the same rows without the kinds that none of them is of."""
        occurs = np.zeros(self.kinds.height, np.bool_)
        occurs[self.kind.to_numpy()] = True
        if occurs.all():
            return self
        place = pl.Series(np.cumsum(occurs, dtype=np.uint32) - np.uint32(1))
        return Kinds(self.rows, self.kinds.filter(pl.Series(occurs)), place.gather(self.kind))

    def with_kinds(self, kinds: pl.DataFrame) -> pl.DataFrame:
        """Return the columns of the rows, and some columns of the kinds, row by row."""
        return self.rows.hstack([self.of_rows(column) for column in kinds.get_columns()])

    def together(self, kinds: pl.DataFrame, *keys: str) -> pl.DataFrame:
        """Return what `with_kinds` does, by some columns of the kinds, else in file order.

        The few columns of the rows are sorted, not those of the kinds.
        """
        return self.by(kinds.select(keys)).with_kinds(kinds)

    def by(self, of_kinds: pl.DataFrame) -> "Kinds":
        """Return the rows in the order of what their kinds are given as, else in file order."""
        place, size = places(of_kinds)
        of_rows = place.astype(np.min_scalar_type(max(size - 1, 0)))[self.kind.to_numpy()]
        if (of_rows[1:] >= of_rows[:-1]).all():
            return self
        order = pl.Series(in_order(of_rows, size))
        return Kinds(self.rows[order], self.kinds, self.kind.gather(order))


def places(keys: pl.DataFrame) -> tuple[npt.NDArray[np.int64], int]:
    """Return the place of each row among the rows in order of all columns, and what these places are below.

    Of two columns places always fit into 64 bits, whatever a trace holds.
    """
    place, size = np.zeros(keys.height, np.int64), 1
    for column in keys.get_columns():
        distinct, of_column = ranked(column.to_numpy())
        place, size = place * len(distinct) + of_column, size * len(distinct)
    return place, size


def numbered(keys: pl.DataFrame) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of each row's kind, and the first row of each kind. A column that says nothing new is free.

    Rows are of one kind where all columns are equal; null equals null.
    """
    kind, first = np.zeros(keys.height, np.int64), np.zeros(min(1, keys.height), np.int64)
    for values in _numbers(keys):
        if (values[first][kind] == values).all():
            continue
        distinct, place = ranked(values)
        place += kind * len(distinct)
        numbers, kind = ranked(place)
        first = np.empty(len(numbers), np.int64)
        first[kind[::-1]] = np.arange(len(kind))[::-1]  # of equal kinds the last one stays: the first row
    return kind, first


def _numbers(keys: pl.DataFrame) -> Iterator[npt.NDArray[np.integer[Any]]]:
    """Give the columns as numbers, equal ones for equal values; what is null beside them."""
    for column in keys.get_columns():
        if column.null_count() == len(column):
            continue
        if column.null_count():
            yield column.is_null().to_numpy().astype(np.uint8)
        number = column.cast(pl.UInt8) if column.dtype == pl.Boolean() else column.to_physical()
        yield number.fill_null(0).to_numpy()
