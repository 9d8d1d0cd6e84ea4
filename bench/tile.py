"""Repeats an nsys SQLite export along the time axis: a large trace with the structure of a real one.

python -m bench.tile SOURCE.sqlite TARGET.sqlite ROWS
"""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

SHIFTED = ("start", "end", "correlationId")
GAP_NS = 1_000


def tile(source: Path, target: Path, rows: int) -> int:
    """Write to `target` about `rows` rows of `source`, over and over, the last time perhaps in part; return how many.

    Correlation ids stay unique within a process; names and metadata are kept.
    """
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        tables = tables_of_events(db)
        first = min(_value(db, f"SELECT min(start) FROM {name}") for name in tables)
        span = max(_value(db, f"SELECT max(end) FROM {name}") for name in tables) - first + GAP_NS
        ids = [
            _value(db, f"SELECT max(correlationId) FROM {name}") for name in tables if "correlationId" in tables[name]
        ]
        shifts = {"start": span, "end": span, "correlationId": 1 + max(ids, default=0)}
        there = {name: _value(db, f"SELECT count(*) FROM {name}") for name in tables}
        wanted = {name: there[name] * rows // sum(there.values()) for name in tables}
        db.execute("CREATE TEMP TABLE copy (number INTEGER)")
        copies = range(1, -(-rows // sum(there.values())))
        db.executemany("INSERT INTO copy VALUES (?)", ((number,) for number in copies))
        for name, columns in tables.items():
            values = ", ".join(f"t.{c} + copy.number * {shifts[c]}" if c in shifts else f"t.{c}" for c in columns)
            db.execute(
                f"INSERT INTO {name} SELECT {values} FROM copy CROSS JOIN {name} t "
                f"ORDER BY copy.number, t.rowid LIMIT {max(0, wanted[name] - there[name])}"
            )
            if wanted[name] < there[name]:
                kept = f"SELECT rowid FROM {name} ORDER BY rowid LIMIT {wanted[name]}"
                db.execute(f"DELETE FROM {name} WHERE rowid NOT IN ({kept})")
            db.commit()
        return sum(wanted.values())


def tables_of_events(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the tables, with their columns, whose rows have a start and an end, and that have rows."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}
    timed = {name: found for name, found in columns.items() if {"start", "end"} <= set(found)}
    return {
        name: [f'"{c}"' if c not in SHIFTED else c for c in found]
        for name, found in timed.items()
        if _value(db, f"SELECT count(*) FROM {name}")
    }


def _value(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0] or 0)


if __name__ == "__main__":
    print(tile(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
