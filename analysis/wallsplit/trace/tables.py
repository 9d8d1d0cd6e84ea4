"""What the schema says about a table: its root page, its columns, and what a value not stored reads as."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Literal, TypeAlias

from wallsplit.frozen import dataclass

Affinity: TypeAlias = Literal["INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB"]
Value: TypeAlias = int | float | str | bytes | None

_CONSTANT = re.compile(
    r"""[+-]?\s*((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)? | 0x[0-9a-f]+) | '([^']|'')*' | x'[0-9a-f]*' | NULL | TRUE | FALSE""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class TableInfo:
    """Where a table lies in its file and how its rows are declared."""

    name: str
    root_page: int  # 0 where the table has no pages of its own (a virtual table)
    columns: tuple[str, ...]
    declared_types: tuple[str, ...]
    defaults: tuple[Value, ...]  # what a row stored before the column was added reads as
    rowid_column: int | None  # position of the INTEGER PRIMARY KEY, which is the row id and stored as NULL
    plain: bool  # an ordinary row-id table: no WITHOUT ROWID, no generated or hidden column, only constant defaults

    def affinity(self, column: int) -> Affinity:
        """Return the type a value of the column at this position is converted to when it is stored."""
        return affinity(self.declared_types[column])


def affinity(declared_type: str) -> Affinity:
    """Return the affinity of a declared type.

    The five rules of "Determination Of Column Affinity", https://www.sqlite.org/datatype3.html, in their order.
    """
    declared = declared_type.upper()
    if "INT" in declared:
        return "INTEGER"
    if any(word in declared for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if "BLOB" in declared or not declared:
        return "BLOB"
    if any(word in declared for word in ("REAL", "FLOA", "DOUB")):
        return "REAL"
    return "NUMERIC"


def table_info(connection: sqlite3.Connection, name: str) -> TableInfo:
    """Return the table `name` as the database's schema describes it.

    Raises:
        KeyError: the database has no table of this name.
    """
    query = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
    found = connection.execute(query, (name,)).fetchone()
    if found is None:
        raise KeyError(name)
    name, root_page = found
    rows = [row[1:] for row in connection.execute(f"PRAGMA table_xinfo({quoted(name)})")]
    names, declared_types, _, expressions, keys, hidden = zip(*rows, strict=True)
    key_index = _primary_key_index(connection, name)
    key_columns = [position for position, key in enumerate(keys) if key]
    is_rowid = len(key_columns) == 1 and key_index is None and declared_types[key_columns[0]].upper() == "INTEGER"
    return TableInfo(
        name=name,
        root_page=root_page or 0,
        columns=names,
        declared_types=declared_types,
        defaults=_defaults(expressions, declared_types),
        rowid_column=key_columns[0] if is_rowid else None,
        plain=not any(hidden)
        and (key_index is None or _has_pages(connection, key_index))
        and all(expression is None or _CONSTANT.fullmatch(expression) for expression in expressions),
    )


def _primary_key_index(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the index that enforces the primary key; an INTEGER PRIMARY KEY needs none, it is the table's own key."""
    indexes = connection.execute(f"PRAGMA index_list({quoted(name)})").fetchall()
    return next((str(index) for _, index, _, origin, _ in indexes if origin == "pk"), None)


def _has_pages(connection: sqlite3.Connection, index: str) -> bool:
    """Return whether the index is stored apart from its table: that of a WITHOUT ROWID table is the table itself.

    The test that https://www.sqlite.org/withoutrowid.html gives ("Determining If An Existing Table Is WITHOUT ROWID").
    """
    query = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = ?"
    return bool(connection.execute(query, (index,)).fetchone()[0])


def _defaults(expressions: Sequence[str | None], declared_types: Sequence[str]) -> tuple[Value, ...]:
    """Return the value of every DEFAULT; only literal constants are evaluated, the text comes from the file."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        return tuple(
            _constant(scratch, expression, affinity(declared))
            if expression is not None and _CONSTANT.fullmatch(expression)
            else None
            for expression, declared in zip(expressions, declared_types, strict=True)
        )


def _constant(scratch: sqlite3.Connection, expression: str, kind: Affinity) -> Value:
    scratch.execute(f"CREATE TABLE one(value {kind} DEFAULT {expression})")
    value: Value = scratch.execute("INSERT INTO one DEFAULT VALUES RETURNING value").fetchone()[0]
    scratch.execute("DROP TABLE one")
    return value


def quoted(name: str) -> str:
    """Return a name of a table or column as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
