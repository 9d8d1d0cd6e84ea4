"""Rows of the JSON document as frames."""

from typing import Any

import polars as pl


def frame(rows: list[dict[str, Any]], columns: pl.Schema) -> pl.DataFrame:
    """Return the rows as a frame of these columns; keys that are none are left out.

    Raises:
        PolarsError: a value is not of its column's type.
    """
    return pl.DataFrame([[row[name] for name in columns] for row in rows], schema=columns, orient="row", strict=True)
