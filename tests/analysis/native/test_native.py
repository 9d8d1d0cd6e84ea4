"""The compiled core does what NumPy does in its place, and declines what it cannot do."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from polars.testing import assert_frame_equal

from wallsplit import native
from wallsplit.accounts import ACCOUNTS, LAYERS
from wallsplit.breakdowns.nested import Nested, nested
from wallsplit.breakdowns.projection import Calls, Ranges
from wallsplit.breakdowns.statistics import summarise_groups
from wallsplit.errors import TraceError
from wallsplit.intervals import levels, places, union
from wallsplit.ledger.labels import latest_begun
from wallsplit.ledger.pieces import cut_timeline
from wallsplit.ledger.timeline import clipped, summed, timeline
from wallsplit.trace.kinds import Kinds
from wallsplit.trace.pages import read_kinds, read_table
from wallsplit.trace.tables import table_info
from wallsplit.why.steps.cycle.anchors import anchors
from wallsplit.why.steps.cycle.cuts import Cuts, cut
from wallsplit.why.steps.cycle.tokens import Tokens
from without_core import needs_core, without_core

pytestmark = needs_core

Ints = npt.NDArray[np.int64]
TIMES = st.integers(0, 30)


def arrays(draw: Callable[..., Ints], columns: int, size: int) -> list[Ints]:
    return [draw(nps.arrays(np.int64, size, elements=TIMES)) for _ in range(columns)]


@given(st.data())
def test_a_timeline_is_the_same(data: st.DataObject) -> None:
    layers = []
    for _ in range(data.draw(st.integers(0, 5))):
        starts, lengths = arrays(data.draw, 2, data.draw(st.integers(0, 8)))
        layers.append(union(starts, starts + lengths))
    ours = timeline(layers)
    with without_core():
        theirs = timeline(layers)
    assert ours.times.tolist() == theirs.times.tolist()
    assert ours.active.tolist() == theirs.active.tolist()


@given(st.data())
def test_a_timeline_cut_where_labels_change_is_the_same(data: st.DataObject) -> None:
    starts, lengths, layer = arrays(data.draw, 3, data.draw(st.integers(0, 12)))
    of_layers = [layer % len(LAYERS) == k for k in range(len(LAYERS))]
    layers = [union(starts[mine], starts[mine] + lengths[mine]) for mine in of_layers]
    starts, lengths, codes, threads = arrays(data.draw, 4, data.draw(st.integers(0, 12)))
    labelled = [codes % (2 + len(ACCOUNTS)) == k for k in range(2 + len(ACCOUNTS))]
    intervals = starts, starts + lengths, (codes % 3).astype(np.int32), threads
    labels = [latest_begun(*(column[mine] for column in intervals)) for mine in labelled]
    whole = clipped(timeline(layers), *sorted(data.draw(st.tuples(TIMES, st.integers(31, 40)))))
    ours = cut_timeline(whole, labels)
    with without_core():
        theirs = cut_timeline(whole, labels)
    assert [column.tolist() for column in ours] == [column.tolist() for column in theirs]


@given(st.data())
def test_the_interval_that_began_last_is_the_same(data: st.DataObject) -> None:
    starts, lengths, codes, threads = arrays(data.draw, 4, data.draw(st.integers(0, 20)))
    intervals = starts, starts + lengths, (codes % 3).astype(np.int32), threads
    ours = latest_begun(*intervals)
    with without_core():
        theirs = latest_begun(*intervals)
    assert ours.times.tolist() == theirs.times.tolist()
    assert ours.codes.tolist() == theirs.codes.tolist()


@given(st.data(), st.sampled_from(["left", "right"]), st.booleans())
def test_places_among_ascending_times_are_the_same(
    data: st.DataObject, side: Literal["left", "right"], in_turn: bool
) -> None:
    (ascending,) = arrays(data.draw, 1, data.draw(st.integers(0, 20)))
    (times,) = arrays(data.draw, 1, data.draw(st.integers(0, 20)))
    given = np.sort(ascending), np.sort(times) if in_turn else times, side
    assert places(*given).tolist() == np.searchsorted(*given).tolist()


@given(st.data(), st.sampled_from([np.uint8, np.uint16, np.uint32, np.int64]))
def test_sums_by_group_are_the_same(data: st.DataObject, dtype: type[np.integer]) -> None:
    groups, lengths = arrays(data.draw, 2, data.draw(st.integers(0, 20)))
    ours = summed(groups.astype(dtype), lengths, 31)
    with without_core():
        theirs = summed(groups.astype(dtype), lengths, 31)
    assert ours.tolist() == theirs.tolist()


@given(st.data(), st.integers(0, 4))
def test_how_deep_intervals_lie_is_the_same(data: st.DataObject, most: int) -> None:
    starts, lengths = arrays(data.draw, 2, data.draw(st.integers(0, 20)))
    ours = levels(starts, starts + lengths, most)
    with without_core():
        theirs = levels(starts, starts + lengths, most)
    assert ours.tolist() == theirs.tolist()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.data())
def test_bodies_of_cuts_are_the_same_in_any_order(tokens: list[int], data: st.DataObject) -> None:
    units = Tokens(np.array(tokens), np.zeros(len(tokens), np.uint8), np.zeros(len(tokens), np.bool_))
    every = anchors(units)
    cuts = range(len(every.offsets) - 1)
    if not cuts:
        return
    given = every.of_cuts(np.array(sorted(data.draw(st.sets(st.sampled_from(cuts), min_size=1)))))
    ours = cut(units, *given)
    with without_core():
        theirs = cut(units, *given)
    for name in ("start", "end", "complete", "cost"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
    assert bodies_of(ours) == bodies_of(theirs)


def bodies_of(made: Cuts) -> tuple[list[tuple[int, ...]], ...]:
    """Return the bodies of cuts by what they are, and the body of each segment."""
    columns = (made.bodies.cut, made.bodies.count, made.bodies.length, made.bodies.sample, made.bodies.hash_)
    bodies = [*zip(*(column.tolist() for column in columns), strict=True), (-1,)]
    return sorted(bodies), *([bodies[i] for i in rows.tolist()] for rows in (made.between, made.before, made.after))


@pytest.mark.parametrize("length", [0, 2, 4])
def test_columns_of_unequal_lengths_never_reach_the_core(length: int) -> None:
    three, other = np.arange(3), np.arange(length)
    codes, is_idle = three.astype(np.int32), np.zeros(1, np.bool_)
    assert native.sums(three, other, 9) is None
    assert native.levels(three, other, None, 3) is None
    assert native.levels(three, three, other, 3) is None
    assert native.latest(three, other, codes) is None
    assert native.timeline([three], [other]) is None
    assert native.statistics(three, other.astype(np.uint32), 9) is None
    assert native.pieces(np.arange(5), other.astype(np.uint32)[:3], is_idle, [(three, codes)] * 3) is None
    assert native.pieces(np.arange(4), codes.astype(np.uint32), is_idle, [(other, codes)] * 3) is None
    assert native.pieces(np.arange(4), codes.astype(np.uint32), is_idle, [(three, codes)] * length) is None
    assert native.project(three, three, other, three, [three] * 6, 3) is None
    assert native.project(three, three, three, three, [three, other, *[three] * 4], 3) is None


@pytest.mark.parametrize(("thread", "row"), [(3, 0), (0, 1), (0, -1)])
def test_a_thread_or_a_row_that_does_not_exist_is_declined(thread: int, row: int) -> None:
    zero, of_thread = np.zeros(1, np.int64), np.full(1, thread)
    assert native.project(of_thread, zero, zero, np.full(1, row), [zero] * 6, 3) is None


def in_order(found: Nested) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in vars(found).values()), strict=True))


@given(st.data())
@settings(max_examples=300)
def test_ranges_and_what_ran_in_them_are_the_same_whether_ranges_cross_or_nest(data: st.DataObject) -> None:
    starts, lengths, threads, names = arrays(data.draw, 4, data.draw(st.integers(0, 12)))
    ranges = Ranges(threads % 3, starts, starts + lengths)
    begun, lasting, on, first, ran, operations = arrays(data.draw, 6, data.draw(st.integers(0, 12)))
    calls = Calls(on % 3, begun, begun + lasting, first, first + ran, operations)
    ours = nested(calls, ranges, names)
    with without_core():
        theirs = nested(calls, ranges, names)
    assert in_order(ours) == in_order(theirs)


@given(nps.arrays(np.int64, st.integers(0, 60), elements=st.integers(-(2**40), 2**40)), st.data())
def test_statistics_are_the_same_but_for_the_last_digits(values: Ints, data: st.DataObject) -> None:
    groups = data.draw(nps.arrays(np.uint32, len(values), elements=st.integers(0, 4)))
    ours = summarise_groups(groups, values, 5, "x", "ns").sort("group")
    with without_core():
        theirs = summarise_groups(groups, values, 5, "x", "ns").sort("group")
    exact = ("group", "count", "x_total_ns", "x_med_ns", "x_min_ns", "x_max_ns")
    assert_frame_equal(ours.select(exact), theirs.select(exact), check_exact=True)
    assert_frame_equal(ours, theirs, rel_tol=1e-9, abs_tol=1e-3)


def test_sums_of_more_than_64_bits_are_declined() -> None:
    assert native.statistics(np.array([2**62, 2**62]), np.array([0, 0], np.uint32), 1) is None


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-200, 70000) | st.sampled_from([0, 1])
TEXTS = st.text(max_size=12) | st.sampled_from(["x" * 900, "é" * 3000, ""])
ROWS = st.lists(
    st.tuples(st.none() | INTEGERS, st.none() | TEXTS, st.none() | st.floats(allow_nan=False) | st.integers(-9, 9))
)
SCHEMA = "CREATE TABLE t(a INTEGER, b TEXT, c REAL)"


def written(folder: str, rows: Sequence[tuple[object, ...]]) -> Path:
    path = Path(folder, "x.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA page_size=512")
        db.execute(SCHEMA)
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    db.close()
    return path


def both(path: Path, threads: int = 1) -> tuple[pl.DataFrame | str, pl.DataFrame | str]:
    """Return what the core reads of table t, and what NumPy does: a frame, or in a word why not."""
    with sqlite3.connect(path) as db:
        info = table_info(db, "t")
    db.close()

    def read() -> pl.DataFrame | str:
        try:
            frame = read_table(path, info, ["a", "b", "c"], threads, text=pl.String)
        except TraceError as error:
            return str(error)
        return "left to sqlite3" if frame is None else frame

    ours = read()
    with without_core():
        return ours, read()


def same(ours: pl.DataFrame | str, theirs: pl.DataFrame | str) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return isinstance(ours, str) and isinstance(theirs, str) and ours == theirs
    return ours.equals(theirs)


@given(ROWS)
@settings(deadline=None)
def test_any_table_reads_the_same(rows: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        ours, theirs = both(written(folder, rows))
    assert same(ours, theirs)


@given(ROWS)
@settings(deadline=None)
def test_kinds_of_rows_are_the_rows(rows: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, rows)
        with sqlite3.connect(path) as db:
            info = table_info(db, "t")
        db.close()
        found = read_kinds(path, info, ["a"], ["b", "c"])
        assert found is not None
        numbers, kind, kinds = found
        expanded = Kinds(numbers, kinds, kind).in_use().with_kinds(Kinds(numbers, kinds, kind).in_use().kinds)
        expected = read_table(path, info, ["a", "b", "c"], text=pl.Categorical)
    assert expected is not None
    assert expanded.with_columns(pl.col("b").cast(pl.String)).equals(expected.with_columns(pl.col("b").cast(pl.String)))


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_damaged_file_reads_the_same_or_is_refused_alike(data: st.DataObject) -> None:
    rows = [(i, "name" * (i % 40), float(i)) for i in range(60)]
    with TemporaryDirectory() as folder:
        path = written(folder, rows)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(1024, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        ours, theirs = both(path)
    assert same(ours, theirs)


def test_several_threads_read_what_one_does(tmp_path: Path) -> None:
    path = written(str(tmp_path), [(i, f"name {i % 77}", i / 3) for i in range(40_000)])
    assert same(*both(path, threads=3))


def test_rows_that_are_all_different_are_not_read_as_kinds(tmp_path: Path) -> None:
    path = written(str(tmp_path), [(i, f"name {i}", None) for i in range(80_000)])
    with sqlite3.connect(path) as db:
        info = table_info(db, "t")
    db.close()
    assert read_kinds(path, info, ["a"], ["b", "c"]) is None
    assert same(*both(path))
