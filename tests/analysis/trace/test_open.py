"""Opening: what a file is, in one sentence; real tables only; the user's file and its folder stay untouched."""

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from builders import TraceBuilder
from shared_traces import SHARED, TRACES, needs_shared_traces
from wallsplit.errors import TraceError
from wallsplit.model import load
from wallsplit.trace import Trace


def a_trace(path: Path) -> Path:
    return TraceBuilder(path).api("cudaLaunchKernel", 0, 5, corr=1).kernel(6, 9, corr=1).write()


def sql(path: Path, *statements: str) -> Path:
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return path


def missing(folder: Path) -> Path:
    return folder / "missing.sqlite"


def a_folder(folder: Path) -> Path:
    (folder / "d").mkdir()
    return folder / "d"


def written(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def truncated(folder: Path) -> Path:
    path = a_trace(folder / "cut.sqlite")
    path.write_bytes(path.read_bytes()[:-4096])
    return path


def with_journal(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = a_trace(folder / "j.sqlite")
        path.with_name(path.name + suffix).write_bytes(b"x")
        return path

    return make


def hostile_view(folder: Path) -> Path:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS 'end' FROM n"
    return sql(a_trace(folder / "v.sqlite"), f"CREATE VIEW NVTX_EVENTS AS {endless}")


def virtual_table(folder: Path) -> Path:
    return sql(a_trace(folder / "f.sqlite"), "CREATE VIRTUAL TABLE OSRT_API USING fts5(start)")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (missing, "no such file"),
        (a_folder, "is a folder"),
        (written("e.sqlite", b""), "is empty"),
        (written("n.sqlite", b"hello" * 50), "is not an SQLite file"),
        (written("z.sqlite", bytes(5000)), "interrupted export"),
        (written("s.sqlite", b"SQLite format 3\0" + bytes(20)), "is truncated"),
        (written("r.nsys-rep", b"\x01report"), "nsys export --type sqlite -o r.sqlite r.nsys-rep"),
        (written("r.qdrep", b"\x01report"), "nsys export --type sqlite"),
        (written("r.qdstrm", b"\x01stream"), "QdstrmImporter"),
        (truncated, "is truncated"),
        (with_journal("-wal"), "j.sqlite-wal"),
        (with_journal("-journal"), "j.sqlite-journal"),
        (lambda folder: sql(folder / "o.sqlite", "CREATE TABLE t(a)"), "not an nsys export"),
        (
            lambda folder: sql(
                folder / "p.nvvp",
                "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(a)",
                "CREATE TABLE StringTable(a)",
            ),
            "nvprof",
        ),
        (hostile_view, "NVTX_EVENTS is a view"),
        (virtual_table, "OSRT_API is a view or virtual table"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence_that_names_it(
    tmp_path: Path, make: Callable[[Path], Path], says: str
) -> None:
    path = make(tmp_path)
    with pytest.raises(TraceError) as caught:
        Trace.open(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert says in message
    assert "\n" not in message


@needs_shared_traces
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("corrupt_truncated", "truncated"),
        ("corrupt_zeroed_header", "interrupted"),
        ("not_a_database", "not an SQLite file"),
        ("nvprof_nvvp_t4", "nvprof"),
    ],
)
def test_the_broken_shared_files_are_recognised(name: str, says: str) -> None:
    assert SHARED is not None
    with pytest.raises(TraceError, match=says):
        load(Trace.open(SHARED / "traces" / f"{name}.sqlite"))


def test_an_empty_journal_left_behind_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = a_trace(tmp_path / "t.sqlite")
    (tmp_path / "t.sqlite-wal").touch()
    assert load(Trace.open(path)).kernels.height == 1


@pytest.mark.parametrize(
    "name", ["with space.sqlite", "50%.sqlite", "a#b?c.sqlite", "žluť-轨迹.sqlite", "q'\"uote.sqlite"]
)
def test_any_file_name_opens_and_neither_file_nor_folder_is_touched(tmp_path: Path, name: str) -> None:
    path = a_trace(tmp_path / "sub" / name)
    before = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    assert load(Trace.open(path)).kernels.height == 1
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == before
    assert [p.name for p in path.parent.iterdir()] == [name]


def test_a_read_only_folder_is_no_obstacle(tmp_path: Path) -> None:
    path = a_trace(tmp_path / "ro" / "t.sqlite")
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert load(Trace.open(path)).kernels.height == 1
    finally:
        path.parent.chmod(0o700)


@needs_shared_traces
@pytest.mark.parametrize("name", list(TRACES))
def test_every_shared_trace_opens_and_stays_as_it_was(name: str) -> None:
    path = TRACES[name]
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    load(Trace.open(path))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert not list(path.parent.glob(f"{path.name}-*"))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = a_trace(tmp_path / "t.sqlite")
    trace = Trace.open(path)
    os.utime(path, ns=(1, 1))
    with pytest.raises(TraceError, match="changed while it was read"):
        load(trace)


def test_a_file_that_vanishes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = a_trace(tmp_path / "t.sqlite")
    trace = Trace.open(path)
    path.unlink()
    with pytest.raises(TraceError, match="vanished"):
        trace.check_unchanged()


def test_a_damaged_page_is_one_sentence_not_a_wrong_number(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    for i in range(2_000):
        build.kernel(i, i + 1)
    path = build.write()
    raw = bytearray(path.read_bytes())
    raw[4096 * 3 : 4096 * 6] = os.urandom(4096 * 3)
    path.write_bytes(raw)
    with pytest.raises(TraceError, match=r"t\.sqlite: "):
        load(Trace.open(path))


def test_text_in_a_number_column_is_refused(tmp_path: Path) -> None:
    path = sql(a_trace(tmp_path / "t.sqlite"), "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon'")
    with pytest.raises(TraceError, match=r"column start of table CUPTI_ACTIVITY_KIND_KERNEL"):
        load(Trace.open(path))


def test_a_view_that_nsys_does_not_know_is_never_run(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    path = sql(a_trace(tmp_path / "t.sqlite"), f"CREATE VIEW mine AS {endless}")
    assert load(Trace.open(path)).kernels.height == 1


def test_a_scan_reads_only_the_columns_a_query_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace.open(a_trace(tmp_path / "t.sqlite"))
    asked: list[list[str]] = []
    read = type(trace.source).read

    def spy(self: object, table: str, columns: list[str]) -> pl.DataFrame:
        asked.append(list(columns))
        return read(self, table, columns)  # type: ignore[arg-type]

    monkeypatch.setattr(type(trace.source), "read", spy)
    lazy = trace.scan("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "end", "deviceId", "gridX"])
    assert lazy.select(pl.col("end").max()).collect().item() == 9
    assert asked == [["end"]]


def test_a_column_or_table_the_export_lacks_is_null_or_empty(tmp_path: Path) -> None:
    trace = Trace.open(a_trace(tmp_path / "t.sqlite"))
    assert trace.scan("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "gridX"]).collect().rows() == [(6, None)]
    assert trace.scan("MPI_P2P_EVENTS", ["start"]).collect().height == 0


def test_only_tables_and_columns_of_the_one_table_are_read(tmp_path: Path) -> None:
    trace = Trace.open(a_trace(tmp_path / "t.sqlite"))
    with pytest.raises(LookupError, match=r"trace/raw\.py lists no table KERNEL"):
        trace.scan("KERNEL", ["start"])
    with pytest.raises(LookupError, match=r"trace/raw\.py lists no column gridW, smX of CUPTI_ACTIVITY_KIND_KERNEL"):
        trace.scan("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "smX", "gridW"])


def test_a_table_and_columns_of_older_names_are_read_under_todays(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").api("cudaFree", 1, 2)
    build.add("TARGET_INFO_CUDA_GPU", deviceId=3, name="V100", coreClockRate=1_530_000, numMultiprocessors=80)
    trace = Trace.open(build.write())
    rows = trace.scan("TARGET_INFO_GPU", ["clockRate", "name", "smCount", "id", "totalMemory"]).collect()
    assert rows.rows() == [(1_530_000_000, "V100", 80, 3, None)]
    assert trace.has("TARGET_INFO_GPU", "smCount")
    assert not trace.has("TARGET_INFO_GPU", "memoryBandwidth")


def test_of_a_table_under_both_names_the_older_counts(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").api("cudaFree", 1, 2)
    build.add("TARGET_INFO_GPU", deviceId=3, name="V100")
    build.add("TARGET_INFO_CUDA_GPU", deviceId=3, name="V100", numMultiprocessors=80)
    assert Trace.open(build.write()).scan("TARGET_INFO_GPU", ["smCount"]).collect().rows() == [(80,)]


def test_a_column_of_texts_that_holds_numbers_is_read_as_texts(tmp_path: Path) -> None:
    path = TraceBuilder(tmp_path / "t.sqlite").api("cudaFree", 1, 2).write()
    sql(path, "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text INTEGER)")
    sql(path, "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 8), (3, NULL)")
    assert Trace.open(path).scan("DIAGNOSTIC_EVENT", ["severity", "text"]).collect().rows() == [(2, "8"), (3, None)]


def test_no_text_is_no_text_where_sqlite_itself_reads(tmp_path: Path) -> None:
    path = TraceBuilder(tmp_path / "t.sqlite").api("cudaFree", 1, 2).write()
    sql(path, "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text)")  # no type: not a table for the page reader
    sql(path, "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'said'), (3, NULL), (4, x'ff'), (5, 6)")
    texts = Trace.open(path).scan("DIAGNOSTIC_EVENT", ["text"]).collect()["text"]
    assert texts.to_list() == ["said", None, "\ufffd", "6"]


def test_invalid_utf8_is_decoded_with_replacement(tmp_path: Path) -> None:
    path = a_trace(tmp_path / "t.sqlite")
    db = sqlite3.connect(path)
    db.execute("UPDATE StringIds SET value = CAST(? AS TEXT) WHERE value = 'k'", (b"bad\xff\xfename",))
    db.commit()
    db.close()
    model = load(Trace.open(path))
    assert model.names.text(model.kernels["name"]).to_list() == ["bad\ufffd\ufffdname"]


@pytest.mark.parametrize("declared", ["", "REAL", "NUMERIC", "TEXT", "BLOB"])
def test_whole_numbers_are_read_whatever_their_columns_declare(tmp_path: Path, declared: str) -> None:
    """Tools that copy tables (CREATE TABLE … AS SELECT, data frames) forget the types."""
    path = sql(
        a_trace(tmp_path / "t.sqlite"),
        f"CREATE TABLE copied (start {declared}, end {declared}, correlationId {declared}, globalPid {declared})",
        "INSERT INTO copied SELECT start, end, correlationId, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL",
        "ALTER TABLE copied RENAME TO CUPTI_ACTIVITY_KIND_KERNEL",
    )
    kernels = load(Trace.open(path)).kernels
    assert kernels.select("start", "end", "correlation_id", "pid").rows() == [(6, 9, 1, 1)]


def rewritten(path: Path, declared: str, start: int) -> Path:
    """Return a trace whose kernels have one start, in a column declared so."""
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    columns = f"(start {declared}, end {declared})"
    rows = f"INSERT INTO {table} VALUES ({start}, {start + 1})"
    return sql(a_trace(path), f"DROP TABLE {table}", f"CREATE TABLE {table} {columns}", rows)


@pytest.mark.parametrize("declared", ["NUMERIC", "DECIMAL(20, 0)", "DATE", "TEXT", "INTEGER", ""])
@pytest.mark.parametrize("start", [2**53 + 1, -(2**53) - 1, 1_760_000_000_123_456_789])
def test_whole_numbers_beyond_the_reach_of_reals_are_exact(tmp_path: Path, declared: str, start: int) -> None:
    path = rewritten(tmp_path / "t.sqlite", declared, start)
    assert Trace.open(path).scan("CUPTI_ACTIVITY_KIND_KERNEL", ["start"]).collect()["start"].to_list() == [start]


@pytest.mark.parametrize(("declared", "start"), [("REAL", 2**53 + 2), ("DOUBLE", -(2**60))])
def test_reals_that_may_have_been_rounded_are_refused(tmp_path: Path, declared: str, start: int) -> None:
    path = rewritten(tmp_path / "t.sqlite", declared, start)
    with pytest.raises(TraceError, match=r"holds reals beyond 2\^53, which may have been rounded; export"):
        load(Trace.open(path))


@pytest.mark.parametrize("value", ["6.5", "'six'"])
def test_what_is_no_whole_number_is_named_with_its_column(tmp_path: Path, value: str) -> None:
    path = sql(
        a_trace(tmp_path / "t.sqlite"),
        "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end INTEGER)",
        f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({value}, 9)",
    )
    with pytest.raises(TraceError, match=r"column start of table CUPTI_ACTIVITY_KIND_KERNEL .* no whole numbers"):
        load(Trace.open(path))


def test_a_schema_that_is_broken_at_length_is_told_in_short(tmp_path: Path) -> None:
    path = sql(
        a_trace(tmp_path / "t.sqlite"),
        f"CREATE TABLE t{'x' * 300_000} (a)",
        "PRAGMA writable_schema = on",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE broken' WHERE name LIKE 'tx%'",
    )
    with pytest.raises(
        TraceError, match=r"SQLite cannot read it \(malformed database schema .*; copy it again"
    ) as error:
        load(Trace.open(path))
    assert len(str(error.value)) < 500


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.sqlite")
    with pytest.raises(TraceError, match="is no plain file"):
        Trace.open(tmp_path / "t.sqlite")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_a_file_name_that_is_no_text_opens(tmp_path: Path) -> None:
    a_trace(tmp_path / "t.sqlite").rename(path := tmp_path / os.fsdecode(b"\xff.sqlite"))
    assert load(Trace.open(path)).kernels.height == 1
