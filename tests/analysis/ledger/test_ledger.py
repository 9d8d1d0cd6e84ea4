"""The ledger against its reference on real traces, and by hand where no real trace decides."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyses import ledger as a_ledger
from builders import TraceBuilder
from shared_traces import CASE_ORACLES, CASES, ORACLES, TRACES, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.errors import LedgerError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book, check
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace

MS = 1_000_000


def ledgers(model: Model, window: Window | None = None) -> list[Ledger]:
    chosen = window or default_window(model)
    assert chosen is not None
    return [book(activity, [chosen])[0] for activity in activities(model)]


def accounts(model: Model, window: Window | None = None) -> dict[str, int | None]:
    """Return the non-zero accounts of the only ledger."""
    (ledger,) = ledgers(model, window)
    return taken(ledger)


def taken(ledger: Ledger) -> dict[str, int | None]:
    """Return the accounts that are not zero."""
    return {name: ns for name, ns in ledger.accounts.items() if ns}


@needs_shared_traces
@pytest.mark.parametrize("name", [name for name in TRACES if ORACLES and (ORACLES / name / "ledger2.json").exists()])
def test_every_figure_equals_the_reference_ledger(name: str) -> None:
    assert ORACLES is not None
    check_against_reference(TRACES[name], ORACLES / name / "ledger2.json")


def check_against_reference(trace: Path, oracle: Path) -> None:
    reference = json.loads(oracle.read_text())
    model = load(Trace.open(trace))
    if reference["window"] is None:  # the reference knows CUDA only
        assert model.cuda_span is None
        return
    window = default_window(model)
    assert window is not None
    assert [window.start_ns, window.end_ns] == reference["window"]
    fields = list(reference["ledgers"][0])
    for ledger, expected in zip(ledgers(model), reference["ledgers"], strict=True):
        exposure = {key: vars(value) for key, value in ledger.api_exposure.items()}
        assert {**{name: getattr(ledger, name) for name in fields}, "api_exposure": exposure} == expected


@needs_shared_traces
@pytest.mark.parametrize(
    ("name", "busy_per_cent"), [("graph_level_only_a100_torchcompile", 99.9), ("torch_2xh100_1s_orphans", 99.3)]
)
def test_a_gpu_that_is_busy_with_graphs_or_copies_is_not_called_idle(name: str, busy_per_cent: float) -> None:
    first = ledgers(load(Trace.open(TRACES[name])))[0]
    assert first.busy_ratio is not None
    assert round(100 * first.busy_ratio, 1) == busy_per_cent


@needs_shared_traces
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_figure_of_the_cases_people_asked_about_equals_the_reference(name: str) -> None:
    check_against_reference(CASES[name], CASE_ORACLES / name / "ledger2.json")


def test_a_wait_for_a_busy_gpu_is_hidden_and_only_its_tail_is_booked_as_sync(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 10, corr=1).kernel(15, 100, corr=1).api("cudaDeviceSynchronize", 10, 120)
    model = build.model()
    assert accounts(model) == {"gpu.kernel": 85, "cuda.launch": 10, "cuda.latency": 5, "cuda.sync": 20}
    (ledger,) = ledgers(model)
    sync = ledger.api_exposure["cuda.sync"]
    assert (sync.union_ns, sync.hidden_ns, sync.exposed_ns) == (110, 85, 25)


def test_a_zero_length_operation_ends_a_gap(build: TraceBuilder) -> None:
    """The gap before the kernel starts at the zero-length memset, so its latency cannot reach behind it."""
    build.api("cudaLaunchKernel", 0, 2, corr=1).memset(10, 10).kernel(14, 20, corr=1)
    assert accounts(build.model())["cuda.latency"] == 4


def test_of_several_operations_that_end_a_gap_the_latest_call_decides(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 2, corr=1).api("cudaMemcpyAsync", 3, 6, corr=2)
    build.kernel(10, 20, corr=1).copy(10, 12, corr=2)
    assert accounts(build.model())["cuda.latency"] == 4


def test_two_api_rows_with_one_correlation_id_are_charged_once(build: TraceBuilder) -> None:
    build.api("cudaMemcpy", 0, 20, corr=1).api("cudaMemcpy_v3020", 0, 20, corr=1).copy(5, 15, corr=1)
    model = build.model()
    assert accounts(model) == {"gpu.memcpy": 10, "cuda.memcpy": 10}
    (ledger,) = ledgers(model)
    assert ledger.api_exposure["cuda.memcpy"].union_ns == 20


def test_correlation_ids_mean_nothing_across_processes(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1, pid=1).api("cudaLaunchKernel", 0, 9, corr=1, pid=2)
    build.kernel(10, 20, corr=1, pid=1)
    one, two = ledgers(build.model())
    assert (one.accounts["cuda.latency"], one.launch_coverage) == (5, 1.0)
    assert (two.device, two.launch_coverage, two.gpu_complete) == (None, 0.0, False)


def test_a_watchdog_thread_parked_in_a_wait_does_not_swallow_the_hosts_time(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1, tid=1).kernel(5, 10, corr=1)
    build.api("cudaEventSynchronize", 0, 100, tid=2).overhead(20, 30, tid=2).overhead(30, 40, tid=1)
    assert accounts(build.model()) == {"gpu.kernel": 5, "cuda.launch": 5, "cuda.profiler": 10, "host": 80}


def test_a_launch_while_its_thread_captures_builds_a_graph_and_is_not_lost(build: TraceBuilder) -> None:
    build.api("cudaStreamBeginCapture", 0, 2).api("cudaLaunchKernel", 3, 6).api("cudaStreamEndCapture_v10000", 7, 9)
    build.api("cudaLaunchKernel", 3, 6, corr=5, tid=2).kernel(20, 30, corr=5)
    (ledger,) = ledgers(build.model())
    assert (ledger.launch_coverage, ledger.gpu_complete) == (1.0, True)
    assert ledger.accounts["cuda.launch"] == 3
    assert ledger.accounts["cuda.graph_build"] == 2 + 2


def test_communication_counts_only_while_nothing_else_computes(build: TraceBuilder) -> None:
    build.kernel(0, 10, name="gemm<float>").kernel(5, 20, name="ncclDevKernel_AllReduce<int>")
    assert accounts(build.model()) == {"gpu.kernel": 10, "gpu.comm": 10}


def test_copies_without_an_api_row_do_not_make_the_api_side_incomplete(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 3, corr=1).copy(4, 5)
    (ledger,) = ledgers(build.model())
    assert (ledger.api_coverage, ledger.api_complete) == (1.0, True)


def test_a_cpu_run_has_a_host_ledger_whose_gpu_accounts_are_not_measured(build: TraceBuilder) -> None:
    build.range("epoch", 10, 60).osrt("poll", 0, 200)
    (ledger,) = ledgers(build.model())
    assert (ledger.wall_ns, ledger.accounts["host"], ledger.device, ledger.busy_ratio) == (50, 50, None, None)
    assert all(ledger.accounts[name] is None for name in ACCOUNTS[:-1])


def test_the_gpu_working_for_another_process_is_not_idle(build: TraceBuilder) -> None:
    build.kernel(0, 10, pid=1).kernel(5, 20, pid=2).api("cudaMalloc", 12, 30, pid=1)
    mine, other = ledgers(build.model())
    assert {name: ns for name, ns in mine.accounts.items() if ns} == {
        "gpu.kernel": 10,
        "gpu.other": 10,
        "cuda.alloc": 10,
    }
    assert {name: ns for name, ns in other.accounts.items() if ns} == {"gpu.kernel": 15, "gpu.other": 5, "host": 10}
    assert (mine.gpu_busy_ns, other.gpu_busy_ns) == (10, 15)


def test_processes_that_number_their_devices_themselves_share_a_gpu_only_where_it_is_the_same(
    build: TraceBuilder,
) -> None:
    for pid, gpu in ((1, 3), (2, 5), (4, 3)):
        build.kernel(0, 10, pid=pid).add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid)
    build.kernel(10, 30, pid=4)
    found = {ledger.pid: (ledger.gpu, ledger.accounts["gpu.other"]) for ledger in ledgers(build.model())}
    assert found == {1: (3, 20), 2: (5, 0), 4: (3, 0)}


def test_each_gpu_of_one_process_has_only_its_own_work(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 55, corr=1, device=0)
    build.api("cudaLaunchKernel", 60, 65, corr=2).kernel(65, 85, corr=2, device=1).copy(65, 70, device=1)
    first, second = ledgers(build.model())
    assert (first.accounts["gpu.kernel"], first.accounts["gpu.memcpy"], first.gpu_busy_ns) == (50, 0, 50)
    assert (second.accounts["gpu.kernel"], second.accounts["gpu.memcpy"], second.gpu_busy_ns) == (20, 0, 20)
    assert (first.accounts["gpu.other"], second.accounts["gpu.other"]) == (0, 0)


def test_from_99_per_cent_of_covered_launches_on_a_ledger_is_complete(build: TraceBuilder) -> None:
    for corr in range(100):
        build.api("cudaLaunchKernel", 10 * corr, 10 * corr + 1, corr=corr)
        if corr:
            build.kernel(10 * corr + 2, 10 * corr + 3, corr=corr)
    (ledger,) = ledgers(build.model())
    assert (ledger.launch_coverage, ledger.gpu_complete) == (0.99, True)
    build.api("cudaLaunchKernel", 2000, 2001, corr=777)
    (ledger,) = ledgers(build.model())
    assert (ledger.launch_coverage, ledger.gpu_complete) == (99 / 101, False)


def test_from_99_per_cent_of_kernels_with_a_call_on_the_api_side_is_complete(build: TraceBuilder) -> None:
    for corr in range(100):
        build.kernel(10 * corr + 2, 10 * corr + 3, corr=corr)
        if corr:
            build.api("cudaLaunchKernel", 10 * corr, 10 * corr + 1, corr=corr)
    (ledger,) = ledgers(build.model())
    assert (ledger.api_coverage, ledger.api_complete) == (0.99, True)
    build.kernel(2000, 2001, corr=777)
    (ledger,) = ledgers(build.model())
    assert (ledger.api_coverage, ledger.api_complete) == (99 / 101, False)


def test_failed_launches_ran_nothing_and_take_nothing_from_completeness(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1, result=209).api("cudaLaunchKernel", 6, 9, corr=2).kernel(9, 12, corr=2)
    (ledger,) = ledgers(build.model())
    assert (ledger.launch_coverage, ledger.gpu_complete) == (1.0, True)


def test_a_host_function_is_no_launch(build: TraceBuilder) -> None:
    build.api("cudaLaunchHostFunc", 0, 5).api("cudaLaunchKernel", 5, 9, corr=2).kernel(9, 12, corr=2)
    (ledger,) = ledgers(build.model())
    assert (ledger.accounts["cuda.other"], ledger.accounts["cuda.launch"], ledger.gpu_complete) == (5, 4, True)


def test_many_windows_at_once_give_what_each_alone_gives_though_they_overlap(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 55, corr=1).api("cudaDeviceSynchronize", 6, 60)
    model = build.model()
    windows = [Window("w", 0, 60), Window("w", 10, 20), Window("w", 15, 58), Window("w", 59, 70)]
    (activity,) = activities(model)
    together = book(activity, windows)
    assert [x.window for x in together] == windows
    for ledger, window in zip(together, windows, strict=True):
        (alone,) = book(activity, [window])
        assert (ledger.accounts, ledger.api_exposure) == (alone.accounts, alone.api_exposure)


@pytest.mark.parametrize(
    ("accounts_ns", "busy_ns", "wrong"),
    [
        ({"gpu.kernel": 5, "host": 6}, 5, "miss the window of 10 ns by -1 ns"),
        ({"gpu.kernel": 12, "host": -2}, 12, "miss the window of 10 ns by 0 ns"),
        ({"gpu.kernel": 4, "cuda.launch": 6}, 5, "the GPU's accounts hold 4 ns, its rows 5 ns"),
    ],
)
def test_a_ledger_that_does_not_add_up_is_refused(accounts_ns: dict[str, int], busy_ns: int, wrong: str) -> None:
    made = replace(a_ledger(gpu_kernel=10), accounts={**dict.fromkeys(ACCOUNTS, 0), **accounts_ns})
    with pytest.raises(LedgerError, match=wrong):
        check(made, busy_ns)


operation = st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(1, 6), st.integers(0, 1))
call = st.tuples(
    st.sampled_from(["cudaLaunchKernel", "cudaMemcpy", "cudaMalloc", "cudaDeviceSynchronize", "cudaEventRecord"]),
    st.integers(0, 40),
    st.integers(0, 12),
    st.integers(1, 6),
    st.integers(1, 2),
)
traces = st.tuples(
    st.lists(operation, max_size=6), st.lists(operation, max_size=3), st.lists(call, min_size=1, max_size=8)
)
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Rows = tuple[list[tuple[int, int, int, int]], list[tuple[int, int, int, int]], list[tuple[str, int, int, int, int]]]


def model_of(tmp_path: Path, rows: Rows, *, shift: int = 0, backwards: bool = False, split: bool = False) -> Model:
    build = TraceBuilder(tmp_path / "t.sqlite")
    kernels, copies, calls = rows
    if backwards:
        kernels, copies, calls = kernels[::-1], copies[::-1], calls[::-1]
    for start, length, corr, device in kernels:
        start += shift
        build.kernel(start, start + length, corr=corr, device=device)
        if split and length > 1:  # the same time booked as two adjacent rows, too
            build.kernel(start, start + 1, corr=corr, device=device)
            build.kernel(start + 1, start + length, corr=corr, device=device)
    for start, length, corr, device in copies:
        build.copy(start + shift, start + shift + length, corr=corr, device=device)
    for name, start, length, corr, tid in calls:
        build.api(name, start + shift, start + shift + length, corr=corr, tid=tid)
    return build.model()


@quick
@given(traces, st.integers(0, 60))
def test_accounts_are_never_negative_and_ledgers_of_adjacent_windows_add_up(
    tmp_path: Path, rows: Rows, cut: int
) -> None:
    model = model_of(tmp_path, rows)
    whole = Window("0:60", 0, 60)
    parts = [ledgers(model, Window("left", 0, cut)), ledgers(model, Window("right", cut, 60))]
    for ledger, left, right in zip(ledgers(model, whole), *parts, strict=True):
        assert ledger.residual_ns == 0
        assert all((ns or 0) >= 0 for ns in ledger.accounts.values())
        for name, ns in ledger.accounts.items():
            assert ns == (left.accounts[name] or 0) + (right.accounts[name] or 0)


@quick
@given(traces, st.integers(-5, 10**15))
def test_shifting_time_permuting_rows_and_splitting_an_interval_change_nothing(
    tmp_path: Path, rows: Rows, shift: int
) -> None:
    plain = model_of(tmp_path, rows)
    if plain.cuda_span is None or plain.cuda_span[0] == plain.cuda_span[1]:
        return
    expected = [led.accounts for led in ledgers(plain)]
    assert [led.accounts for led in ledgers(model_of(tmp_path, rows, shift=shift))] == expected
    assert [led.accounts for led in ledgers(model_of(tmp_path, rows, backwards=True))] == expected
    assert [led.accounts for led in ledgers(model_of(tmp_path, rows, split=True))] == expected
