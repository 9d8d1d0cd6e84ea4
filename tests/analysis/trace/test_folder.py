"""Folder exports: the same trace as the SQLite export of the same report, or one sentence why not."""

import dataclasses
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import TraceBuilder
from shared_traces import TRACES, needs_shared_traces
from wallsplit.errors import CaptureError, TraceError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.model.annotations import Annotations
from wallsplit.model.correlation import Correlation
from wallsplit.model.samples import CpuSamples
from wallsplit.trace import Trace
from wallsplit.trace.raw import TABLES as RAW_TABLES
from wallsplit_scripts import nsys

SUFFIXES = {"parquetdir": ".parquet", "arrowdir": ".arrow"}
TABLES = tuple(name for table in RAW_TABLES for name in table.names)
every_type = pytest.mark.parametrize("kind", SUFFIXES)

PROGRAM = """
import importlib.util, threading, time

def step():
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start()
    thread.join()

for _ in range(3):
    if importlib.util.find_spec("nvtx"):
        import nvtx
        with nvtx.annotate("step"), nvtx.annotate("schön", domain="lib", color="red", payload=7):
            step()
        nvtx.mark("done")
    else:
        step()
"""
NO_UTF8 = "WALLSPLIT_TEST=a\udcffb"
"""Of the program's environment, which nsys keeps in StringIds; written as the byte FF."""


def write_table(frame: pl.DataFrame, file: Path) -> None:
    """Write a table in the types nsys gives it: unsigned ids, plain text."""
    typed = frame.with_columns(
        pl.col(pl.Categorical).cast(pl.String),
        *(pl.col(name).reinterpret(signed=False) for name in frame.columns if name.startswith("global")),
        *(pl.col(name).cast(pl.UInt32) for name in frame.columns if name in ("deviceId", "eventType", "copyKind")),
    )
    if file.suffix == ".parquet":
        typed.write_parquet(file)
    else:
        typed.write_ipc_stream(file)


def as_folder(trace: Path, folder: Path, kind: str) -> Path:
    """Write the tables of an SQLite export as nsys writes the folder export of the same report."""
    folder.mkdir(parents=True)
    source = Trace.open(trace).source
    for table in TABLES:
        if table in source.tables:
            write_table(source.read(table, source.tables[table].names()), folder / (table + SUFFIXES[kind]))
    return folder


def a_folder(tmp_path: Path, kind: str, name: str = "export") -> Path:
    builder = TraceBuilder(tmp_path / f"{name}.sqlite").api("cudaLaunchKernel", 0, 5, corr=1).kernel(6, 9, corr=1)
    return as_folder(builder.range("step", 0, 10).write(), tmp_path / name, kind)


def assert_same(found: Model, expected: Model) -> None:
    assert_same_fields(found, expected)
    assert ledgers(found) == ledgers(expected)


def assert_same_fields(found: Model | CpuSamples, expected: Model | CpuSamples) -> None:
    for field in dataclasses.fields(found):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(one, pl.DataFrame):
            assert_frame_equal(one, other)
        elif isinstance(one, Annotations):
            assert_frame_equal(one.frame, other.frame)
        elif isinstance(one, CpuSamples):
            assert_same_fields(one, other)
        elif isinstance(one, Correlation):
            for numbers, expected_numbers in zip(
                (one.calls, *one.operations), (other.calls, *other.operations), strict=True
            ):
                assert (numbers == expected_numbers).all()
        elif field.name == "names":
            assert one.texts.to_list() == other.texts.to_list()
        elif field.name == "not_used":
            assert set(one) <= set(other)  # some of these folders hold the tables that are read, and no others
        else:
            assert one == other, field.name


def ledgers(model: Model) -> list[object]:
    window = default_window(model)
    return [] if window is None else [book(activity, [window])[0] for activity in activities(model)]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a report recorded now, exported as each type; `all-` with the tables that have no rows too."""
    try:
        tool = nsys.locate()
    except CaptureError as error:
        if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("report")

    def run(*argv: str | Path) -> None:
        environment = os.environ | dict([NO_UTF8.split("=")])
        subprocess.run([tool, *argv], cwd=folder, env=environment, check=True, timeout=120, capture_output=True)

    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    recording = ("-t", "nvtx,osrt", "--sample=none", "--cpuctxsw=none", "-o", "report")
    run("profile", *recording, sys.executable, "program.py")
    for kind in ("sqlite", *SUFFIXES):
        run("export", "--type", kind, "-o", kind, "report.nsys-rep")
        run("export", "--type", kind, "--lazy=false", "-o", f"all-{kind}", "report.nsys-rep")
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.nsys
@every_type
def test_a_folder_that_nsys_wrote_is_the_same_trace_as_its_sqlite_export(exports: dict[str, Path], kind: str) -> None:
    trace, reference = Trace.open(exports[kind]), Trace.open(exports["sqlite"])
    model = load(trace)
    assert_same(model, load(reference))
    assert trace.format == f"nsys-{kind}"
    assert model.osrt.height > 0
    assert model.nvtx.height in ((6,) if importlib.util.find_spec("nvtx") else (0,))


@pytest.mark.nsys
@every_type
def test_every_column_of_every_event_table_nsys_wrote_equals_its_sqlite_export(
    exports: dict[str, Path], kind: str
) -> None:
    folder, sqlite = Trace.open(exports[kind]).source, Trace.open(exports["sqlite"]).source
    shared = [table for table in folder.tables if table != "META_DATA_EXPORT"]  # holds the export's own file name
    assert {"OSRT_API", "StringIds", "ThreadNames"} <= set(shared)
    for table in shared:
        columns = sqlite.tables[table].names()
        assert_frame_equal(folder.read(table, columns), sqlite.read(table, columns))


@pytest.mark.nsys
@every_type
def test_the_columns_of_every_table_are_those_of_the_sqlite_export(exports: dict[str, Path], kind: str) -> None:
    folder, sqlite = Trace.open(exports[f"all-{kind}"]).source.tables, Trace.open(exports["all-sqlite"]).source.tables
    cuda = [table for table in sqlite if table.startswith("CUPTI_ACTIVITY_KIND")]  # needs no GPU: they are empty
    assert len(cuda) > 3
    # A few tables, none of which a model reads, have no file while they are empty.
    assert {table: folder[table] for table in folder} == {table: sqlite[table] for table in folder}
    in_no_folder = {"META_DATA_CAPTURE"}  # nsys 2023.4 writes it to no folder, rows or not
    assert {table for table in TABLES if table in sqlite} - in_no_folder <= set(folder)


@pytest.mark.nsys
@every_type
def test_text_that_is_no_utf8_is_decoded_with_replacement(exports: dict[str, Path], kind: str) -> None:
    texts = Trace.open(exports[kind]).source.read("StringIds", ["value"])["value"].cast(pl.String)
    assert texts.str.contains(NO_UTF8.replace("\udcff", "\ufffd"), literal=True).any()


@needs_shared_traces
@every_type
@pytest.mark.parametrize("name", TRACES)
def test_a_real_trace_written_as_a_folder_gives_the_same_model_and_ledgers(
    tmp_path: Path, name: str, kind: str
) -> None:
    folder = as_folder(TRACES[name], tmp_path / "export", kind)
    assert_same(load(Trace.open(folder)), load(Trace.open(TRACES[name])))


@every_type
@pytest.mark.parametrize("name", ["a b%20#?", "[ab]*", "day=1", "größe", "~x"])
def test_any_folder_name_opens_and_nothing_in_it_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    folder = a_folder(tmp_path, kind, name)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    monkeypatch.chdir(tmp_path)
    trace = Trace.open(Path(name))
    assert load(trace).kernels.height == 1
    assert trace.size_bytes == sum(len(content) for content in before.values())
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@every_type
def test_nulls_order_and_64_bit_ids_survive(tmp_path: Path, kind: str) -> None:
    folder = a_folder(tmp_path, kind)
    rows = pl.DataFrame(
        {
            "start": [3, None, 1],
            "globalTid": pl.Series([2**64 - 1, 2**63, None], dtype=pl.UInt64),
            "isWhole": [True, None, False],
            "share": pl.Series([0.5, None, 2], dtype=pl.Float32),
            "text": pl.Series(["b", None, "a"], dtype=pl.Categorical()),
            "raw": [b"\xffx", None, b"y"],
            "nothing": [None, None, None],
        }
    )
    file = folder / ("OSRT_API" + SUFFIXES[kind])
    rows = rows.drop("nothing") if kind == "parquetdir" else rows
    (rows.write_parquet if kind == "parquetdir" else rows.write_ipc_stream)(file)
    source = Trace.open(folder).source
    found = source.read("OSRT_API", ["text", "raw", "globalTid", "start", "isWhole", "share"])
    assert found.rows() == [
        ("b", "\ufffdx", -1, 3, 1, 0.5),
        (None, None, -(2**63), None, None, None),
        ("a", "y", None, 1, 0, 2.0),
    ]
    assert found.schema == {name: source.tables["OSRT_API"][name] for name in found.columns}
    assert source.read("OSRT_API", []).height == 3


@every_type
@pytest.mark.parametrize("column", [[[1]], [date(2026, 1, 1)], [timedelta(seconds=1)]], ids=str)
def test_a_column_of_a_type_that_nsys_never_writes_is_refused_not_absent(
    tmp_path: Path, kind: str, column: list[object]
) -> None:
    folder = a_folder(tmp_path, kind)
    write_table(pl.DataFrame({"start": column, "end": [1]}), folder / ("OSRT_API" + SUFFIXES[kind]))
    with pytest.raises(TraceError, match=r"OSRT_API\.\w+: column start is of type .*, where nsys writes numbers"):
        load(Trace.open(folder))


@every_type
@pytest.mark.parametrize("typed", [pl.Decimal(38, 0), pl.Decimal(38, 6), pl.Int128, pl.String], ids=str)
def test_whole_numbers_of_64_bits_survive_whatever_type_holds_them(
    tmp_path: Path, kind: str, typed: pl.DataType
) -> None:
    times = pl.Series("start", [2**60 + 1, -(2**60) - 1])
    folder = a_folder(tmp_path, kind)
    write_table(pl.DataFrame(times.cast(typed)), folder / ("OSRT_API" + SUFFIXES[kind]))
    assert Trace.open(folder).scan("OSRT_API", ["start"]).collect()["start"].equals(times)


@every_type
@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pl.Series([2.0**53 + 2]), r"holds reals beyond 2\^53, which may have been rounded"),
        (pl.Series([2.0**25], dtype=pl.Float32), "holds numbers beyond what Float32 tells apart"),
        (pl.Series(["1.5"]).cast(pl.Decimal(10, 2)), "no whole numbers"),
        (pl.Series([2**70], dtype=pl.Int128), "is damaged"),
    ],
    ids=str,
)
def test_numbers_that_may_have_been_rounded_are_refused(
    tmp_path: Path, kind: str, column: pl.Series, said: str
) -> None:
    folder = a_folder(tmp_path, kind)
    write_table(pl.DataFrame({"start": column}), folder / ("OSRT_API" + SUFFIXES[kind]))
    with pytest.raises(TraceError, match=said):
        Trace.open(folder).scan("OSRT_API", ["start"]).collect()


def test_a_table_without_a_column_has_no_rows(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, "arrowdir")
    pl.DataFrame().write_ipc_stream(folder / "OSRT_API.arrow")
    assert Trace.open(folder).source.rows("OSRT_API") == 0


def data_bytes(parquet: bytes) -> int:
    """Return where the footer of a Parquet file begins."""
    return len(parquet) - 8 - int.from_bytes(parquet[-8:-4], "little")


def test_only_the_columns_a_query_uses_are_decoded(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, "parquetdir")
    file = folder / "NVTX_EVENTS.parquet"
    rows = pl.DataFrame({"start": [1, 2], "text": ["a", "b"]})
    write_table(rows.select("start"), file)
    first_column = data_bytes(file.read_bytes())
    write_table(rows, file)
    whole = file.read_bytes()
    footer = data_bytes(whole)
    file.write_bytes(whole[:first_column] + bytes(footer - first_column) + whole[footer:])
    lazy = Trace.open(folder).scan("NVTX_EVENTS", ["start", "text"])
    assert lazy.select("start").collect()["start"].to_list() == [1, 2]
    with pytest.raises(TraceError, match=r"NVTX_EVENTS\.parquet: is damaged"):
        lazy.collect()


def no_tables(folder: Path, suffix: str) -> None:
    for file in folder.iterdir():
        file.rename(file.with_name("kernels" + suffix + ".old"))


def emptied(folder: Path, suffix: str) -> None:
    for file in folder.iterdir():
        file.unlink()


def cut(folder: Path, suffix: str) -> None:
    file = folder / ("StringIds" + suffix)
    file.write_bytes(file.read_bytes()[:40])


def an_empty_file(folder: Path, suffix: str) -> None:
    (folder / ("StringIds" + suffix)).write_bytes(b"")


def no_table_at_all(folder: Path, suffix: str) -> None:
    (folder / ("StringIds" + suffix)).write_bytes(b"<html>" * 50)


def a_pipe(folder: Path, suffix: str) -> None:
    os.mkfifo(folder / ("OSRT_API" + suffix))


def a_dangling_link(folder: Path, suffix: str) -> None:
    (folder / ("OSRT_API" + suffix)).symlink_to(folder / "gone")


def both_types(folder: Path, suffix: str) -> None:
    for other in SUFFIXES.values():
        (folder / ("NVTX_EVENTS" + other)).touch()


@every_type
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (emptied, r"export: is a folder, and empty; give an nsys export"),
        (no_tables, r"export: is a folder without the tables of an nsys export; give the \.sqlite files in it"),
        (both_types, r"export: holds \.parquet and \.arrow tables of nsys; keep each export in a folder of its own"),
        (cut, r"StringIds\.\w+: is damaged \(.*\); copy it again or export the report again"),
        (an_empty_file, r"StringIds\.\w+: is damaged"),
        (no_table_at_all, r"StringIds\.\w+: is damaged"),
        (a_pipe, r"OSRT_API\.\w+: is no plain file"),
        (a_dangling_link, r"OSRT_API\.\w+: is no plain file"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="Windows has neither pipes in folders nor links for everybody")
def test_what_is_no_whole_export_is_one_sentence(
    tmp_path: Path, kind: str, spoil: Callable[[Path, str], None], said: str
) -> None:
    folder = a_folder(tmp_path, kind)
    spoil(folder, SUFFIXES[kind])
    with pytest.raises(TraceError, match=said) as error:
        load(Trace.open(folder))
    assert "\n" not in str(error.value)


@every_type
def test_a_byte_changed_anywhere_gives_a_trace_or_one_sentence(tmp_path: Path, kind: str) -> None:
    folder = a_folder(tmp_path, kind)
    file = folder / ("NVTX_EVENTS" + SUFFIXES[kind])
    whole = file.read_bytes()
    for place in range(0, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            load(Trace.open(folder))
        except TraceError as error:
            assert "\n" not in str(error)


def test_a_file_that_claims_far_more_rows_than_it_has_bytes_for_is_refused_undecoded(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, "parquetdir")
    same = pl.LazyFrame({"start": pl.repeat(1, 3_000_000, dtype=pl.Int64, eager=True)})
    same.sink_parquet(folder / "OSRT_API.parquet")
    with pytest.raises(TraceError, match=r"OSRT_API\.parquet: claims 3,000,000 rows in [\d,]+ bytes"):
        load(Trace.open(folder))


@every_type
def test_a_folder_written_to_meanwhile_is_said_to_have_changed(tmp_path: Path, kind: str) -> None:
    folder = a_folder(tmp_path, kind)
    trace = Trace.open(folder)
    file = folder / ("NVTX_EVENTS" + SUFFIXES[kind])
    trace.check_unchanged()
    os.utime(file, ns=(0, 0))
    with pytest.raises(TraceError, match="export: changed while it was read"):
        trace.check_unchanged()
    file.unlink()
    with pytest.raises(TraceError, match=r"NVTX_EVENTS\.\w+: vanished"):
        trace.check_unchanged()
