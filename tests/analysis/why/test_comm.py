"""What communication costs and which rank waits for which, planted by hand."""

from builders import TraceBuilder
from gpu_use import only_activity, whole
from wallsplit.ledger.activity import activities
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.comm import Comm, RankSkew, comm, rank_skew, rank_skew_table, table
from wallsplit.why.spread import Spread

REDUCE = "ncclDevKernel_AllReduce<float>"


def communication(model: Model, window: Window | None = None) -> Comm | None:
    return comm(only_activity(model), window or whole(model), model.names)


def test_communication_is_hidden_while_a_kernel_or_a_graph_computes(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE).kernel(10, 30, name="gemm").graph(80, 120).copy(40, 60)
    found = communication(build.model())
    assert found == Comm(100, hidden_ns=40, exposed_ns=60, count=1, by_name={"ncclDevKernel_AllReduce": 1})
    assert table([(1, 0, found), (2, 0, None)])["exposed_ns"].to_list() == [60]


def test_a_window_cuts_communication_at_its_ends(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE).kernel(10, 30, name="gemm").kernel(150, 160, name=REDUCE)
    found = communication(build.model(), Window("part", 20, 120))
    assert found is not None
    assert (found.union_ns, found.hidden_ns, found.count) == (80, 10, 1)


def test_without_communication_kernels_there_is_none(build: TraceBuilder) -> None:
    build.kernel(0, 100, name="gemm")
    assert communication(build.model()) is None


def skew(model: Model) -> RankSkew | None:
    return rank_skew(activities(model), whole(model))


def test_ranks_wait_in_their_collectives_for_the_last_to_join(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE, pid=1).kernel(30, 100, name=REDUCE, pid=2, device=1)
    build.kernel(210, 300, name=REDUCE, pid=1).kernel(200, 300, name=REDUCE, pid=2, device=1)
    found = skew(build.model())
    assert found == RankSkew(
        matched=2,
        not_overlapping=0,
        start_skew=Spread(count=2, med_ns=20.0, p95_ns=30, p99_ns=30, max_ns=30, total_ns=40),
        wait_ns={"1/0": 30, "2/1": 10},
    )
    assert rank_skew_table(found)["wait_ns"].to_list() == [30, 10]


def test_kernels_that_do_not_overlap_are_not_one_collective(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE, pid=1).kernel(100, 200, name=REDUCE, pid=2)
    found = skew(build.model())
    assert found == RankSkew(matched=0, not_overlapping=1, start_skew=None, wait_ns={})
    assert rank_skew_table(found).is_empty()


def test_ranks_with_other_collectives_are_not_compared(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE, pid=1).kernel(0, 100, name=REDUCE, pid=2).kernel(200, 300, name=REDUCE, pid=2)
    found = skew(build.model())
    assert found == RankSkew(matched=0, reason="the ranks do not run the same collectives in this window")


def test_one_rank_alone_has_no_skew(build: TraceBuilder) -> None:
    build.kernel(0, 100, name=REDUCE, pid=1).kernel(0, 100, name="gemm", pid=2)
    assert skew(build.model()) is None
