"""The allow-list of scrubbing: everything that is read is either on it or withheld for a reason."""

from pathlib import Path

import pytest

from builders import TraceBuilder
from wallsplit.trace import Trace
from wallsplit.trace.raw import TABLES, RawTable
from wallsplit.trace.shareable import SHAREABLE, WITHHELD, shared_tables

READ = {table.name: table for table in TABLES}
REFERENCES = {"nameId", "textId", "demangledName", "shortName", "symbol", "module"}
"""Columns that raw.py reads as numbers and that stand for texts."""


def test_every_table_that_is_read_is_either_shared_or_withheld_for_a_reason() -> None:
    shared = {shareable.table for shareable in SHAREABLE}
    assert shared.isdisjoint(WITHHELD)
    assert set(READ) <= shared | set(WITHHELD)
    assert all(WITHHELD.values())


@pytest.mark.parametrize("shareable", SHAREABLE, ids=lambda shareable: shareable.table)
def test_every_text_that_is_shared_says_of_what_kind_it_is(shareable: object) -> None:
    from wallsplit.trace.shareable import Shareable

    assert isinstance(shareable, Shareable)
    raw = READ.get(shareable.table, RawTable(shareable.table, ()))
    texts = {column for column in raw.texts if column != "name" or shareable.table != "META_DATA_EXPORT"}
    assert texts | (REFERENCES & set(raw.numbers)) == set(shareable.texts)


def test_columns_that_nobody_listed_stay_behind(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite").kernel(0, 9, corr=1, priority=3, contextId=5, mangledName=7)
    (kernels,) = (t for t in shared_tables(Trace.open(build.write()), keep_time=False) if "KERNEL" in t.table)
    assert {"start", "end", "contextId", "demangledName"} <= set(kernels.rows.columns)
    assert not {"priority", "mangledName"} & set(kernels.rows.columns)


def test_only_processes_that_did_something_are_named(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite").kernel(0, 9, corr=1, pid=7)
    build.process("trainer", pid=7).process("mail-client", pid=8)
    (processes,) = (t for t in shared_tables(Trace.open(build.write()), keep_time=False) if t.table == "PROCESSES")
    assert processes.rows["pid"].to_list() == [7]


def test_of_an_export_s_settings_only_versions_are_shared(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite").kernel(0, 9, corr=1)
    for name, value in (("EXPORT_PRODUCT_VERSION", "2025.1"), ("EXPORT_HOST", "box"), ("WALLSPLIT_NOTE", "made up")):
        build.add("META_DATA_EXPORT", name=name, value=value)
    (settings,) = (t for t in shared_tables(Trace.open(build.write()), keep_time=False) if t.table.startswith("META"))
    assert settings.rows.cast(dict.fromkeys(settings.rows.columns, str)).rows() == [
        ("EXPORT_PRODUCT_VERSION", "2025.1"),
        ("WALLSPLIT_NOTE", "made up"),
    ]


def test_the_time_of_day_is_shared_only_where_that_is_asked_for(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite").kernel(0, 9, corr=1)
    trace = Trace.open(build.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=5).write())
    names = [[t.table for t in shared_tables(trace, keep_time=keep)] for keep in (False, True)]
    assert set(names[1]) - set(names[0]) == {"TARGET_INFO_SESSION_START_TIME"}
