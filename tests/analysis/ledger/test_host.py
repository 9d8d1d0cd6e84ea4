"""What the host was doing when, and the parts of `host`: by hand, and against looking at each tick."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from builders import TraceBuilder, global_id
from host_by_ticks import part, summed, ticks
from host_rows import Rows, model_of, traces
from wallsplit.errors import LedgerError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.host import HostTimelines, first_launches, host_timelines
from wallsplit.ledger.host_parts import host_measured, host_parts
from wallsplit.ledger.labels import NONE, Labels
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.phases import PHASE_NAMES, phase_rules
from wallsplit.ledger.pieces import pieces
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model

MS = 1_000_000
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def only_host(model: Model) -> HostTimelines:
    (host,) = host_timelines(model, activities(model))
    return host


def pairs(labels: Labels, names: tuple[str, ...]) -> list[tuple[int, str | None]]:
    """Return each time and the name that holds from it on."""
    codes = [None if code == NONE else names[code] for code in labels.codes.tolist()]
    return list(zip(labels.times.tolist(), codes, strict=True))


def phases(model: Model) -> list[tuple[int, str | None]]:
    return pairs(only_host(model).phase, PHASE_NAMES)


def os_calls(model: Model) -> list[tuple[int, str | None]]:
    return pairs(only_host(model).os_call, tuple(model.names.texts))


def parts(model: Model, window: Window | None = None) -> dict[str, int]:
    """Return the parts of host of the only ledger."""
    chosen = window or default_window(model)
    assert chosen is not None
    (activity,), host = activities(model), only_host(model)
    return host_parts(pieces(activity, host, chosen), host, book(activity, [chosen]))[0]


def launching(build: TraceBuilder, *tids: int) -> TraceBuilder:
    """Make the threads driving ones, before anything the test is about."""
    for tid in tids:
        build.api("cudaLaunchKernel", 0, 1, tid=tid)
    return build


def test_of_named_ranges_the_one_that_began_last_gives_the_phase(build: TraceBuilder) -> None:
    launching(build, 1).range("epoch", 10, 100).range("forward", 20, 50).range("layer 3", 30, 40)
    assert phases(build.model()) == [(10, "step"), (20, "forward"), (50, "step"), (100, None)]


def test_of_ranges_that_begin_at_once_the_shorter_one_counts_then_the_smaller_thread(build: TraceBuilder) -> None:
    launching(build, 1, 2).range("forward", 10, 30).range("backward", 10, 20)
    build.range("loss", 40, 50, tid=2).range("optimizer", 40, 50, tid=1)
    assert phases(build.model())[:3] == [(10, "backward"), (20, "forward"), (30, None)]
    assert phases(build.model())[3:] == [(40, "optimizer"), (50, None)]


def test_a_range_on_a_thread_that_drives_nothing_says_nothing(build: TraceBuilder) -> None:
    launching(build, 1).range("data", 10, 20, tid=2)
    host = only_host(build.model())
    assert (len(host.phase.times), len(host.ranges)) == (0, 0)


def test_an_mpi_call_is_a_range_of_phase_mpi(build: TraceBuilder) -> None:
    launching(build, 1).range("forward", 10, 40)
    build.add("MPI_COLLECTIVES_EVENTS", start=20, end=30, globalTid=global_id(1, 1), textId=build.string("MPI_Bcast"))
    assert phases(build.model()) == [(10, "forward"), (20, "mpi"), (30, "forward"), (40, None)]


def test_a_domain_counts_as_part_of_the_name_and_a_librarys_has_a_phase_too(build: TraceBuilder) -> None:
    launching(build, 1).range("NCCL", 0, None, event_type=75, domain=3).range("group", 10, 20, domain=3)
    assert phases(build.model()) == [(10, "comm"), (20, None)]


def test_the_users_rules_decide_before_the_table(build: TraceBuilder, tmp_path: Path) -> None:
    rules = tmp_path / "phases.toml"
    rules.write_text('data = "layer #"\n')
    model = launching(build, 1).range("layer 3", 10, 20).range("layer 12", 15, 18).model()
    (host,) = host_timelines(model, activities(model), phase_rules(rules))
    assert pairs(host.phase, PHASE_NAMES) == [(10, "data"), (20, None)]


def test_the_host_is_blocked_only_while_every_live_driving_thread_is(build: TraceBuilder) -> None:
    """Thread 2 lives from 0 to 60: until then both must sleep; after it thread 1 alone decides."""
    launching(build, 1, 2).osrt("poll", 10, 80, tid=1).osrt("read", 20, 40, tid=2).osrt("read", 50, 60, tid=2)
    assert os_calls(build.model()) == [(20, "read"), (40, None), (50, "read"), (60, "poll"), (80, None)]


def test_the_call_named_is_the_one_that_returns_first(build: TraceBuilder) -> None:
    launching(build, 1, 2).osrt("poll", 10, 30, tid=1).osrt("poll", 30, 90, tid=1).osrt("futex", 10, 50, tid=2)
    build.range("x", 50, 90, tid=2)
    assert os_calls(build.model()) == [(10, "poll"), (30, "futex"), (50, None)]


def test_of_calls_that_return_at_once_the_class_decides_then_the_name(build: TraceBuilder) -> None:
    launching(build, 1, 2, 3).osrt("write", 10, 30, tid=1).osrt("select", 10, 30, tid=2).osrt("poll", 10, 30, tid=3)
    assert os_calls(build.model()) == [(10, "poll"), (30, None)]


def test_on_one_thread_the_call_that_began_last_counts(build: TraceBuilder) -> None:
    launching(build, 1).osrt("open", 10, 40).osrt("read", 20, 30)
    assert os_calls(build.model()) == [(10, "open"), (20, "read"), (30, "open"), (40, None)]


def test_a_thread_that_signals_is_not_blocked(build: TraceBuilder) -> None:
    launching(build, 1).osrt("poll", 10, 40).osrt("pthread_cond_signal", 20, 30)
    assert os_calls(build.model()) == [(10, "poll"), (20, None), (30, "poll"), (40, None)]


def test_a_sleeping_thread_that_drives_nothing_blocks_nothing(build: TraceBuilder) -> None:
    host = only_host(launching(build, 1).osrt("poll", 10, 40, tid=2).model())
    assert (len(host.os_call.times), host.has_os_calls) == (0, False)


def test_the_first_launch_of_each_kernel_on_each_device_is_marked(build: TraceBuilder) -> None:
    for number, (name, device) in enumerate([("a", 0), ("b", 0), ("a", 0), ("a", 1), ("b", 0)]):
        build.api("cudaLaunchKernel", 10 * number, 10 * number + 1, corr=number + 1)
        build.kernel(10 * number + 2, 10 * number + 5, corr=number + 1, name=name, device=device)
    marked = [first_launches(a.rows).tolist() for a in activities(build.model()) if a.rows is not None]
    assert marked == [[True, True, False, False, False], [False, False, False, True, False]]


def test_a_graph_is_first_once_whatever_runs_inside(build: TraceBuilder) -> None:
    for number, graph in enumerate([5, 5, 6]):
        build.api("cudaGraphLaunch", 10 * number, 10 * number + 1, corr=number + 1)
        build.graph(10 * number + 2, 10 * number + 5, corr=number + 1, graph=graph)
    (activity,) = activities(build.model())
    assert activity.rows is not None
    assert first_launches(activity.rows).tolist() == [True, False, True]


def test_twenty_waits_for_another_rank_are_the_hosts_mpi_part(build: TraceBuilder) -> None:
    """A kernel of 2 ms, then 7.89 ms in MPI_Waitall, twenty times."""
    for turn in range(20):
        t = 10 * MS * turn
        build.api("cudaLaunchKernel", t, t + 5_000, corr=turn + 1).kernel(t + 10_000, t + 2 * MS, corr=turn + 1)
        build.api("cudaStreamSynchronize", t + 20_000, t + 2 * MS + 5_000)
        wait = {"start": t + 2 * MS + 10_000, "end": t + 9_900_000}
        build.add("MPI_START_WAIT_EVENTS", **wait, globalTid=global_id(1, 1), textId=build.string("MPI_Waitall"))
    found = parts(build.model())
    assert list(found) == ["host.mpi", "host.run"]
    assert found["host.mpi"] == 19 * 7_890_000  # the last is after the window


def test_a_main_thread_asleep_for_its_loader_is_the_hosts_blocked_part(build: TraceBuilder) -> None:
    """90 of every 100 ms in pthread_cond_timedwait; the window opens with the first CUDA call."""
    for turn in range(20):
        t = 100 * MS * turn
        build.osrt("pthread_cond_timedwait", t, t + 90 * MS)
        build.api("cudaLaunchKernel", t + 91 * MS, t + 91 * MS + 5_000, corr=turn + 1)
        build.kernel(t + 91 * MS + 10_000, t + 99 * MS, corr=turn + 1)
        build.api("cudaStreamSynchronize", t + 91 * MS + 20_000, t + 99 * MS + 5_000)
    found = parts(build.model())
    assert list(found) == ["host.blocked", "host.run"]
    assert found["host.blocked"] == 19 * 90 * MS


def test_a_phase_counts_before_being_blocked(build: TraceBuilder) -> None:
    launching(build, 1).range("data", 10, 20).osrt("poll", 15, 30).api("cudaEventRecord", 40, 41)
    assert parts(build.model()) == {"host.blocked": 10, "host.data": 10, "host.run": 19}


def test_where_os_calls_were_not_traced_nothing_is_called_blocked(build: TraceBuilder) -> None:
    model = launching(build, 1).api("cudaEventRecord", 40, 41).model()
    assert parts(model) == {"host.run": 39}
    measured = host_measured(only_host(model))
    assert (measured.ranges, measured.os_calls) == (False, False)


def test_a_program_without_cuda_has_parts_too(build: TraceBuilder) -> None:
    model = build.range("epoch", 10, 60).range("validation", 50, 60).osrt("poll", 0, 30).model()
    assert parts(model) == {"host.blocked": 0, "host.run": 0, "host.step": 40, "host.validation": 10}


def test_parts_that_miss_the_host_are_refused(build: TraceBuilder) -> None:
    model = launching(build, 1).api("cudaEventRecord", 40, 41).model()
    (activity,), host = activities(model), only_host(model)
    window = Window("w", 0, 41)
    (ledger,) = book(activity, [window])
    wrong: Ledger = replace(ledger, accounts={**ledger.accounts, "host": 38})
    with pytest.raises(LedgerError, match="the parts of host sum to 39 ns, host has 38 ns"):
        host_parts(pieces(activity, host, window), host, [wrong])


@quick
@given(traces)
def test_the_parts_of_host_are_what_each_tick_says(tmp_path: Path, rows: Rows) -> None:
    model = model_of(tmp_path, rows)
    window, every = default_window(model), activities(model)
    if window is None:
        return
    for activity, host in zip(every, host_timelines(model, every), strict=True):
        found = host_parts(pieces(activity, host, window), host, book(activity, [window]))[0]
        expected = summed(part(tick) for tick in ticks(model, activity, every, window) if tick.account == "host")
        assert {name: ns for name, ns in found.items() if ns} == expected
        assert ("host.blocked" in found) == host.has_os_calls
