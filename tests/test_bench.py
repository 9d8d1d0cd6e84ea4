"""What `make bench` reckons and makes; nothing is timed here."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from bench import peers, without_why
from bench.measure import Cost
from bench.rounds import Readings, in_turns, ratio
from bench.table import WALL_S, compared, markdown, text
from bench.unique import RANGES, numbered
from hypothesis import given
from hypothesis import strategies as st

from builders import TraceBuilder
from wallsplit.breakdowns import BREAKDOWNS
from wallsplit.pipeline import analyze
from wallsplit.report.json import document

SAMPLE = Path(__file__).resolve().parent.parent / "traces" / "keras-gpu.reconstructed.sqlite"
seconds = st.floats(0.01, 100)


def cost(wall_s: float) -> Cost:
    return Cost(wall_s, 2 * wall_s, 30)


def readings(*walls_s: float) -> Readings:
    return Readings(tuple(map(cost, walls_s)))


def test_a_ratio_is_the_median_of_the_rounds_own_ratios_and_not_of_medians() -> None:
    ours, theirs = readings(1, 20, 3), readings(2, 10, 3)  # each round slows both: medians alone would say 3 ÷ 3
    found = ratio(ours, theirs, WALL_S)
    assert (found.median, found.least, found.greatest, found.rounds) == (1, 0.5, 2, 3)
    assert ours.median(WALL_S) == 3


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=9), seconds)
def test_a_ratio_does_not_change_when_a_busy_machine_slows_whole_rounds(
    rounds: list[tuple[float, float]], slower: float
) -> None:
    ours, theirs = zip(*rounds, strict=True)
    quiet = ratio(readings(*ours), readings(*theirs), WALL_S)
    busy = ratio(readings(*(slower * s for s in ours)), readings(*(slower * s for s in theirs)), WALL_S)
    assert busy.median == pytest.approx(quiet.median)
    assert quiet.least <= quiet.median <= quiet.greatest


def test_rounds_in_which_only_one_of_two_ran_are_in_no_ratio() -> None:
    assert ratio(readings(6), readings(3, 100, 100), WALL_S).rounds == 1
    assert ratio(readings(6), readings(3, 100, 100), WALL_S).median == 2


def test_contenders_take_turns_and_slow_ones_run_in_the_first_rounds_only() -> None:
    ran: list[str] = []

    def contender(name: str) -> Callable[[], Cost]:
        return lambda: ran.append(name) or cost(1)  # type: ignore[func-returns-value]

    found = in_turns(3, {name: contender(name) for name in "abc"}, at_most={"b": 1})
    assert "".join(ran) == "abcacac"
    assert {name: len(its.costs) for name, its in found.items()} == {"a": 3, "b": 1, "c": 3}


def test_a_program_of_others_that_fails_is_left_out_and_ours_is_not() -> None:
    def failing() -> Cost:
        raise RuntimeError("exit code 1")

    contenders = {"ours": lambda: cost(1), "theirs": failing}
    assert list(in_turns(2, contenders, may_fail={"theirs"})) == ["ours"]
    with pytest.raises(RuntimeError):
        in_turns(2, contenders, may_fail={"ours"})
    assert peers.left_out(("nsys stats", "theirs"), ["theirs"], {"ours"}) == (
        "nsys stats: not here, left out",
        "theirs: failed on this trace, left out",
    )


def test_a_table_shows_medians_beside_ratios_with_their_spread() -> None:
    measured = {"theirs": readings(2, 4, 4), "ours": readings(1, 1, 4), "slow": readings(9)}
    table = compared("Both", measured, "program", "theirs", ("another: not here",))
    assert table.rows == (
        ("theirs", "4.00", "8.00", "30", "1", "", "1", "3"),
        ("ours", "1.00", "2.00", "30", "0.50 ×", "0.25 … 1.00", "0.50 ×", "3"),
        ("slow", "9.00", "18.00", "30", "4.50 ×", "", "4.50 ×", "1"),
    )
    assert markdown(table).splitlines()[-1] == text(table).splitlines()[-1] == "another: not here"


def test_a_program_that_writes_into_a_trace_gets_a_copy_that_is_removed(tmp_path: Path) -> None:
    trace = TraceBuilder(tmp_path / "trace.sqlite").api("cudaFree", 0, 9).write()
    before = trace.read_bytes()

    def writes(copy: Path) -> Cost:
        assert copy.read_bytes() == before
        copy.write_bytes(b"an index")
        copy.with_suffix(".cache").touch()
        return cost(1)

    folder = tmp_path / "bench"
    folder.mkdir()
    assert peers.on_a_copy(trace, folder, writes) == cost(1)
    assert trace.read_bytes() == before
    assert list(folder.iterdir()) == []


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    build = TraceBuilder(tmp_path / "t.sqlite").api("cudaFree", 0, 9).api("cudaFree", 90, 99)
    for number in range(2):
        build.range("aten::add, op_id = 7", 10 * number, 10 * number + 5)
    for number in range(2, 4):
        build.range("step", 20 * number, 20 * number + 5)
    return build.write()


def names(trace: Path) -> Iterator[str]:
    with closing(sqlite3.connect(trace)) as db:
        yield from (name for (name,) in db.execute(f"SELECT text FROM NVTX_EVENTS WHERE eventType IN {RANGES}"))


def test_repeated_names_are_as_they_were_and_unique_ones_never_the_same(tmp_path: Path, annotated: Path) -> None:
    target = tmp_path / "numbered.sqlite"
    assert numbered(annotated, target, unique=False) == 4
    assert sorted(names(target)) == [
        "aten::add, op_id = 7",
        "aten::add, op_id = 7",
        "step, op_id = 1000000",
        "step, op_id = 1000000",
    ]
    assert numbered(annotated, target, unique=True) == 4
    assert sorted(names(target)) == [
        "aten::add, op_id = 1000001",
        "aten::add, op_id = 1000002",
        "step, op_id = 1000003",
        "step, op_id = 1000004",
    ]


def test_a_trace_with_more_ranges_than_wanted_is_cut_off_behind_them(tmp_path: Path, annotated: Path) -> None:
    target = tmp_path / "numbered.sqlite"
    assert numbered(annotated, target, unique=True, most=2) == 2
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("SELECT start FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall() == [(0,)]


def test_a_trace_with_few_ranges_gets_one_around_every_call(tmp_path: Path) -> None:
    target = tmp_path / "numbered.sqlite"
    count = numbered(SAMPLE, target, unique=True)
    with closing(sqlite3.connect(SAMPLE)) as db:
        calls, ranges = (
            db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
        )
    assert count == len(set(names(target))) == calls + ranges


def test_what_is_printed_without_why_is_the_analysis_without_what_explains() -> None:
    whole = json.loads(json.dumps(document([analyze(SAMPLE)])["traces"][0]))
    bare = json.loads(without_why.document(SAMPLE))["traces"][0]
    tables = {breakdown.name for breakdown in BREAKDOWNS}
    assert {name: bare[name] for name in tables} == {name: whole[name] for name in tables}
    said = ("pid", "device", "wall_ns", "accounts", "api_exposure")
    ours, its = ([[ledger[name] for name in said] for ledger in trace["ledgers"]] for trace in (bare, whole))
    assert ours == its
    assert whole["ledgers"][0]["steps"] is not None
    assert bare["ledgers"][0]["steps"] is None
