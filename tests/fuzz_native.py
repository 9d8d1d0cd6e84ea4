"""Feeds the compiled core damaged files: `make fuzz-native` runs this with AddressSanitizer and UBSan in it.

What the core reads of a file must equal what NumPy reads of it, or it declines. It must never read or write elsewhere.
"""

import random
import sqlite3
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from wallsplit import native
from wallsplit.breakdowns.nested import nested
from wallsplit.breakdowns.projection import Calls, Ranges
from wallsplit.errors import TraceError
from wallsplit.trace.pages import read_kinds, read_table
from wallsplit.trace.tables import TableInfo, table_info
from without_core import without_core

SAMPLES = sorted(Path(__file__).parent.parent.joinpath("traces").glob("*.sqlite"))
ODD = (0, 1, 0x7F, 0x80, 0xFF)


def main(seconds: float, seed: int) -> None:
    if not native.is_compiled():
        sys.exit(f"fuzz-native: no compiled core: {native.REASON}")
    chance = random.Random(seed)
    outcomes: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with TemporaryDirectory() as folder:
        inputs = [planted(Path(folder, "planted.sqlite")), *SAMPLES]
        known = [(path.read_bytes(), tables(path)) for path in inputs]
        target = Path(folder, "damaged.sqlite")
        while time.monotonic() < until:
            content, infos = chance.choice(known)
            target.write_bytes(damaged(content, chance))
            outcomes[one(target, chance.choice(infos), chance)] += 1
            hostile_arrays(chance)
    said = ", ".join(f"{n:,} {what}" for what, n in outcomes.most_common())
    sys.stdout.write(f"seed {seed}: {outcomes.total():,} files: {said}\n")


def planted(path: Path) -> Path:
    """Write a table with everything that a page can hold: spilling texts, reals, all sizes of integers, NULLs."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA page_size=512")
        db.execute("CREATE TABLE t(a INTEGER, b TEXT, c REAL, d INTEGER)")
        values = [(1 << i % 63, "xyz" * (i % 500), i / 3, None if i % 3 else -i) for i in range(2000)]
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", values)
    db.close()
    return path


def tables(path: Path) -> list[TableInfo]:
    with sqlite3.connect(path) as db:
        names = [str(name) for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        infos = [table_info(db, name) for name in names if not name.startswith("sqlite_")]
    db.close()
    return [info for info in infos if info.plain]


def damaged(content: bytes, chance: random.Random) -> bytes:
    result = bytearray(content)
    page = int.from_bytes(content[16:18]) or 65536
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(result) // page) * page + chance.randrange(chance.choice((16, 200, page)))
        if at < min(100, len(result)):
            continue  # the header is checked by others
        result[at] = chance.choice((*ODD, chance.randrange(256)))
    if chance.random() < 0.1:
        del result[chance.randrange(page, len(result)) :]
    return bytes(result)


def one(path: Path, info: TableInfo, chance: random.Random) -> str:
    columns = [name for name in info.columns if info.affinity(info.columns.index(name)) != "BLOB"]
    chosen = chance.sample(columns, chance.randint(1, min(len(columns), 12)))
    threads = chance.choice((1, 3))
    ours = read(path, info, chosen, threads)
    with without_core():
        theirs = read(path, info, chosen, threads)
    if isinstance(ours, pl.DataFrame) and isinstance(theirs, pl.DataFrame):
        assert ours.equals(theirs), (info.name, chosen)
    else:
        assert type(ours) is type(theirs), (info.name, chosen, ours, theirs)
    keys = [name for name in columns if name not in chosen]
    with suppress(TraceError):
        read_kinds(path, info, [name for name in chosen if info.affinity(info.columns.index(name)) != "TEXT"], keys, 2)
    return "equal" if isinstance(ours, pl.DataFrame) else ours


def read(path: Path, info: TableInfo, columns: list[str], threads: int) -> pl.DataFrame | str:
    try:
        frame = read_table(path, info, columns, threads, text=pl.String)
    except TraceError:
        return "refused"
    return "left to sqlite3" if frame is None else frame


def hostile_arrays(chance: random.Random) -> None:
    """Give the other loops arrays of any size, in any order, with any times."""
    numbers = np.random.default_rng(chance.randrange(2**32))
    span = chance.choice((3, 20, 2**40, 2**62))
    n, m = chance.choice((0, 1, 5, 60)), chance.choice((0, 3, 50))
    start, end = numbers.integers(0, span, (2, n))
    native.latest(start, end, numbers.integers(-1, 3, n).astype(np.int32))
    native.timeline([start, end[: n // 2]], [end, start[: n // 2]])
    labels = [(each, end[: len(each)].astype(np.int32)) for each in (start, start[: n // 2], end[: n // 3])]
    is_idle = numbers.integers(0, 2, 4).astype(np.bool_)
    native.pieces(np.append(start, 0), end.astype(np.uint32) % 32, is_idle, [chance.choice(labels) for _ in range(6)])
    native.sums(
        (start % 9).astype(chance.choice((np.uint8, np.uint16, np.int32, np.int64))), end, chance.choice((0, 8, 9))
    )
    native.places(start, end, right=bool(n % 2))
    native.levels(start, end, numbers.integers(-1, n + 1, n), 3)
    short, other, long = (column[: chance.choice((n // 2, n))] for column in (start, end, start))
    native.levels(short, other, long, 3)
    native.latest(short, other, long.astype(np.int32))
    native.timeline([short], [other])
    native.project(
        numbers.integers(-1, 4, n), start, end, numbers.integers(-1, n + 1, n), [numbers.integers(-1, 4, m)] * 6, 3
    )
    hashes, at = numbers.integers(0, 4, m + 1).astype(np.uint64), numbers.integers(-1, m + 2, n)
    for places in (at, np.sort(at.clip(0, m))):
        native.bodies(hashes, places, np.sort(numbers.integers(-(n == 5), n + 1 + (n == 5), 5)))
    native.statistics(start - end, numbers.integers(0, 4, n).astype(np.uint32), 4)
    ranges = Ranges(numbers.integers(0, 3, m), *np.sort(numbers.integers(0, min(span, 2**40), (2, m)), axis=0))
    begun, ended = np.sort(numbers.integers(0, min(span, 2**40), (2, n)), axis=0)
    nested(
        Calls(numbers.integers(0, 3, n), begun, ended, begun, ended, numbers.integers(0, 3, n)), ranges, np.arange(m)
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60, int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns())
