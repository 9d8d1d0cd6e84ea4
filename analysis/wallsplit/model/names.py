"""The texts of a trace, interned once: frames hold row numbers, people get text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import polars as pl

from wallsplit.trace import Trace

UNNAMED = "(no name recorded)"


@dataclass(frozen=True)
class Names:
    """Distinct texts; a name column of a frame holds positions in `texts`."""

    texts: pl.Series

    def text(self, rows: pl.Series) -> pl.Series:
        """Return the texts at `rows` as String, in the same order."""
        return self.texts.gather(rows).alias(rows.name)

    def __getitem__(self, row: int) -> str:
        return str(self.texts[row])


@dataclass
class NameTable:
    """Names while the frames are loaded: texts come in from StringIds and from inline text columns."""

    strings: pl.DataFrame  # id Int64, value String: StringIds
    _rows: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Trace) -> "NameTable":
        """Return the names of a trace, none interned yet."""
        strings = trace.scan("StringIds", ["id", "value"]).select("id", pl.col("value").cast(pl.String))
        return cls(strings.unique("id", keep="first").collect())

    def row(self, text: str) -> int:
        """Return the row of one text."""
        return self._rows.setdefault(text, len(self._rows))

    def rows_of_ids(self, ids: pl.Series, change: Callable[[str], str] = str) -> pl.Series:
        """Return the Int32 rows of the StringIds texts at `ids`, each text passed through `change` first."""
        distinct = pl.DataFrame({"id": ids.unique().sort()})
        texts = distinct.join(self.strings, on="id", how="left").with_columns(pl.col("value").fill_null(UNNAMED))
        return self._mapped(ids, texts["id"], texts["value"], change)

    def rows_of_texts(self, texts: pl.Series, change: Callable[[str], str] = str) -> pl.Series:
        """Return the Int32 rows of a Categorical or String column of inline texts; null is no name."""
        distinct = texts.unique(maintain_order=True)  # not by category code, which depends on what was read before
        return self._mapped(texts, distinct, distinct.cast(pl.String).fill_null(UNNAMED), change)

    def lookup(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the StringIds texts at `ids`."""
        wanted = self.strings.filter(pl.col("id").is_in(list(ids))).drop_nulls()
        return dict(zip(wanted["id"], wanted["value"], strict=True))

    def freeze(self) -> Names:
        """Return the names interned so far; rows given out earlier stay valid."""
        return Names(pl.Series("name", list(self._rows), dtype=pl.String))

    def _mapped(
        self, keys: pl.Series, distinct: pl.Series, texts: pl.Series, change: Callable[[str], str]
    ) -> pl.Series:
        rows = pl.Series([self.row(change(text)) for text in texts], dtype=pl.Int32)
        if len(distinct) < 2:
            return rows.new_from_index(0, len(keys)) if len(rows) else rows
        return keys.replace_strict(distinct, rows, return_dtype=pl.Int32)
