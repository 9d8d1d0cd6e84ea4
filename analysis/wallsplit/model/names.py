"""The texts of a trace, interned once: frames hold row numbers, people get text."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Names:
    """Distinct texts; a name column of a frame holds positions in `texts`."""

    texts: pl.Series

    def text(self, rows: pl.Series) -> pl.Series:
        """Return the texts at `rows` as String, in the same order."""
        return self.texts.gather(rows).alias(rows.name)
