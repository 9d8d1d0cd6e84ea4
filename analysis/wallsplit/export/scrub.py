"""A trace to hand on: a new file of what may be shared, checked against the old one before it gets its name.

Nothing is written that trace/shareable.py does not list, and no text as it is but what vendors chose (docs/sharing.md).
"""

import secrets as random_source
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, cast

import polars as pl

from wallsplit import __version__
from wallsplit.errors import ExportError
from wallsplit.export.new_file import check_free, new_file
from wallsplit.export.renaming import RenamedTexts, Renaming, is_public
from wallsplit.export.sameness import difference
from wallsplit.export.secrets import Secrets, secrets
from wallsplit.export.shared_manifest import shared_manifest
from wallsplit.frozen import dataclass
from wallsplit.pipeline import Examined, examine
from wallsplit.run import manifest
from wallsplit.run.beside_trace import recorded_run
from wallsplit.run.nvml import to_csv
from wallsplit.text import visible
from wallsplit.trace import Trace
from wallsplit.trace.shareable import STRINGS, SharedTable, TextKind, shared_tables, strings
from wallsplit.trace.tables import quoted
from wallsplit.trace.trace import NO_RECORDING

STAGES = ("reading", "collecting secrets", "writing", "checking")
LOOKED_AT: tuple[TextKind, ...] = ("kernel", "range", "process", "message")
_BATCH_ROWS = 50_000
_TYPES = {pl.Int64(): "INTEGER", pl.String(): "TEXT"}


@dataclass(frozen=True)
class Scrubbed:
    """What was done, for the person who hands the file on."""

    path: Path
    size_bytes: int
    shared_rows: dict[str, int]
    """By table of the new file."""
    left_out_rows: dict[str, int]
    """By table that is not in it."""
    names: dict[TextKind, RenamedTexts]
    """What a user may have named, by kind: it is for a person to look at."""
    secrets: int
    """How many were looked for, and not found."""
    manifest: Path | None
    """The manifest written anew beside it."""

    def document(self) -> dict[str, Any]:
        """Return it as plain values (docs/sharing.schema.json)."""
        return {
            "schema_version": 1,
            "generator": {"name": "wallsplit", "version": __version__},
            "scrubbed": {
                "path": visible(str(self.path)),
                "size_bytes": self.size_bytes,
                "shared_rows": {visible(name): rows for name, rows in self.shared_rows.items()},
                "left_out_rows": {visible(name): rows for name, rows in self.left_out_rows.items()},
                "secrets": self.secrets,
                "manifest": self.manifest and visible(str(self.manifest)),
                "names": {
                    kind: {"changed": names.changed, "texts": [visible(text) for text in names.texts]}
                    for kind, names in self.names.items()
                },
            },
        }


def scrub(
    source: Path,
    target: Path,
    *,
    hash_kernels: bool = False,
    hash_ranges: bool = False,
    keep_time: bool = False,
    force: bool = False,
    shown_as: Path | None = None,
    advance: Callable[[str], None] = lambda _stage: None,
) -> Scrubbed:
    """Write what may be shared of the export at `source` to a new SQLite file, and return what is in it.

    `shown_as` is the path the user gave, where that was a report and `source` its export; `advance` is told each of
    STAGES as it begins. Without `force`, nothing that exists is replaced.

    Raises:
        TraceError: `source` is no complete nsys export.
        ExportError: something is in the way, or cannot be written; or the new file did not pass its checks: it was
            removed.
    """
    check_free(target, force=force, source=shown_as or source)
    advance(STAGES[0])
    before = examine(source)
    advance(STAGES[1])
    trace = Trace.open(source)
    tables = list(shared_tables(trace, keep_time=keep_time))
    texts = strings(trace)
    hidden = secrets(trace, _public(tables, texts))
    renaming = Renaming(hidden, random_source.token_bytes(16), hash_kernels, hash_ranges)
    advance(STAGES[2])
    renamed = _renamed(tables, texts, renaming)
    with ExitStack() as files:
        temporary = files.enter_context(new_file(target))
        _write(temporary, renamed)
        trace.check_unchanged()
        advance(STAGES[3])
        written = [rows[c].drop_nulls().unique() for _, rows in renamed for c in rows.select(pl.col(pl.String)).columns]
        _check(temporary, target, hidden, before, written)
        beside = _put_beside(files, shown_as or source, temporary, target, renaming, keep_time=keep_time, force=force)
        size = temporary.stat().st_size
    return Scrubbed(
        target,
        size,
        {table.table: table.rows.height for table in tables},
        _left_out(trace, tables),
        {kind: renaming.names(kind) for kind in LOOKED_AT},
        len(hidden),
        beside,
    )


def _public(tables: Sequence[SharedTable], texts: pl.DataFrame) -> set[str]:
    """Return the names in the new file that are no secret: those of its tables and columns, and what vendors chose."""
    public = {
        STRINGS,
        "value",
        *(table.table for table in tables),
        *(c for table in tables for c in table.rows.columns),
    }
    for table in tables:
        for column, kind in table.texts.items():
            known = _distinct(table.rows[column], texts)
            public |= {text for text in known if is_public(kind, text)}
    return public


def _distinct(column: pl.Series, texts: pl.DataFrame) -> pl.Series:
    """Return the distinct texts of a column of texts, or of numbers of texts."""
    distinct = column.drop_nulls().unique(maintain_order=True)
    if column.dtype == pl.Int64():
        return texts.filter(pl.col("id").is_in(distinct.implode()))["value"]
    return distinct.cast(pl.String)


def _renamed(tables: Sequence[SharedTable], texts: pl.DataFrame, renaming: Renaming) -> list[tuple[str, pl.DataFrame]]:
    """Return the tables by name with their texts renamed, and the table of the texts that they number.

    These are numbered anew, each for itself in every kind, so that the name of a kernel does not show that of a range.
    """
    numbered = [
        pl.DataFrame({"id": table.rows[column].drop_nulls().unique()}).with_columns(kind=pl.lit(kind))
        for table in tables
        for column, kind in table.texts.items()
        if table.rows[column].dtype == pl.Int64()
    ]
    empty = pl.DataFrame(schema={"id": pl.Int64, "kind": pl.String})
    pairs = pl.concat([empty, *numbered]).unique().sort("id", "kind").with_row_index("new", 1)
    pairs = pairs.with_columns(pl.col("new").cast(pl.Int64)).join(texts, on="id", how="left", maintain_order="left")
    of_kind = {str(kind): rows for (kind,), rows in pairs.group_by("kind", maintain_order=True)}
    shared = []
    for table in tables:
        columns = [_renamed_column(table.rows[c], table.texts.get(c), of_kind, renaming) for c in table.rows.columns]
        shared.append((table.table, pl.DataFrame(columns)))
    values = [
        rows.select(id="new", value=renaming.renamed(cast(TextKind, kind), rows["value"])).drop_nulls()
        for kind, rows in of_kind.items()
    ]
    strings_table = pl.concat([pl.DataFrame(schema={"id": pl.Int64, "value": pl.String}), *values]).sort("id")
    return [*shared, (STRINGS, strings_table)]


def _renamed_column(
    column: pl.Series, kind: TextKind | None, of_kind: Mapping[str, pl.DataFrame], renaming: Renaming
) -> pl.Series:
    if kind is None:
        return column if column.dtype == pl.Int64() else column.cast(pl.String)
    if column.dtype != pl.Int64():
        return renaming.renamed(kind, column.cast(pl.String)).alias(column.name)
    numbers = of_kind.get(kind)
    return column if numbers is None else column.replace_strict(numbers["id"], numbers["new"], return_dtype=pl.Int64)


def _write(path: Path, tables: Sequence[tuple[str, pl.DataFrame]]) -> None:
    """Write the tables into an empty file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        for name, rows in tables:
            key = " PRIMARY KEY" if name == STRINGS else ""
            columns = [f"{quoted(c)} {_TYPES[kind]}{key * (c == 'id')}" for c, kind in rows.schema.items()]
            db.execute(f"CREATE TABLE {quoted(name)} ({', '.join(columns)})")
            insert = f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * rows.width)})"  # noqa: S608
            for part in rows.iter_slices(_BATCH_ROWS):
                db.executemany(insert, part.iter_rows())
        db.execute("COMMIT")


def _check(path: Path, target: Path, hidden: Secrets, before: Examined, texts: Iterable[pl.Series]) -> None:
    """Return if the file tells what the trace tells, and holds no secret of it.

    Raises:
        ExportError: it does not, or does.
    """
    left = hidden.count_in_file(path) + sum(hidden.count_in_texts(column) for column in texts)
    if left:
        raise ExportError(f"{_show(target)}: was not kept: {left} private texts of the trace would be left in it")
    changed = difference(before, examine(path))
    if changed:
        raise ExportError(f"{_show(target)}: was not kept: {changed} as in the trace")


def _put_beside(
    files: ExitStack, source: Path, scrubbed: Path, target: Path, renaming: Renaming, *, keep_time: bool, force: bool
) -> Path | None:
    """Write the manifest of the trace anew, for the scrubbed file, and return its path; None where there is none."""
    run = recorded_run(source)
    if run.manifest is None:
        return None
    path = manifest.beside(target)
    samples = path.with_name(path.name.removesuffix(".run.json") + ".nvml.csv") if keep_time and run.samples else None
    shown = shared_manifest(run.manifest, manifest.sha256(scrubbed), samples.name if samples else None, renaming)
    contents = {path: manifest.to_json(shown), **({samples: to_csv(run.samples)} if samples else {})}
    for place, text in contents.items():
        check_free(place, force=force, source=scrubbed)
        files.enter_context(new_file(place)).write_text(text, encoding="utf-8")
    return path


def _left_out(trace: Trace, tables: Sequence[SharedTable]) -> dict[str, int]:
    shared = {trace.name_of(table.table) for table in tables} | {STRINGS}
    left = (name for name in trace.source.tables if name not in shared and not name.startswith(NO_RECORDING))
    rows = {name: trace.source.rows(name) for name in left}
    return {name: count for name, count in sorted(rows.items()) if count}


def _show(path: Path) -> str:
    return visible(str(path))
