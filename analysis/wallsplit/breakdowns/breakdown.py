"""What a table of the analysis is."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model


@dataclass(frozen=True)
class Breakdown:
    """One table: its name in JSON, what a person calls it, its columns, and how it comes from a model."""

    name: str
    title: str
    schema: pl.Schema
    compute: Callable[[Model, Window | None], pl.DataFrame | None]
    """Whole trace for None, else the rows that overlap the window, at full length. None back = cannot be had."""
