"""Write an SQLite file in the schema of an nsys export: chosen tables and columns, the same rows giving the same bytes.

Exports create tables and columns as they need them, so leaving some out is within the schema. Names, types and
meanings are those that nsys writes itself; a file written here says in META_DATA_EXPORT which version of the schema.
"""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import sqlite_utils

Row = dict[str, int | str | None]
Rows = Mapping[str, Iterable[Row]]

VM = 1 << 48
"""The host part of nsys' global ids: every file here has one host, the first."""

PUSH_POP = 59
"""The NVTX event type of a range that one thread pushes and pops."""

KERNEL = """
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL,
    gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
    blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
    staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER"""
MEMCPY = """
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER"""
RUNTIME = """
    start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL"""
NVTX = """
    start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,
    endGlobalTid INTEGER, textId INTEGER, domainId INTEGER"""
OSRT = """
    start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    nameId INTEGER NOT NULL, nestingLevel INTEGER"""
GPU = """
    vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, memoryBandwidth INTEGER,
    clockRate INTEGER, smCount INTEGER, chipName TEXT, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER,
    threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, computeMajor INTEGER, computeMinor INTEGER"""

TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "ANALYSIS_DETAILS": "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, "
    "stopTime INTEGER NOT NULL",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "TARGET_INFO_GPU": GPU,
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_RUNTIME": RUNTIME,
    "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL,
    "CUPTI_ACTIVITY_KIND_MEMCPY": MEMCPY,
    "OSRT_API": OSRT,
    "NVTX_EVENTS": NVTX,
    "ENUM_CUDA_MEMCPY_OPER": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
}


def global_id(pid: int, tid: int = 0) -> int:
    """Return nsys' serialized id of a process, or of one of its threads."""
    return VM | pid << 24 | tid


def columns(table: str) -> list[str]:
    """Return the names of the columns a file written here has in `table`, in order."""
    return [column.split()[0] for column in TABLES[table].split(",")]


def write(path: Path, rows: Rows) -> None:
    """Write the rows, by table, to `path`, whole or not at all; what was there is replaced.

    Raises:
        OSError: the folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".part", dir=path.parent) as folder:
        part = Path(folder) / "part.sqlite"
        _fill(part, rows)
        _normalise_header(part)
        part.replace(path)


def _fill(path: Path, rows: Rows) -> None:
    database = sqlite_utils.Database(path)
    try:
        database.execute("PRAGMA page_size = 4096")
        database.execute("PRAGMA auto_vacuum = NONE")
        database.execute("PRAGMA secure_delete = ON")  # what a page does not use is zero, whichever SQLite writes it
        for table, declared in TABLES.items():
            if table in rows:
                # Spelled out here: the text that sqlite-utils makes of a table differs between its versions.
                database.execute(f"CREATE TABLE {table} ({' '.join(declared.split())})")
                database.table(table).insert_all(rows[table])
        database.vacuum()
    finally:
        database.close()


def _normalise_header(path: Path) -> None:
    """Set the header fields that tell how often, and by which SQLite, the file was written (sqlite.org/fileformat2)."""
    once, sqlite = (1).to_bytes(4, "big"), (3_040_001).to_bytes(4, "big")
    with path.open("r+b") as file:
        file.seek(24)
        file.write(once)
        file.seek(92)
        file.write(once + sqlite)
