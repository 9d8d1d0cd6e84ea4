"""What a table of the analysis is."""

from collections.abc import Callable

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import conform


@dataclass(frozen=True)
class Breakdown:
    """One table: what it is called, its columns, what it needs, and how it comes from a model."""

    name: str
    """In JSON, in file names and among `Analysis.tables`."""
    title: str
    """What a person calls it."""
    schema: pl.Schema
    compute: Callable[[Model, Window | None], pl.DataFrame]
    """Whole trace for None, else the rows that overlap the window, at full length."""
    needs: tuple[str, ...] = ()
    """Columns of the model (its OPTIONAL) without which the table cannot be had."""
    lower_bounds: tuple[str, ...] = ()
    """Columns that can but grow with GPU work that was not recorded."""
    listed: int | None = None
    """The document has so many rows at most, and `<table>_rows_total`: a program that numbers its ranges makes as many
    rows as it has ranges. `wallsplit analyze --tables` writes them whole."""

    def of(self, model: Model, window: Window | None) -> pl.DataFrame | None:
        """Return the table of a model; None where the trace lacks what it needs.

        Raises:
            SchemaError: the table has not the columns of its schema.
        """
        if not model.lacking.isdisjoint(self.needs):
            return None
        return conform(self.compute(model, window), self.schema, self.name)
