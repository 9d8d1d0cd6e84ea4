"""The secrets of a trace: what it states about a user, a machine or an environment, to be found nowhere else.

They are collected from every text of the file, shared or not.
"""

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.export.private import (
    ANONYMOUS,
    LEFT_OUT,
    SHORTEST,
    STAND_INS,
    distinctive_names,
    instances,
    is_telling,
    names_stated,
    values,
    without,
)
from wallsplit.frozen import dataclass
from wallsplit.trace import Trace

_NAMES_A_MACHINE = re.compile(r"(?i)^(?:\w+_)?(?:host_?name|computer_?name|user_?name|host|user)$")
_NAMES_AN_ARGUMENT = re.compile(r":(?:COMMAND|ARGUMENT_\d+|WORKING_DIRECTORY)$")
_WORD = r"(?<![A-Za-z0-9])(?:{})(?![A-Za-z0-9])"
_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class Secrets:
    """What must not be in a file that is handed on."""

    names: frozenset[str]
    """Of users and hosts: not as a word of a text."""
    anywhere: frozenset[str]
    """At least SHORTEST characters, the longer names among them: not in the file's bytes."""

    def __len__(self) -> int:
        return len(self.names | self.anywhere)

    @cached_property
    def _words(self) -> re.Pattern[str] | None:
        longest_first = sorted(self.names, key=lambda name: (-len(name), name))
        return re.compile(_WORD.format("|".join(map(re.escape, longest_first)))) if self.names else None

    def removed(self, texts: pl.Series) -> pl.Series:
        """Return the texts without secrets, neither those of this trace nor what is private by its form."""
        cleaned = [without(text) for text in texts]
        if self._words:
            cleaned = [self._words.sub(ANONYMOUS, text) for text in cleaned]
        result = pl.Series(cleaned, dtype=pl.String)
        return result.str.replace_many(sorted(self.anywhere), [LEFT_OUT], leftmost=True) if self.anywhere else result

    def count_in_texts(self, texts: pl.Series) -> int:
        """Return how many of the texts hold a name as a word."""
        words = self._words
        return 0 if words is None else sum(words.search(text) is not None for text in texts)

    def count_in_file(self, path: Path) -> int:
        """Return how many of the secrets that may be nowhere are in a file's bytes, as UTF-8 or UTF-16.

        Raises:
            OSError: the file cannot be read.
        """
        encodings = ("utf-8", "utf-16-le", "utf-16-be")
        written = {secret: [secret.encode(e, "surrogatepass") for e in encodings] for secret in self.anywhere}
        there = occurring({each for every in written.values() for each in every}, path)
        return sum(any(each in there for each in every) for every in written.values())


def secrets(trace: Trace, public: Collection[str]) -> Secrets:
    """Return the secrets of a trace; what is part of a `public` text, as the name of a function is, is none.

    Raises:
        TraceError: the container is damaged.
    """
    names: set[str] = set()
    others: set[str] = set()
    for label, text in _texts(trace):
        names |= names_stated([text])
        others |= instances(text)
        if "=" in text:
            others |= values(text)
        if _NAMES_A_MACHINE.match(label):
            names |= distinctive_names([text])
        if _NAMES_AN_ARGUMENT.search(label) and is_telling(text):
            others.add(text)
    known = "\n".join((*public, *STAND_INS))
    anywhere = {secret for secret in names | others if len(secret) >= SHORTEST and secret not in known}
    words = {name for name in names if not re.search(_WORD.format(re.escape(name)), known)}
    return Secrets(frozenset(words), frozenset(anywhere))


def _texts(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the distinct texts of every table of the file, each after what its row calls it, if the row does."""
    for table, schema in trace.source.tables.items():
        columns = [column for column, kind in schema.items() if kind == pl.Categorical()]
        if not columns or table.startswith("ENUM_"):
            continue
        rows = trace.source.read(table, columns).select(pl.all().cast(pl.String))
        for column in columns:
            label = pl.col("name") if "name" in columns and column != "name" else pl.lit("")
            yield from rows.select(label.fill_null("").alias("label"), text=column).drop_nulls().unique().iter_rows()


def occurring(wanted: Collection[bytes], path: Path) -> set[bytes]:
    """Return those of the byte strings, four bytes long or more, that occur in a file.

    Raises:
        OSError: the file cannot be read.
    """
    overlap = max(map(len, wanted), default=1) - 1
    by_start: dict[int, list[bytes]] = {}
    for each in wanted:
        by_start.setdefault(int.from_bytes(each[:4], "little"), []).append(each)
    starts = np.array(sorted(by_start), np.uint32)
    there: set[bytes] = set()
    with path.open("rb") as file:
        rest = b""
        while block := file.read(_BLOCK_BYTES):
            block = rest + block
            for place in _places(block, starts):
                start = int.from_bytes(block[place : place + 4], "little")
                there |= {each for each in by_start[start] if block.startswith(each, place)}
            rest = block[max(0, len(block) - overlap) :]
    return there


def _places(block: bytes, starts: npt.NDArray[np.uint32]) -> Iterator[int]:
    """Yield where one of the four-byte starts stands in a block."""
    likely = np.zeros(1 << 16, np.bool_)
    likely[starts & 0xFFFF] = True
    for shift in range(min(4, max(0, len(block) - 3))):
        words = np.frombuffer(block, "<u4", (len(block) - shift) // 4, shift)
        maybe = np.flatnonzero(likely[words & 0xFFFF])
        yield from (maybe[np.isin(words[maybe], starts)] * 4 + shift).tolist()
