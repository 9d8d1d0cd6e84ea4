"""What do names that never repeat cost? PyTorch gives them to NVTX ranges, with the operator's number in each.

python -m bench.unique SOURCE.sqlite TARGET.sqlite PERIOD
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

PERIODS = {"repeated names": 20_000, "names that never repeat": 1 << 62}
"""After how many ranges the numbers in their names begin again."""
RANGES = (59, 60, 70, 71)
"""The event types of ranges, as nsys numbers them."""
_CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
_NUMBER = re.compile(r", op_id = \d+$")


def run(options: Options) -> Table:
    """Time two copies of the trace that differ in nothing but the names of their ranges, in turns."""
    argvs: dict[str, list[str | Path]] = {}
    count = 0
    for name, period in PERIODS.items():
        trace = options.folder / f"{period}.sqlite"
        count = int(run_python("-m", "bench.unique", options.trace, trace, str(period)))
        argvs[name] = wallsplit("analyze", trace, "--json")
    readings = in_turns(options.rounds, {name: partial(command, argv) for name, argv in argvs.items()})
    sizes = {name: printed_bytes(argv) for name, argv in argvs.items()}
    for period in PERIODS.values():
        (options.folder / f"{period}.sqlite").unlink()
    table = compared(f"Names of {count:,} NVTX ranges", readings, "the trace with", next(iter(PERIODS)))
    rows = tuple((*row, f"{sizes[row[0]] / 1e6:.1f}") for row in table.rows)
    return Table(table.title, (*table.header, "JSON MB"), rows)


def numbered(source: Path, target: Path, period: int) -> int:
    """Write to `target` the trace `source` with a number in the name of every range; return how many ranges that are.

    The numbers count up, and begin again after `period` ranges. Where there are fewer ranges than API calls, one
    around every call comes first, as PyTorch annotates its operators.
    """
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.create_function("numbered", 2, lambda name, row: f"{_NUMBER.sub('', name)}, op_id = {1_000_000 + row}")
        is_range = f"eventType IN {RANGES} AND coalesce(text, textId) IS NOT NULL"
        ranges, calls = (
            int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in (f"NVTX_EVENTS WHERE {is_range}", _CALLS)
        )
        if ranges < calls:
            db.execute(
                "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId) "
                f"SELECT start, end, {RANGES[0]}, globalTid, nameId, 0 FROM {_CALLS}"
            )
            ranges += calls
        db.execute(
            "UPDATE NVTX_EVENTS SET textId = NULL, text = numbered("
            "coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), _rowid_ % ?) "
            f"WHERE {is_range}",
            (period,),
        )
        db.commit()
    return ranges


if __name__ == "__main__":
    print(numbered(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
