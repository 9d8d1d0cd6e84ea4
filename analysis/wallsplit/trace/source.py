"""What every trace format offers: named tables with named columns, read column by column."""

from collections.abc import Sequence
from typing import Protocol

import polars as pl


class Source(Protocol):
    """A container of raw nsys tables. Implementations never write beside their file."""

    format: str
    tables: dict[str, pl.Schema]
    """Real tables only; column names as nsys writes them, types Int64, Float64, or Categorical for text.

    A column of interned texts costs four bytes a row. Any other type cannot be read.
    """

    @property
    def size_bytes(self) -> int:
        """Return the size of all files of the container."""
        ...

    def read(self, table: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return the columns asked for, all rows, in file order.

        Raises:
            TraceError: the container is damaged.
        """
        ...

    def read_kinds(
        self, table: str, columns: Sequence[str], keys: Sequence[str]
    ) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame] | None:
        """Return (columns of all rows, the kind of each row, what the `keys` are in each kind); None: only `read` can.

        Raises:
            TraceError: the container is damaged.
        """
        ...

    def rows(self, table: str) -> int:
        """Return the number of rows of a table without reading them all.

        Raises:
            TraceError: the container is damaged.
        """
        ...

    def check_unchanged(self) -> None:
        """Return if the container is what it was when it was opened.

        Raises:
            TraceError: it was written to meanwhile, so what was read may be a mixture.
        """
        ...
