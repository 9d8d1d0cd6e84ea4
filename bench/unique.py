"""What do names that never repeat cost? PyTorch gives them to NVTX ranges, with the operator's number in each.

python -m bench.unique SOURCE.sqlite TARGET.sqlite (repeated | unique)
"""

import re
import shutil
import sqlite3
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from bench.measure import command, printed_bytes, run_python, wallsplit
from bench.options import Options
from bench.rounds import in_turns
from bench.table import Table, compared
from bench.tile import tables_of_events

REPEATED, UNIQUE = "repeated", "unique"
MOST_RANGES = 1_200_000
"""A longer trace is cut off behind so many."""
RANGES = (59, 60, 70, 71)
"""The event types of ranges, as nsys numbers them."""
_CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
_NUMBER = re.compile(r", op_id = \d+$")
_FIRST = 1_000_000


def run(options: Options) -> Table:
    """Time two copies of the trace that differ in nothing but the names of their ranges, in turns."""
    argvs: dict[str, list[str | Path]] = {}
    count = 0
    for names in (REPEATED, UNIQUE):
        trace = options.folder / f"{names}.sqlite"
        count = int(run_python("-m", "bench.unique", options.trace, trace, names))
        argvs[f"{names} names"] = wallsplit("analyze", trace, "--json")
    readings = in_turns(options.rounds, {name: partial(command, argv) for name, argv in argvs.items()})
    sizes = {name: printed_bytes(argv) for name, argv in argvs.items()}
    for names in (REPEATED, UNIQUE):
        (options.folder / f"{names}.sqlite").unlink()
    table = compared(f"Names of {count:,} NVTX ranges", readings, "the trace with", next(iter(argvs)))
    rows = tuple((*row, f"{sizes[row[0]] / 1e6:.1f}") for row in table.rows)
    return Table(table.title, (*table.header, "JSON MB"), rows)


def numbered(source: Path, target: Path, *, unique: bool, most: int = MOST_RANGES) -> int:
    """Write to `target` the trace `source` with a number in the name of every range; return how many ranges that are.

    `unique`: no two numbers are the same. Else a name keeps the number it has, all others get the same one. Where there
    are fewer ranges than API calls, one around every call comes first, as PyTorch annotates its operators. What starts
    after the `most`th range is left out.
    """
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.create_function("numbered", 2, _unique_name if unique else _numbered_name)
        _cut(db, most)
        is_range = f"eventType IN {RANGES} AND coalesce(text, textId) IS NOT NULL"
        ranges, calls = (_count(db, table) for table in (f"NVTX_EVENTS WHERE {is_range}", _CALLS))
        if ranges < calls:
            db.execute(
                "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId) "
                f"SELECT start, end, {RANGES[0]}, globalTid, nameId, 0 FROM {_CALLS}"
            )
            ranges += calls
        name = "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))"
        db.execute(f"UPDATE NVTX_EVENTS SET textId = NULL, text = numbered({name}, _rowid_) WHERE {is_range}")
        db.commit()
        db.execute("VACUUM")
    return ranges


def _cut(db: sqlite3.Connection, most: int) -> None:
    """Delete what starts after the range that stands at place `most`."""
    found = db.execute(
        f"SELECT start FROM NVTX_EVENTS WHERE eventType IN {RANGES} ORDER BY _rowid_ LIMIT 1 OFFSET ?", (most,)
    ).fetchone()
    for table in tables_of_events(db) if found else ():
        db.execute(f"DELETE FROM {table} WHERE start >= ?", found)


def _unique_name(name: str, row: int) -> str:
    return f"{_NUMBER.sub('', name)}, op_id = {_FIRST + row}"


def _numbered_name(name: str, _row: int) -> str:
    return name if _NUMBER.search(name) else f"{name}, op_id = {_FIRST}"


def _count(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


if __name__ == "__main__":
    print(numbered(Path(sys.argv[1]), Path(sys.argv[2]), unique=sys.argv[3] == UNIQUE))
