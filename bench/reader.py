"""How fast does a table become a frame: our page reader beside sqlite3, ADBC and connectorx?

Read are 8 of the 28 columns of a kernel table written for it; readers that are not installed are left out.
"""

import importlib.util
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.measure import answer, in_child, part
from bench.options import Options
from bench.rounds import in_turns
from bench.table import Table, compared

if TYPE_CHECKING:
    from wallsplit.trace.tables import TableInfo

TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
KERNEL_COLUMNS = {
    "start": "1700000000000 + i * 9000 + i % 977",
    "end": "1700000000000 + i * 9000 + i % 977 + 2000 + i % 6007",
    "deviceId": "i % 2",
    "contextId": "1 + i % 2",
    "greenContextId": "NULL",
    "streamId": "7 + i % 3",
    "correlationId": "1000 + i * 3",
    "globalPid": "281479271677952 + (i % 2) * 16777216",
    "demangledName": "200 + i % 180",
    "shortName": "400 + i % 150",
    "mangledName": "NULL",
    "launchType": "NULL",
    "cacheConfig": "NULL",
    "registersPerThread": "16 + i % 200",
    "gridX": "1 + i % 40000",
    "gridY": "1 + i % 3",
    "gridZ": "1",
    "blockX": "128 + 128 * (i % 4)",
    "blockY": "1",
    "blockZ": "1",
    "staticSharedMemory": "(i % 3) * 1024",
    "dynamicSharedMemory": "(i % 7) * 8192",
    "localMemoryPerThread": "0",
    "localMemoryTotal": "139460608",
    "gridId": "i",
    "sharedMemoryExecuted": "32768 + (i % 3) * 16384",
    "graphNodeId": "NULL",
    "sharedMemoryLimitConfig": "i % 2",
}
READ = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName")
BATCH_ROWS = 100_000
SELECT = "SELECT {} FROM {}".format(", ".join(f'"{name}"' for name in READ), TABLE)


def run(options: Options) -> Table:
    rows = options.most_rows // 2
    trace = written(options.folder / "kernels.sqlite", rows)
    names = [name for name in READERS if name not in MODULES or importlib.util.find_spec(MODULES[name])]
    readings = in_turns(options.rounds, {name: partial(in_child, "bench.reader", name, trace) for name in names})
    trace.unlink()
    title = f"Reading {rows:,} rows, {len(READ)} of {len(KERNEL_COLUMNS)} columns"
    return compared(title, readings, "reader", names[0])


def written(path: Path, rows: int) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        declared = ", ".join(f'"{name}" INTEGER' for name in KERNEL_COLUMNS)
        db.execute(f"CREATE TABLE {TABLE}({declared})")
        db.execute(
            "WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number LIMIT ?) "
            f"INSERT INTO {TABLE} SELECT {', '.join(KERNEL_COLUMNS.values())} FROM number",
            (rows,),
        )
        db.commit()
    return path


# What a reader needs is imported before the clock starts.


def by_pages(threads: int, trace: Path) -> Callable[[], object]:
    from wallsplit.trace.pages import read_table

    info = _table_info(trace)
    return lambda: read_table(trace, info, READ, threads=threads)


def _table_info(trace: Path) -> "TableInfo":
    from wallsplit.trace.tables import table_info

    with closing(sqlite3.connect(trace)) as db:
        return table_info(db, TABLE)


def by_sqlite3(trace: Path) -> Callable[[], object]:
    import polars as pl

    def read() -> pl.DataFrame:
        with closing(sqlite3.connect(trace)) as db:
            cursor = db.execute(SELECT)
            batches = []
            while rows := cursor.fetchmany(BATCH_ROWS):
                batches.append(pl.DataFrame(rows, schema=dict.fromkeys(READ, pl.Int64), orient="row"))
            return pl.concat(batches)

    return read


def by_uri(engine: Literal["adbc", "connectorx"], prefix: str, trace: Path) -> Callable[[], object]:
    import polars as pl

    return lambda: pl.read_database_uri(SELECT, f"{prefix}{trace}", engine=engine)


READERS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "pages, 2 threads": partial(by_pages, 2),
    "pages, 1 thread": partial(by_pages, 1),
    "sqlite3": by_sqlite3,
    "adbc": partial(by_uri, "adbc", "sqlite:///"),
    "connectorx": partial(by_uri, "connectorx", "sqlite://"),
}
MODULES = {"adbc": "adbc_driver_sqlite", "connectorx": "connectorx"}

if __name__ == "__main__":
    answer(part(READERS[sys.argv[1]](Path(sys.argv[2]))))
