"""Who waits for whom: planted truths of two ranks and more, each with a clock of its own."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from analyses import HOSTILE
from builders import TraceBuilder
from wallsplit.comparison.across_ranks import Ranks, compare_ranks
from wallsplit.comparison.collectives import RankTrace
from wallsplit.errors import ComparisonError
from wallsplit.pipeline import ranks_of
from wallsplit.report.json import document, text
from wallsplit.report.ranks_report import ranks_report, ranks_value
from wallsplit.report.terminal import terminal
from wallsplit.words.rank_sentences import clock_warnings, ranks_sentence

UTC = 1_700_000_000_000_000_000
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL"
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
Kernel = tuple[int, int, str]


def rank(
    path: Path, kernels: Sequence[Kernel], *, behind: int = 0, utc: int | None = UTC, faster: float = 0.0, pid: int = 1
) -> RankTrace:
    """Record kernels (start, end, name in true time) with a clock that is `behind` by so many ns.

    `utc`: what the recording believes its clock's 0 to be in UTC; the truth is UTC + behind.
    """
    build = TraceBuilder(path)
    for number, (start, end, name) in enumerate(kernels, 1):
        begins, ends = (round((time - behind) * (1 + faster)) for time in (start, end))
        build.api("cudaLaunchKernel", begins - 3, begins - 1, corr=number, pid=pid)
        build.kernel(begins, ends, corr=number, name=name, pid=pid)
    if utc is not None:
        build.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=utc)
    (found,) = ranks_of(build.write())
    return found


def joined(arrivals: Sequence[Sequence[int]], lasts: int = 50, name: str = ALL_REDUCE) -> list[list[Kernel]]:
    """Return each rank's collectives: they begin as each arrives and end for all `lasts` ns after the last one."""
    ends = [max(times) + lasts for times in zip(*arrivals, strict=True)]
    return [[(start, end, name) for start, end in zip(times, ends, strict=True)] for times in arrivals]


def two_ranks(tmp_path: Path, **second: int | None) -> Ranks:
    """Rank b comes 30, 30, 30 ns late and once 10 ns early: a waits 90 ns, b 10 ns."""
    a, b = joined([[1_000, 2_000, 3_000, 4_000], [1_030, 2_030, 3_030, 3_990]])
    return compare_ranks([rank(tmp_path / "a.sqlite", a), rank(tmp_path / "b.sqlite", b, **second)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("behind", "utc"), [(0, UTC), (700, UTC + 700), (700, UTC + 690), (-5_000, UTC), (9_999, None)]
)
def test_who_waits_for_whom_is_told_to_the_nanosecond_whatever_the_clocks_say(
    tmp_path: Path, behind: int, utc: int | None
) -> None:
    found = two_ranks(tmp_path, behind=behind, utc=utc)
    assert [x.wait_ns for x in found.ranks] == [90, 10]
    assert [x.came_last for x in found.ranks] == [1, 3]
    assert [x.holds_up_ns for x in found.ranks] == [10, 90]
    assert (found.slowest, found.matched, found.not_overlapping) == ("b", 4, 0)
    assert found.clocks.how == "collectives"
    assert found.clocks.offsets_ns == (0, behind)
    assert found.clocks.spread_ns == 0
    assert found.clocks.corrected_ns == (None if utc is None else abs(utc - UTC - behind))
    assert found.skew is not None
    assert (found.skew.med_ns, found.skew.max_ns, found.skew.total_ns) == (30, 30, 100)


def test_the_sentence_names_the_slowest_rank_and_what_it_costs_the_others(tmp_path: Path) -> None:
    told = ranks_sentence(two_ranks(tmp_path))
    assert "b is the slowest, last at 3 of 4 collectives; the others wait 90 ns each" in told


def test_exposed_communication_and_imbalance_of_computing_are_told_per_rank(tmp_path: Path) -> None:
    a, b = joined([[1_000, 2_000], [1_020, 2_000]])
    a += [(1_100, 1_200, "gemm"), (2_030, 2_060, "gemm")]  # 20 ns of the second hide communication
    b += [(1_100, 1_400, "gemm")]
    found = compare_ranks([rank(tmp_path / "a.sqlite", a), rank(tmp_path / "b.sqlite", b)])
    assert [x.comm_ns for x in found.ranks] == [120, 100]
    assert [x.comm_exposed_ns for x in found.ranks] == [100, 100]
    assert [x.compute_ns for x in found.ranks] == [120, 300]
    assert found.imbalance_ratio == pytest.approx(300 / 210 - 1)
    assert [x.ledger.residual_ns for x in found.ranks] == [0, 0]


def test_a_clock_that_runs_faster_is_seen_and_set(tmp_path: Path) -> None:
    starts = [1_000_000 * i for i in range(1, 101)]
    a, b = joined([starts, [start + 300 for start in starts]], lasts=5_000)
    found = compare_ranks([rank(tmp_path / "a.sqlite", a), rank(tmp_path / "b.sqlite", b, faster=1e-4, behind=123)])
    assert found.matched == 100
    assert found.ranks[0].wait_ns == pytest.approx(300 * 100, rel=0.02)
    assert found.clocks.drifts is not None
    assert found.clocks.drifts[1] == pytest.approx(-1e-4, rel=0.01)


def test_ends_that_scatter_are_told_as_what_skews_are_certain_to(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    starts = [100_000 * i for i in range(1, 61)]
    a, b = joined([starts, [start + 4_000 for start in starts]], lasts=20_000)
    b = [
        (start, end + int(jitter), name)
        for (start, end, name), jitter in zip(b, random.normal(0, 500, 60), strict=True)
    ]
    found = compare_ranks([rank(tmp_path / "a.sqlite", a), rank(tmp_path / "b.sqlite", b, utc=UTC + 1)])
    assert found.ranks[0].wait_ns == pytest.approx(4_000 * 60, rel=0.05)
    assert found.clocks.spread_ns is not None
    assert 100 < found.clocks.spread_ns < 1_000


def test_of_captures_that_began_at_different_collectives_utc_tells_which_are_the_same(tmp_path: Path) -> None:
    a, b = joined([[1_000 * i for i in range(1, 21)], [1_000 * i + 30 for i in range(1, 21)]])
    ranks = [
        rank(tmp_path / "a.sqlite", a[:18], utc=UTC + 40),
        rank(tmp_path / "b.sqlite", b[3:], behind=2_000, utc=UTC + 2_000),
    ]
    found = compare_ranks(ranks)
    assert (found.matched, found.ranks[0].wait_ns, found.ranks[1].wait_ns) == (15, 450, 0)


def test_without_utc_captures_of_different_collectives_cannot_be_set_and_that_is_said(tmp_path: Path) -> None:
    a, b = joined([[1_000, 2_000, 3_000], [1_030, 2_030, 3_030]])
    found = compare_ranks([rank(tmp_path / "a.sqlite", a, utc=None), rank(tmp_path / "b.sqlite", b[1:], utc=None)])
    assert (found.clocks.how, found.skew, found.slowest) == ("none", None, None)
    assert [x.wait_ns for x in found.ranks] == [None, None]
    assert "who waits for whom cannot be told, the ranks ran different numbers of collectives" in ranks_sentence(found)
    assert clock_warnings(found)


def test_collectives_that_never_overlap_are_none_and_that_is_said(tmp_path: Path) -> None:
    a = [(1_000 * i, 1_000 * i + 10, "nccl_Broadcast") for i in range(1, 9)]
    b = [
        (1_000 * i + (300 if i % 2 else -300), 1_000 * i + (310 if i % 2 else -290), "nccl_Broadcast")
        for i in range(1, 9)
    ]
    found = compare_ranks([rank(tmp_path / "a.sqlite", a), rank(tmp_path / "b.sqlite", b)])
    assert found.skew is None
    assert found.reason is not None
    assert found.reason.startswith("the clocks cannot be set: of 8 collectives only")


def test_without_collectives_only_computing_is_compared(tmp_path: Path) -> None:
    ranks = [rank(tmp_path / f"{n}.sqlite", [(100, 100 * (n + 2), "gemm")]) for n in range(2)]
    found = compare_ranks(ranks)
    assert (found.clocks.how, found.matched) == ("utc", 0)
    assert found.imbalance_ratio == pytest.approx(200 / 150 - 1)
    assert "no rank ran a communication kernel" in ranks_sentence(found)


def test_where_utc_is_far_from_what_the_collectives_say_every_skew_is_in_doubt(tmp_path: Path) -> None:
    found = two_ranks(tmp_path, utc=UTC + 10**9)
    assert any("apart from what UTC says" in told for told in clock_warnings(found))


def test_the_ranks_of_one_trace_are_told_apart(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "a_node_of_a_long_name.sqlite")
    for pid, start in ((1, 100), (2, 130)):
        build.api("cudaLaunchKernel", 10, 20, corr=pid, pid=pid)
        build.kernel(start, 200, corr=pid, name=ALL_REDUCE, pid=pid, device=pid - 1)
    found = compare_ranks(ranks_of(build.write()))
    assert [x.label for x in found.ranks] == [f"a_node_of_a_long_name, process {n}, GPU {n - 1}" for n in (1, 2)]
    assert found.ranks[0].wait_ns == 30
    bars = ranks_report(found, 20).figure
    assert bars
    assert bars.bars
    assert len({bar.label for bar in bars.bars.bars}) == 2


def test_one_rank_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(ComparisonError, match="the trace of every rank"):
        compare_ranks([rank(tmp_path / "a.sqlite", [(1, 5, ALL_REDUCE)])])


def test_the_document_of_ranks_is_valid_and_names_are_inert(tmp_path: Path) -> None:
    for name in (ALL_REDUCE, f"nccl{HOSTILE[0]}", f"nccl{HOSTILE[9]}"):
        a, b = joined([[1_000, 2_000], [1_030, 2_030]], name=name)
        found = compare_ranks([rank(tmp_path / "\x1b[31m.sqlite", a), rank(tmp_path / "b.sqlite", b)])
        Draft202012Validator(SCHEMA).validate(json.loads(text(document([], ranks=ranks_value(found)))))
        console = Console(file=io.StringIO(), width=80)
        console.print(terminal(ranks_report(found, 20), console))
        assert isinstance(console.file, io.StringIO)
        assert "\x1b" not in console.file.getvalue()
