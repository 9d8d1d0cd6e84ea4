"""The page reader gives what sqlite3 gives, or says that it cannot: never another row."""

import random
import sqlite3
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shared_traces import SHARED, TRACES, needs_shared_traces
from wallsplit.errors import TraceError
from wallsplit.trace.pages import read_table
from wallsplit.trace.tables import TableInfo, table_info

Row: TypeAlias = tuple[object, ...]

INTEGERS = st.one_of(
    st.sampled_from([0, 1, -1, 127, 128, -129, 2**15, -(2**23), 2**31, -(2**47), 2**47, 2**63 - 1, -(2**63)]),
    st.integers(-(2**63), 2**63 - 1),
)
REALS = st.one_of(st.floats(), st.integers(-(2**53), 2**53).map(float), st.sampled_from([0.0, -0.0, 1.0, 1e300]))
TEXTS = st.one_of(
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=12),  # mostly no UTF-8
    st.sampled_from([b"", b"a", b"a\0", b"aten::add", b"x" * 57, b"x" * 58, b"y" * 1_100, "é".encode() * 5_000]),
)
VALUES = {"INTEGER": INTEGERS, "BIGINT": INTEGERS, "REAL": REALS, "double": REALS, "TEXT": TEXTS, "VARCHAR(9)": TEXTS}
DEFAULTS = {
    "INTEGER": ("", "DEFAULT 0", "DEFAULT -7", "DEFAULT '12'"),
    "BIGINT": ("", "DEFAULT 0x10", "DEFAULT TRUE"),
    "REAL": ("", "DEFAULT 1", "DEFAULT -2.5e3"),
    "double": ("", "DEFAULT .5"),
    "TEXT": ("", "DEFAULT 'it''s'", "DEFAULT ''", "DEFAULT 5"),
    "VARCHAR(9)": ("", "DEFAULT NULL"),
}


@dataclass(frozen=True)
class Layout:
    """How a database is laid out in its file; what is in it does not depend on this."""

    page_size: int = 512
    reserved: int = 0
    auto_vacuum: str = "NONE"


@dataclass(frozen=True)
class Contents:
    """One table `t`, whose `added` columns came by ALTER TABLE after the first half of its rows."""

    types: tuple[str, ...]
    added: tuple[tuple[str, str], ...] = ()
    rows: tuple[Row, ...] = ()
    rowids: tuple[int, ...] = ()
    has_key: bool = False
    deleted: int = 0  # every so manieth row is deleted again
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = (f"c{number}" for number in range(len(self.types) + len(self.added)))
        object.__setattr__(self, "columns", (*(("key",) if self.has_key else ()), *names))


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    return Layout(
        page_size=draw(st.sampled_from([512, 1024, 4096, 65536])),
        reserved=draw(st.sampled_from([0, 0, 8, 32])),
        auto_vacuum=draw(st.sampled_from(["NONE", "FULL", "INCREMENTAL"])),
    )


@st.composite
def contents(draw: st.DrawFn) -> Contents:
    types = tuple(draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=5)))
    added_types = draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=2))
    added = tuple((kind, draw(st.sampled_from(DEFAULTS[kind]))) for kind in added_types)
    row = st.tuples(*(st.none() | VALUES[kind] for kind in (*types, *added_types)))
    few = draw(st.lists(row, max_size=12))
    rows = few * draw(st.sampled_from([1, 1, 3, 30]))
    start, step = draw(st.sampled_from([(1, 1), (-90, 1), (-(2**63), 2**55), (2**40, 1_000_003)]))
    return Contents(
        types=types,
        added=added,
        rows=tuple(rows),
        rowids=tuple(start + step * number for number in range(len(rows))),
        has_key=draw(st.booleans()),
        deleted=draw(st.sampled_from([0, 0, 2, 3])),
    )


def write(path: Path, layout: Layout, table: Contents) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size = {layout.page_size}")
        db.execute(f"PRAGMA auto_vacuum = {layout.auto_vacuum}")
        db.execute("PRAGMA user_version = 1")
    if layout.reserved:
        reserve(path, layout)
    key = ["key INTEGER PRIMARY KEY"] if table.has_key else []
    declared = [f"c{number} {kind}" for number, kind in enumerate(table.types)]
    middle = len(table.rows) // 2
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute(f"CREATE TABLE t({', '.join(key + declared)})")
        insert(db, table.types, table.rowids[:middle], table.rows[:middle])
        for number, (kind, default) in enumerate(table.added, len(table.types)):
            db.execute(f"ALTER TABLE t ADD COLUMN c{number} {kind} {default}")
        all_types = (*table.types, *(kind for kind, _ in table.added))
        insert(db, all_types, table.rowids[middle:], table.rows[middle:])
        if table.deleted:
            doomed = table.rowids[:: table.deleted]
            db.executemany("DELETE FROM t WHERE rowid = ?", [(rowid,) for rowid in doomed])
        db.commit()


def reserve(path: Path, layout: Layout) -> None:
    """Leave the last bytes of every page to an extension, as the header of a database without tables says."""
    file = bytearray(path.read_bytes())
    file[20] = layout.reserved
    file[105:107] = ((layout.page_size - layout.reserved) % 65536).to_bytes(2, "big")
    path.write_bytes(file)


def insert(db: sqlite3.Connection, types: Sequence[str], rowids: Sequence[int], rows: Sequence[Row]) -> None:
    columns = ", ".join(f"c{number}" for number in range(len(types)))
    values = ", ".join("CAST(? AS TEXT)" if VALUES[kind] is TEXTS else "?" for kind in types)
    sql = f"INSERT INTO t(rowid, {columns}) VALUES (?, {values})"
    db.executemany(sql, [(rowid, *row[: len(types)]) for rowid, row in zip(rowids, rows, strict=True)])
    db.commit()


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield db


@contextmanager
def database(layout: Layout, table: Contents) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.sqlite"
        write(path, layout, table)
        yield path


def selected(db: sqlite3.Connection, table: TableInfo, columns: Sequence[str]) -> list[Row]:
    names = ", ".join(f'"{name}"' for name in columns)
    return [bits(row) for row in db.execute(f'SELECT {names} FROM "{table.name}" NOT INDEXED')]


def bits(row: Row) -> Row:
    """Return the row with its reals as bytes: -0.0 is not 0.0."""
    return tuple(struct.pack("<d", value) if isinstance(value, float) else value for value in row)


def rows_of(frame: pl.DataFrame) -> list[Row]:
    return [bits(row) for row in frame.rows()]


def read(path: Path, columns: Sequence[str], name: str = "t", threads: int = 2) -> pl.DataFrame | None:
    with opened(path) as db:
        return read_table(path, table_info(db, name), columns, threads=threads, text=pl.String)


def sqlite_rows(path: Path, columns: Sequence[str], name: str = "t") -> list[Row]:
    with opened(path) as db:
        return selected(db, table_info(db, name), columns)


def assert_equals_sqlite(path: Path, columns: Sequence[str], name: str = "t") -> None:
    frame = read(path, columns, name)
    assert frame is not None, "the table should be readable without sqlite3"
    assert frame.columns == list(columns)
    assert rows_of(frame) == sqlite_rows(path, columns, name)


@given(layouts(), contents(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_table_of_declared_types_reads_as_in_sqlite(layout: Layout, table: Contents, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.sampled_from(table.columns), min_size=1, unique=True))
    with database(layout, table) as path:
        assert_equals_sqlite(path, columns)


@given(contents(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_value_of_another_type_is_left_to_sqlite_unless_it_is_equal(table: Contents, data: st.DataObject) -> None:
    anything = st.none() | INTEGERS | REALS | st.text(max_size=5) | st.binary(max_size=5)
    stranger = data.draw(st.tuples(st.sampled_from(table.columns), anything))
    with database(Layout(), table) as path:
        with closing(sqlite3.connect(path)) as db:
            try:
                db.execute(f"INSERT INTO t({stranger[0]}) VALUES (?)", (stranger[1],))
            except (sqlite3.IntegrityError, sqlite3.OperationalError):
                return  # the key takes integers only, and no row id above the largest
            db.commit()
        frame = read(path, table.columns)
        assert frame is None or rows_of(frame) == sqlite_rows(path, table.columns)


@given(layouts(), contents(), st.integers(0, 2**32), st.integers(0, 6), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_gives_the_rows_of_sqlite_or_nothing(
    layout: Layout, table: Contents, seed: int, flips: int, cut: bool
) -> None:
    with database(layout, table) as path:
        path.write_bytes(damaged(path.read_bytes(), layout.page_size, random.Random(seed), flips, cut))
        try:
            with opened(path) as db:
                info = table_info(db, "t")
        except (sqlite3.DatabaseError, UnicodeDecodeError, KeyError):
            return  # the schema is gone: there is no table to read
        assume("\ufffd" not in "".join(info.columns))  # sqlite3 takes a name that it does not know for a text
        try:
            frame = read_table(path, info, info.columns, text=pl.String)
        except TraceError as error:
            assert "\n" not in str(error)
            return
        if frame is not None:
            assert rows_of(frame) == sqlite_rows(path, info.columns)


def damaged(file: bytes, page_size: int, chance: random.Random, flips: int, cut: bool) -> bytes:
    """Return the file with some bytes changed, half of them in page headers and pointers, perhaps its end cut off."""
    changed = bytearray(file)
    for _ in range(flips):
        page = chance.randrange(len(file) // page_size)
        offset = chance.randrange(40) if chance.random() < 0.5 else chance.randrange(page_size)
        changed[page * page_size + offset] = chance.choice([0, 1, 5, 13, 127, 128, 255, chance.randrange(256)])
    return bytes(changed[: chance.randrange(len(file) + 1)] if cut else changed)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER) WITHOUT ROWID",
        "CREATE TABLE t(a INTEGER, b INTEGER AS (a + 1))",
        "CREATE TABLE t(a INTEGER, b INTEGER AS (a + 1) STORED)",
        "CREATE TABLE t(a INTEGER, b BLOB)",
        "CREATE TABLE t(a INTEGER, b)",
        "CREATE TABLE t(a INTEGER, b INTEGER DEFAULT (abs(-1)))",
        "CREATE VIRTUAL TABLE t USING fts5(a, b)",
    ],
)
def test_a_table_out_of_the_ordinary_is_left_to_sqlite(statement: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "trace.sqlite")) as db:
        db.execute(statement)
        db.execute("INSERT INTO t(a) VALUES (1)")
        db.commit()
    assert read(tmp_path / "trace.sqlite", ["a", "b"]) is None


def test_texts_in_another_encoding_are_left_to_sqlite(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "trace.sqlite")) as db:
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE TABLE t(a TEXT)")
    assert read(tmp_path / "trace.sqlite", ["a"]) is None


@pytest.mark.parametrize("version", [0, 3, 255])
def test_a_format_version_not_known_is_left_to_sqlite(version: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER",)))
    with opened(path) as db:
        info = table_info(db, "t")
    file = bytearray(path.read_bytes())
    file[19] = version
    path.write_bytes(file)
    assert read_table(path, info, ["c0"]) is None


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_database_continued_in_a_journal_is_left_to_sqlite(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER",), rows=((1,),), rowids=(1,)))
    (tmp_path / f"trace.sqlite{ending}").write_bytes(b"pages")
    assert read(path, ["c0"]) is None


def test_a_descending_integer_key_is_an_ordinary_column(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b INTEGER)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(30, 1), (20, 2)])
        db.commit()
    assert_equals_sqlite(path, ["a", "b"])


def test_an_empty_table_has_its_columns_types(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER", "REAL", "TEXT")))
    frame = read(path, ["c2", "c0", "c1"])
    assert frame is not None
    assert frame.schema == pl.Schema({"c2": pl.String, "c0": pl.Int64, "c1": pl.Float64})
    assert frame.height == 0


def test_texts_that_decode_to_the_same_characters_are_one_category(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    rows = ((b"caf\xff",), (b"caf\xfe",), (None,), ("caf\ufffd".encode(),))
    write(path, Layout(), Contents(types=("TEXT",), rows=rows, rowids=(1, 2, 3, 4)))
    with opened(path) as db:
        frame = read_table(path, table_info(db, "t"), ["c0"], text=pl.Categorical)
    assert frame is not None
    assert frame["c0"].to_list() == ["caf\ufffd", "caf\ufffd", None, "caf\ufffd"]
    assert frame["c0"].to_physical().n_unique() == 2  # one category, and null


def test_every_number_of_threads_reads_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    rows = tuple((number * 7, b"step %d" % (number % 900), number / 3) for number in range(20_000))
    table = Contents(types=("INTEGER", "TEXT", "REAL"), rows=rows, rowids=tuple(range(20_000)))
    write(path, Layout(), table)
    expected = sqlite_rows(path, table.columns)
    for threads in (1, 2, 3, 8):
        frame = read(path, table.columns, threads=threads)
        assert frame is not None
        assert rows_of(frame) == expected


def test_a_truncated_file_is_named_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    rows = tuple((number,) for number in range(2_000))
    write(path, Layout(), Contents(types=("INTEGER",), rows=rows, rowids=tuple(range(2_000))))
    with opened(path) as db:
        info = table_info(db, "t")
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(TraceError, match=r"trace\.sqlite: the database is truncated or corrupt \(.*\); export"):
        read_table(path, info, ["c0"])


def test_a_tree_that_bites_its_tail_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    rows = tuple((number,) for number in range(2_000))
    write(path, Layout(), Contents(types=("INTEGER",), rows=rows, rowids=tuple(range(2_000))))
    with opened(path) as db:
        root = table_info(db, "t").root_page
    file = bytearray(path.read_bytes())
    file[(root - 1) * 512 + 8 : (root - 1) * 512 + 12] = root.to_bytes(4, "big")  # the rightmost child
    path.write_bytes(file)
    with pytest.raises(TraceError, match="a page belongs to two places"):
        read(path, ["c0"])


def test_a_chain_of_overflow_pages_that_bites_its_tail_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER", "TEXT"), rows=((7, b"x" * 5_000),), rowids=(1,)))
    file = bytearray(path.read_bytes())
    second_page = file.index(b"x" * 508, 1024) // 512 + 1
    file[(second_page - 1) * 512 : (second_page - 1) * 512 + 4] = second_page.to_bytes(4, "big")
    path.write_bytes(file)
    with pytest.raises(TraceError, match="a page belongs to two places"):
        read(path, ["c1"])
    assert_equals_sqlite(path, ["c0"])  # in front of the text: its chain is not followed


@pytest.mark.parametrize(
    ("serial_type", "complaint"),
    [
        (10, "a type that does not exist"),
        (11, "a type that does not exist"),
        (1, "length is not that of its values"),  # a byte that the row does not have
        (255, "a type that does not exist"),  # and more to follow, behind the header's end
    ],
)
def test_a_header_that_does_not_fit_its_row_is_corrupt(serial_type: int, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER",), rows=((1,),), rowids=(1,)))
    file = path.read_bytes()
    assert file.endswith(bytes([2, 1, 2, 9]))  # two bytes, row id 1: a header of two bytes, the constant 1
    path.write_bytes(file[:-1] + bytes([serial_type]))
    with pytest.raises(TraceError, match=complaint):
        read(path, ["c0"])


@pytest.mark.parametrize(
    ("whole", "damaged", "complaint"),
    [
        ([3, 2, 2, 1, 22], [3, 2, 0, 1, 22], "header has an impossible length"),  # no header at all
        ([3, 2, 2, 1, 22], [3, 2, 9, 1, 22], "header has an impossible length"),  # longer than its record
        ([3, 2, 2, 1, 22], [3, 2, 2, 2, 22], "length is not that of its values"),  # two bytes where one is stored
        ([3, 1, 2, 1, 11], [5, 1, 2, 3, 11], "a row runs over the end of its page"),  # the first row lies at the end
    ],
)
def test_one_damaged_record_among_whole_ones_is_enough(
    whole: list[int], damaged: list[int], complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER",), rows=((11,), (22,), (33,)), rowids=(1, 2, 3)))
    file = path.read_bytes()
    assert file.count(bytes(whole)) == 1
    path.write_bytes(file.replace(bytes(whole), bytes(damaged)))
    with pytest.raises(TraceError, match=complaint):
        read(path, ["c0"])


@pytest.mark.parametrize("cell", [0, 8 + 2 * 3 - 1, 512 - 3, 512, 0xFFFF])
def test_a_cell_outside_its_page_is_corrupt(cell: int, tmp_path: Path) -> None:
    """Before the end of the page's own header and pointers, or too near its end for a cell."""
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("INTEGER",), rows=((11,), (22,), (33,)), rowids=(1, 2, 3)))
    file = bytearray(path.read_bytes())
    pointer = 512 + 8 + 2  # of the second of three rows
    assert file[pointer : pointer + 2] == (512 - 10).to_bytes(2)
    file[pointer : pointer + 2] = cell.to_bytes(2)
    path.write_bytes(file)
    with pytest.raises(TraceError, match="a cell lies outside its page"):
        read(path, ["c0"])


def test_long_texts_are_told_apart_to_their_last_byte(tmp_path: Path) -> None:
    """Texts of about a thousand bytes are where the reader changes from words to single texts."""
    path = tmp_path / "trace.sqlite"
    rows = tuple((b"x" * length + last,) for length in range(990, 1_050) for last in (b"a", b"b", b"a"))
    write(path, Layout(page_size=4096), Contents(types=("TEXT",), rows=rows, rowids=tuple(range(len(rows)))))
    assert_equals_sqlite(path, ["c0"])


def test_a_stored_nan_is_null_as_in_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write(path, Layout(), Contents(types=("REAL",), rows=((0.1,), (0.2,)), rowids=(1, 2)))
    path.write_bytes(path.read_bytes().replace(struct.pack(">d", 0.1), struct.pack(">d", float("nan"))))
    assert_equals_sqlite(path, ["c0"])
    assert sqlite_rows(path, ["c0"])[0] == (None,)


@needs_shared_traces
@pytest.mark.parametrize("name", TRACES)
def test_a_real_trace_reads_as_sqlite_reads_it(name: str) -> None:
    assert SHARED
    path = TRACES[name]
    with opened(path) as db:
        names = [str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in (table_info(db, each) for each in names):
            columns = [column for number, column in enumerate(table.columns) if table.affinity(number) != "BLOB"]
            frame = read_table(path, table, columns, text=pl.String)
            rows = selected(db, table, columns)
            assert (frame is None) == holds_strangers(table, columns, rows), table.name
            assert frame is None or rows_of(frame) == rows, table.name


def holds_strangers(table: TableInfo, columns: Sequence[str], rows: Sequence[Row]) -> bool:
    """Return whether a column that declares integers holds something else: `nsys stats` leaves such tables behind."""
    strict = [
        number for number, column in enumerate(columns) if table.affinity(table.columns.index(column)) == "INTEGER"
    ]
    return any(not isinstance(row[number], int | None) for row in rows for number in strict)
