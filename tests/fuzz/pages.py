"""SQLite files damaged by someone who knows their format; what is read of them is what sqlite3 reads, or is refused."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl

from fuzz.cases import Case
from fuzz.programs import Tables, program, write_sqlite
from wallsplit.errors import WallsplitError
from wallsplit.trace import Trace
from wallsplit.trace.raw import TABLES

SIZES = (512, 1_024, 4_096, 65_536)
BYTES = (0, 1, 2, 5, 9, 10, 12, 13, 14, 63, 64, 127, 128, 129, 254, 255)
BIG = (0, 1, 127, 128, 4_095, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)
WHOLE_EVERY = 4
"""One case in so many is analysed whole; the others are only read."""


@dataclass(frozen=True)
class Layout:
    """Where the pages and cells of one table lie (https://www.sqlite.org/fileformat2.html)."""

    page_size: int
    leaves: tuple[int, ...]
    interiors: tuple[int, ...]
    spilling: tuple[int, ...]

    def base(self, page: int) -> int:
        return (page - 1) * self.page_size

    def cells(self, data: bytes, page: int) -> list[int]:
        """Return where the cells of a leaf begin in the file."""
        base = self.base(page)
        count = int.from_bytes(data[base + 3 : base + 5], "big")
        return [base + int.from_bytes(data[base + 8 + 2 * i : base + 10 + 2 * i], "big") for i in range(count)]


def damaged_pages(folder: Path, rng: Random) -> Case:
    """Return an SQLite file some bytes of which are wrong."""
    path = folder / "trace.sqlite"
    tables = program(rng)
    _lengthen(tables, rng)
    write_sqlite(path, tables, page_size=rng.choice(SIZES))
    table = rng.choice([name for name in tables if len(tables[name]) > 1])
    data = bytearray(path.read_bytes())
    layout = _layout(bytes(data), table, path)
    notes = [rng.choice(DAMAGES)(data, layout, rng) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
    path.write_bytes(bytes(data))
    if rng.random() < 0.02:
        beside = rng.choice(("-wal", "-journal", "-shm"))
        path.with_name(path.name + beside).write_bytes(rng.randbytes(rng.choice((0, 1, 5_000))))
        notes.append(beside)
    return Case((path.name,), f"{table}: {'; '.join(notes)}", lambda: compared(path), rng.randrange(WHOLE_EVERY) == 0)


def _lengthen(tables: Tables, rng: Random) -> None:
    """Give some texts a length that spills onto other pages, and some tables more rows than a page holds."""
    if rng.random() < 0.5:
        for row in tables["StringIds"][:2]:
            row["value"] = str(row["value"]) + "<long>" * rng.randrange(20_000)
    if rng.random() < 0.5:
        tables["OSRT_API"] *= 40


def compared(path: Path) -> list[str]:
    """Return where the rows that are read differ from those that sqlite3 reads; what both refuse is well."""
    try:
        trace = Trace.open(path)
    except WallsplitError as error:
        return _of_several_lines(error)
    wrong: list[str] = []
    for table in TABLES:
        for name in {name for name in table.names if name in trace.source.tables}:
            columns = [column for column in table.columns if trace.has(table.name, column)]
            there = [column for column in columns if column in trace.source.tables[name]]
            if there:
                wrong += _differences(path, trace, name, there)
    return wrong


def _differences(path: Path, trace: Trace, table: str, columns: list[str]) -> Iterator[str]:
    try:
        ours = trace.source.read(table, columns)
    except WallsplitError as error:
        yield from _of_several_lines(error)
        return
    theirs = _rows_of_sqlite(path, table, columns)
    if theirs is None:
        return  # sqlite3 checks more than what these columns need
    if ours.height != len(theirs):
        yield f"{table} has {ours.height} rows, for sqlite3 {len(theirs)}"
        return
    for position, column in enumerate(columns):
        mine = ours[column].cast(pl.String) if ours[column].dtype == pl.Categorical else ours[column]
        for row, (value, its) in enumerate(zip(mine, (row[position] for row in theirs), strict=True)):
            its = _as_text(its) if mine.dtype == pl.String else its
            if value != its and not (value is None and its != its):
                yield f"{table}.{column}[{row}] is {repr(value)[:60]}, for sqlite3 {repr(its)[:60]}"
                return


def _rows_of_sqlite(path: Path, table: str, columns: list[str]) -> list[tuple[object, ...]] | None:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        names = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
        try:
            return db.execute(f'SELECT {names} FROM "{table}" NOT INDEXED').fetchall()
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            return None


def _as_text(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _of_several_lines(error: WallsplitError) -> list[str]:
    return [f"message of several lines: {error}"] if "\n" in str(error) else []


def _layout(data: bytes, table: str, path: Path) -> Layout:
    """Return the layout of a sound file's table."""
    with closing(sqlite3.connect(path)) as db:
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    size = int.from_bytes(data[16:18], "big")
    size = 65_536 if size == 1 else size
    leaves: list[int] = []
    interiors: list[int] = []
    todo = [root]
    while todo:
        page = todo.pop()
        base = (page - 1) * size
        count = int.from_bytes(data[base + 3 : base + 5], "big")
        if data[base] == 5:
            interiors.append(page)
            for i in range(count):
                cell = base + int.from_bytes(data[base + 12 + 2 * i : base + 14 + 2 * i], "big")
                todo.append(int.from_bytes(data[cell : cell + 4], "big"))
            todo.append(int.from_bytes(data[base + 8 : base + 12], "big"))
        else:
            leaves.append(page)
    inside = {1, *leaves, *interiors}
    others = tuple(page for page in range(1, len(data) // size + 1) if page not in inside)
    return Layout(size, tuple(leaves), tuple(interiors), others)


def _put(data: bytearray, at: int, value: int, size: int) -> None:
    if at >= 0 and at + size <= len(data):
        data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "big")


def _varint(value: int) -> bytes:
    """Return a number of at most 63 bits as SQLite writes it."""
    groups = [value >> shift & 127 for shift in range(0, max(7, value.bit_length()), 7)][:9][::-1]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def _page(layout: Layout, rng: Random) -> int:
    return rng.choice([*layout.leaves * 3, *layout.interiors * 2, *layout.spilling[:8], 1])


def _cell(data: bytearray, layout: Layout, rng: Random) -> int | None:
    """Return where a cell begins; None where none lies in the file any more."""
    cells = [at for at in layout.cells(bytes(data), rng.choice(layout.leaves)) if at + 16 < len(data)]
    return rng.choice(cells) if cells else None


def flip_anywhere(data: bytearray, layout: Layout, rng: Random) -> str:
    for _ in range(count := rng.choice((1, 4, 16))):
        data[rng.randrange(len(data))] = rng.choice(BYTES)
    return f"{count} bytes anywhere"


def flip_in_page(data: bytearray, layout: Layout, rng: Random) -> str:
    page = _page(layout, rng)
    for _ in range(rng.choice((1, 2, 8))):
        at = layout.base(page) + rng.randrange(layout.page_size)
        if at < len(data):
            data[at] ^= 1 << rng.randrange(8)
    return f"bits of page {page}"


def page_header(data: bytearray, layout: Layout, rng: Random) -> str:
    page, place = _page(layout, rng), rng.randrange(12)
    _put(data, layout.base(page) + place, rng.choice(BYTES), 1)
    return f"header of page {page}, byte {place}"


def cell_pointer(data: bytearray, layout: Layout, rng: Random) -> str:
    page = rng.choice(layout.leaves)
    place = 8 + 2 * rng.randrange(8)
    target = rng.choice((0, 8, place, layout.page_size - 1, layout.page_size - 4, 65_535, rng.randrange(65_536)))
    _put(data, layout.base(page) + place, target, 2)
    return f"a cell of page {page} at {target}"


def payload_length(data: bytearray, layout: Layout, rng: Random) -> str:
    if (at := _cell(data, layout, rng)) is not None:
        new = _varint(rng.choice((*BIG, rng.randrange(1 << 20))))
        data[at : at + len(new)] = new
    return f"length of the cell at {at}"


def record_header(data: bytearray, layout: Layout, rng: Random) -> str:
    if (at := _cell(data, layout, rng)) is not None:
        place = at + 2 + rng.randrange(12)
        data[place] = rng.choice((*range(16), 17, 127, 128, 255))
    return f"types of the cell at {at}"


def row_values(data: bytearray, layout: Layout, rng: Random) -> str:
    if (at := _cell(data, layout, rng)) is not None:
        for _ in range(rng.choice((1, 2, 8))):
            _put(data, at + 12 + rng.randrange(60), rng.choice((0, 127, 128, 192, 237, 255)), 1)
    return f"values of the cell at {at}"


def child_pointer(data: bytearray, layout: Layout, rng: Random) -> str:
    if not layout.interiors:
        return flip_in_page(data, layout, rng)
    page = rng.choice(layout.interiors)
    target = rng.choice((0, 1, page, *layout.leaves[:3], len(data) // layout.page_size + 1, 2**32 - 1))
    _put(data, layout.base(page) + 8, target, 4)
    return f"last child of page {page} is {target}"


def next_page(data: bytearray, layout: Layout, rng: Random) -> str:
    if not layout.spilling:
        return flip_in_page(data, layout, rng)
    page = rng.choice(layout.spilling)
    target = rng.choice((0, 1, page, *layout.leaves[:3], *layout.spilling[:3], 2**32 - 1))
    _put(data, layout.base(page), target, 4)
    return f"page {target} after page {page}"


def page_over_page(data: bytearray, layout: Layout, rng: Random) -> str:
    source, target = _page(layout, rng), rng.choice(layout.leaves)
    size, base = layout.page_size, layout.base(source)
    filled = rng.choice((data[base : base + size], bytes(size), rng.randbytes(size)))
    if len(filled) == size and target > 1 and layout.base(target) + size <= len(data):
        data[layout.base(target) : layout.base(target) + size] = filled
    return f"page {source}, or nothing, over page {target}"


def truncation(data: bytearray, layout: Layout, rng: Random) -> str:
    size = layout.page_size
    pages = rng.randrange(1, max(2, len(data) // size))
    del data[pages * size + rng.choice((0, 0, 1, size // 2)) :]
    if rng.random() < 0.3:
        _put(data, 28, pages, 4)
    return f"cut after {pages} pages"


def extension(data: bytearray, layout: Layout, rng: Random) -> str:
    data += rng.randbytes(rng.choice((1, layout.page_size, 5_000)))
    return "longer"


def file_header(data: bytearray, layout: Layout, rng: Random) -> str:
    at, size, values = rng.choice(
        (
            *((16, 2, (0, 1, 2, 511, 512, 4_096, 65_535)), (18, 1, BYTES), (19, 1, BYTES), (20, 1, BYTES)),
            *((21, 1, BYTES), (24, 4, BIG), (28, 4, BIG), (32, 4, BIG), (36, 4, BIG), (44, 4, BIG), (52, 4, BIG)),
            *((56, 4, (0, 1, 2, 3, 4, 256)), (0, 1, BYTES), (92, 4, BIG)),
        )
    )
    _put(data, at, value := rng.choice(values), size)
    return f"file header: {value} at {at}"


def schema_text(data: bytearray, layout: Layout, rng: Random) -> str:
    old, new = rng.choice(
        (
            *((b"INTEGER", b"NUMERIC"), (b"INTEGER", b"TEXT   "), (b"INTEGER", b"BLOB   "), (b"INTEGER", b"REAL   ")),
            *((b"INTEGER", b"       "), (b"TEXT", b"INT "), (b"TEXT", b"BLOB"), (b"TEXT", b"REAL"), (b"TEXT", b"DATE")),
            *((b"CREATE TABLE", b"CREATE VIEW "), (b'"start"', b'"Start"'), (b'"end"', b'"eNd"'), (b'"', b"\xff")),
        )
    )
    changed = bytes(data).replace(old, new, rng.choice((1, 3, 10_000)))
    data[:] = changed
    return f"{old!r} is {new!r} in the schema"


Damage = Callable[[bytearray, Layout, Random], str]
DAMAGES: tuple[Damage, ...] = (
    *(flip_anywhere, flip_in_page, flip_in_page, page_header, cell_pointer, payload_length, record_header),
    *(record_header, row_values, row_values, child_pointer, next_page, page_over_page, truncation, extension),
    *(file_header, schema_text),
)
