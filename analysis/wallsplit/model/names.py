"""The texts of a trace, interned once: frames hold row numbers, people get text."""

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.trace import Trace

UNNAMED = "(no name recorded)"


@dataclass(frozen=True)
class Names:
    """Distinct texts; a name column of a frame holds positions in `texts`."""

    texts: pl.Series

    def text(self, rows: pl.Series) -> pl.Series:
        """Return the texts at `rows` as String, in the same order."""
        return self.texts.gather(rows).alias(rows.name)

    @cached_property
    def places(self) -> pl.Series:
        """The place of each text among all of them in order, as UInt32: what sorts numbers like the names they mean."""
        return self.texts.rank("dense")

    @cached_property
    def shapes(self) -> tuple[npt.NDArray[np.int64], pl.Series]:
        """(the shape of each text, by place; all shapes): the texts with 0 for each number in them.

        What is numbered by step or by operation is a handful of shapes in a million texts.
        """
        texts = self.texts.str.replace_all(r"[0-9]+", "0").alias("shape").to_frame()
        shapes = texts.unique(maintain_order=True).with_row_index("place")
        places = texts.join(shapes, on="shape", how="left", maintain_order="left")["place"]
        return places.cast(pl.Int64).to_numpy(), shapes["shape"]

    def __getitem__(self, row: int) -> str:
        return str(self.texts[row])


@dataclasses.dataclass
class NameTable:
    """Names while the frames are loaded: texts come in from StringIds and from inline text columns.

    Whole columns at a time: a program that numbers its ranges has as many names as ranges.
    """

    strings: pl.DataFrame  # id Int64, value String: StringIds
    _texts: pl.DataFrame = dataclasses.field(
        default_factory=lambda: pl.DataFrame(schema={"text": pl.String, "row": pl.Int32})
    )

    @classmethod
    def of(cls, trace: Trace) -> "NameTable":
        """Return the names of a trace, none interned yet."""
        strings = trace.read("StringIds", ["id", "value"]).select("id", pl.col("value").cast(pl.String))
        return cls(strings.unique("id", keep="first"))

    def rows(self, texts: pl.Series) -> pl.Series:
        """Return the Int32 rows of String texts, null being no name; new ones get the next rows, in their order."""
        wanted = texts.fill_null(UNNAMED).alias("text").to_frame()
        known, new = self._texts, wanted.unique(maintain_order=True)
        if known.height:
            known = known.filter(pl.col("text").is_in(wanted["text"].implode()))
            new = new.join(known, on="text", how="anti", maintain_order="left")
        numbered = new.select(
            "text", pl.int_range(self._texts.height, self._texts.height + pl.len(), dtype=pl.Int32).alias("row")
        )
        self._texts = pl.concat([self._texts, numbered])
        if new.height == wanted.height:
            return numbered["row"]
        return wanted.join(pl.concat([known, numbered]), on="text", how="left", maintain_order="left")["row"]

    def rows_of_ids(self, ids: pl.Series, change: Callable[[str], str] | None = None) -> pl.Series:
        """Return the Int32 rows of the StringIds texts at `ids`, each text passed through `change` first, if given."""
        if ids.is_empty():
            return pl.Series(dtype=pl.Int32)
        distinct = pl.DataFrame({"id": ids.unique().sort()})
        texts = distinct.join(self.strings, on="id", how="left", maintain_order="left")["value"].fill_null(UNNAMED)
        if change is not None:
            texts = pl.Series([change(text) for text in texts], dtype=pl.String)
        rows = self.rows(texts)
        if len(distinct) < 2:
            return rows.new_from_index(0, len(ids))
        return ids.replace_strict(distinct["id"], rows, return_dtype=pl.Int32)

    def rows_of_texts(self, texts: pl.Series) -> pl.Series:
        """Return the Int32 rows of a Categorical or String column of inline texts; null is no name."""
        if texts.is_empty():
            return pl.Series(dtype=pl.Int32)
        distinct = texts.unique(maintain_order=True)  # not by category code, which depends on what was read before
        rows = self.rows(distinct.cast(pl.String))
        if len(distinct) < 2:
            return rows.new_from_index(0, len(texts))
        codes, distinct_codes = (_codes(column) for column in (texts, distinct))
        row_of_code = np.empty(int(distinct_codes.max()) + 1, np.int32)
        row_of_code[distinct_codes] = rows.to_numpy()
        return pl.Series(row_of_code[codes])

    def lookup(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the StringIds texts at `ids`."""
        wanted = self.strings.filter(pl.col("id").is_in(list(ids))).drop_nulls()
        return dict(zip(wanted["id"], wanted["value"], strict=True))

    def freeze(self) -> Names:
        """Return the names interned so far; rows given out earlier stay valid."""
        self._texts = self._texts.rechunk()  # texts in several pieces are twenty times slower to look up
        return Names(self._texts["text"].alias("name"))


def _codes(texts: pl.Series) -> npt.NDArray[np.uint32]:
    """Return the category of each text as a number from 1, 0 for null."""
    codes: npt.NDArray[np.uint32] = (texts.cast(pl.Categorical).to_physical() + 1).fill_null(0).to_numpy()
    return codes
