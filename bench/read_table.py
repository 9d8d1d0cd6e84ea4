"""How fast a table becomes a frame: our page reader beside sqlite3, ADBC and connectorx, in one run.

    python bench/read_table.py [--rows 5_000_000] [--repeat 3]
    python bench/read_table.py --trace big.sqlite --table CUPTI_ACTIVITY_KIND_KERNEL

Without a trace it writes a kernel table of 28 columns, of which 8 are read. Every reading is a process of its own, so
that its peak memory is its own; readers take turns, and those not installed are left out.
"""

import argparse
import importlib.util
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import TypeAlias

import polars as pl

from wallsplit.trace.pages import read_table
from wallsplit.trace.tables import table_info

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
DTYPES = {"INTEGER": pl.Int64, "NUMERIC": pl.Int64, "REAL": pl.Float64, "TEXT": pl.String, "BLOB": pl.Binary}
BATCH_ROWS = 100_000

Reading: TypeAlias = dict[str, float]
Reader: TypeAlias = Callable[[Path, str, list[str]], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", type=Path, help="an SQLite file to read instead of writing one")
    parser.add_argument("--table", default="CUPTI_ACTIVITY_KIND_KERNEL")
    parser.add_argument("--columns", default=",".join(READ))
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the table written where no trace is given")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--reader", choices=READERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    columns = options.columns.split(",")
    if options.reader:
        print(json.dumps(measured(READERS[options.reader], options.trace, options.table, columns)))
        return
    readers = [name for name in READERS if name not in MODULES or importlib.util.find_spec(MODULES[name])]
    runs: dict[str, list[Reading]] = {name: [] for name in readers}
    with tempfile.TemporaryDirectory() as folder:
        trace = options.trace or written(Path(folder) / "kernels.sqlite", options.rows)
        for name in readers * options.repeat:
            runs[name].append(in_process_of_its_own(name, trace, options.table, columns))
    print(f"medians of {options.repeat}, {len(columns)} columns of {options.table}")
    print(compared(runs))


def written(path: Path, rows: int) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        declared = ", ".join(f'"{name}" INTEGER' for name in KERNEL_COLUMNS)
        db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL({declared})")
        db.execute(
            "WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number LIMIT ?) "
            f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT {', '.join(KERNEL_COLUMNS.values())} FROM number",
            (rows,),
        )
        db.commit()
    return path


def by_pages(threads: int) -> Reader:
    def read(trace: Path, table: str, columns: list[str]) -> int:
        with closing(sqlite3.connect(trace)) as db:
            info = table_info(db, table)
        frame = read_table(trace, info, columns, threads=threads)
        return 0 if frame is None else frame.height

    return read


def by_sqlite3(trace: Path, table: str, columns: list[str]) -> int:
    with closing(sqlite3.connect(trace)) as db:
        info = table_info(db, table)
        schema = {name: DTYPES[info.affinity(info.columns.index(name))] for name in columns}
        cursor = db.execute(selection(table, columns))
        batches = [pl.DataFrame(schema=schema)]
        while rows := cursor.fetchmany(BATCH_ROWS):
            batches.append(pl.DataFrame(rows, schema=schema, orient="row"))
        return pl.concat(batches).height


def by_adbc(trace: Path, table: str, columns: list[str]) -> int:
    return pl.read_database_uri(selection(table, columns), f"sqlite:///{trace}", engine="adbc").height


def by_connectorx(trace: Path, table: str, columns: list[str]) -> int:
    return pl.read_database_uri(selection(table, columns), f"sqlite://{trace}", engine="connectorx").height


def selection(table: str, columns: list[str]) -> str:
    return "SELECT {} FROM {}".format(", ".join(f'"{name}"' for name in columns), table)


READERS: dict[str, Reader] = {
    "pages (2 threads)": by_pages(2),
    "pages (1 thread)": by_pages(1),
    "sqlite3": by_sqlite3,
    "adbc": by_adbc,
    "connectorx": by_connectorx,
}
MODULES = {"adbc": "adbc_driver_sqlite", "connectorx": "connectorx"}


def measured(read: Reader, trace: Path, table: str, columns: list[str]) -> Reading:
    """One reading: rows, seconds of wall and processor time, and by how many MB the peak memory rose."""
    memory, cpu, wall = peak_mb(), time.process_time(), time.perf_counter()
    rows = read(trace, table, columns)
    return {
        "rows": rows,
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "memory_mb": peak_mb() - memory,
    }


def peak_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def in_process_of_its_own(reader: str, trace: Path, table: str, columns: list[str]) -> Reading:
    options = ["--reader", reader, "--trace", str(trace), "--table", table, "--columns", ",".join(columns)]
    done = subprocess.run([sys.executable, __file__, *options], check=True, capture_output=True, text=True)
    run: Reading = json.loads(done.stdout)
    return run


def compared(runs: dict[str, list[Reading]]) -> str:
    """The medians of every reader as lines of a table, and beside them their ratio to the first reader's."""
    lines = [f"{'reader':20}{'rows':>12}{'wall s':>9}{'CPU s':>9}{'memory MB':>11}{'wall ratio':>12}{'CPU ratio':>11}"]
    medians = {reader: {key: median(run[key] for run in group) for key in group[0]} for reader, group in runs.items()}
    ours = next(iter(medians.values()))
    lines += [
        f"{reader:20}{run['rows']:12,.0f}{run['wall_s']:9.2f}{run['cpu_s']:9.2f}{run['memory_mb']:11,.0f}"
        f"{run['wall_s'] / ours['wall_s']:12.1f}{run['cpu_s'] / ours['cpu_s']:11.1f}"
        for reader, run in medians.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
