"""Record traces/numpy-loop.sqlite anew: numpy_loop.py under nsys, and of its export only what an analysis reads.

An export holds the environment, the paths and the other programs of the machine it was made on. So nothing is deleted
from it: what is known to be harmless is copied into a new file, and a text that is no plain name stops the copying.

    PYTHONPATH=analysis:scripts python -m samples.record_numpy_loop [FILE]
"""

import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from samples import numpy_loop
from samples.nsys_tables import PUSH_POP, Row, Rows, columns, global_id, write
from wallsplit.errors import CaptureError, WallsplitError
from wallsplit_scripts.nsys import CaptureOptions, capture, export, find

TARGET = Path(__file__).resolve().parents[2] / "traces" / "numpy-loop.sqlite"
LIMIT_S = 120.0
PID = 1_000  # stands for the recorded program
METADATA = ("EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION")
METADATA_VALUE = re.compile(r"[\w. -]{1,40}")
FUNCTION = re.compile(r"[a-z_][a-z0-9_]{0,40}")
RANGES = frozenset({"epoch", "step", "data", "forward", "backward", "update"})


@dataclass
class Renumbered:
    """New ids for threads and texts, in the order in which they are met."""

    threads: dict[int, int] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)

    def thread(self, global_tid: int) -> int:
        """Return the id that stands for a thread."""
        return self.threads.setdefault(global_tid, global_id(PID, PID + len(self.threads)))

    def string(self, text: str) -> int:
        """Return the id of a text."""
        return self.strings.setdefault(text, len(self.strings) + 1)


def record(target: Path) -> None:
    """Record the loop and write the scrubbed export to `target`.

    Raises:
        CaptureError: there is no nsys, it fails, or the recording is not what the loop did.
    """
    loop = Path(numpy_loop.__file__)
    with tempfile.TemporaryDirectory() as folder:  # readable by its owner only, as the raw export must be
        report, raw = Path(folder) / "raw.nsys-rep", Path(folder) / "raw.sqlite"
        nsys = find()
        ended = capture(nsys, CaptureOptions(), report, (sys.executable, str(loop)), LIMIT_S)
        if ended.exit_code != 0:
            raise CaptureError(f"{loop.name} failed under nsys with exit code {ended.exit_code}; what it said is above")
        export(nsys.path, report, raw)
        rows = scrubbed(raw)
    write(target, rows)


def scrubbed(raw: Path) -> Rows:
    """Return the tables of the sample, taken from a raw export.

    Raises:
        CaptureError: the ranges are not those of the loop, or a text is no plain name.
    """
    with closing(sqlite3.connect(f"{raw.as_uri()}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        ids = Renumbered()
        ranges = _ranges(database, ids)
        calls = _os_runtime_calls(database, ids)
        (duration,) = database.execute("SELECT duration FROM ANALYSIS_DETAILS").fetchone()
        return {
            "StringIds": [{"id": number, "value": text} for text, number in ids.strings.items()],
            "ANALYSIS_DETAILS": [
                {"globalVid": global_id(0), "duration": duration, "startTime": 0, "stopTime": duration}
            ],
            "PROCESSES": [{"globalPid": global_id(PID), "pid": PID, "name": "python"}],
            "OSRT_API": calls,
            "NVTX_EVENTS": ranges,
            "META_DATA_EXPORT": list(_metadata(database)),
        }


def _ranges(database: sqlite3.Connection, ids: Renumbered) -> list[Row]:
    found = database.execute(
        "SELECT start, end, globalTid, coalesce(text, value) AS name"
        " FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE eventType = ? ORDER BY start, end DESC",
        [PUSH_POP],
    ).fetchall()
    steps = sum(row["name"] == "step" for row in found)
    if steps != numpy_loop.EPOCHS * numpy_loop.STEPS:
        raise CaptureError(f"{steps} steps recorded of a loop with {numpy_loop.EPOCHS * numpy_loop.STEPS}; see NVTX")
    if unknown := {row["name"] for row in found} - RANGES:
        raise CaptureError(f"ranges that the loop does not have: {sorted(map(repr, unknown))}")
    return [
        _in_order("NVTX_EVENTS", row)
        | {"eventType": PUSH_POP, "domainId": 0, "textId": ids.string(row["name"])}
        | {"globalTid": ids.thread(row["globalTid"])}
        for row in found
    ]


def _os_runtime_calls(database: sqlite3.Connection, ids: Renumbered) -> list[Row]:
    """Return the calls made by the threads of the loop's process while the ranges were open."""
    found = database.execute(
        "SELECT call.*, value AS name FROM OSRT_API AS call JOIN StringIds ON id = nameId,"
        " (SELECT min(start) AS first, max(end) AS last, min(globalTid >> 24) AS process FROM NVTX_EVENTS"
        "  WHERE eventType = ?) AS loop"
        " WHERE call.globalTid >> 24 = process AND call.start < last AND call.end > first"
        " ORDER BY call.start, call.end DESC, call.rowid",
        [PUSH_POP],
    ).fetchall()
    if strange := {row["name"] for row in found if not FUNCTION.fullmatch(row["name"])}:
        raise CaptureError(f"OS runtime calls with names that are no C functions: {sorted(map(repr, strange))}")
    return [
        _in_order("OSRT_API", row) | {"nameId": ids.string(row["name"]), "globalTid": ids.thread(row["globalTid"])}
        for row in found
    ]


def _in_order(table: str, row: sqlite3.Row) -> Row:
    """Return the columns the sample has, in order; only numbers are copied, the rest is null."""
    present = row.keys()
    values = {name: row[name] if name in present else None for name in columns(table)}
    return {name: value if isinstance(value, int) else None for name, value in values.items()}


def _metadata(database: sqlite3.Connection) -> Iterator[Row]:
    stored = dict(database.execute("SELECT name, value FROM META_DATA_EXPORT"))
    for name in METADATA:
        value = stored.get(name)
        if isinstance(value, str) and METADATA_VALUE.fullmatch(value):
            yield {"name": name, "value": value}


def main() -> None:
    """Record the sample into the file named on the command line, else into the one that is committed."""
    try:
        record(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
    except WallsplitError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
