"""The ledger against its reference on real traces, and by hand where no real trace decides."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from shared_traces import ORACLES, TRACES, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace

MS = 1_000_000


def ledgers(model: Model, window: Window | None = None) -> list[Ledger]:
    chosen = window or default_window(model)
    assert chosen is not None
    return [book(activity, chosen) for activity in activities(model)]


def accounts(model: Model, window: Window | None = None) -> dict[str, int | None]:
    """Return the non-zero accounts of the only ledger."""
    (ledger,) = ledgers(model, window)
    return {name: ns for name, ns in ledger.accounts.items() if ns}


@needs_shared_traces
@pytest.mark.parametrize("name", [name for name in TRACES if ORACLES and (ORACLES / name / "ledger.json").exists()])
def test_every_figure_equals_the_reference_ledger(name: str) -> None:
    assert ORACLES is not None
    reference = json.loads((ORACLES / name / "ledger.json").read_text())
    model = load(Trace.open(TRACES[name]))
    if reference["window"] is None:  # the reference knows CUDA only
        assert model.cuda_span is None
        return
    window = default_window(model)
    assert window is not None
    assert [window.start_ns, window.end_ns] == reference["window"]
    found = []
    for ledger in ledgers(model):
        exposure = {key: vars(value) for key, value in ledger.api_exposure.items()}
        found.append(
            {
                "launch_coverage": ledger.launch_coverage,
                "api_coverage": ledger.api_coverage,
                "gpu_complete": ledger.gpu_complete,
                "api_complete": ledger.api_complete,
                "pid": ledger.pid,
                "device": ledger.device,
                "accounts": ledger.accounts,
                "gpu_busy_ns": ledger.gpu_busy_ns,
                "api_exposure": exposure,
            }
        )
    assert found == reference["ledgers"]


@needs_shared_traces
@pytest.mark.parametrize(
    ("name", "busy_per_cent"), [("graph_level_only_a100_torchcompile", 99.9), ("torch_2xh100_1s_orphans", 99.3)]
)
def test_a_gpu_that_is_busy_with_graphs_or_copies_is_not_called_idle(name: str, busy_per_cent: float) -> None:
    first = ledgers(load(Trace.open(TRACES[name])))[0]
    assert first.busy_ratio is not None
    assert round(100 * first.busy_ratio, 1) == busy_per_cent


def test_a_call_of_exactly_one_millisecond_before_the_first_operation_is_implicit_setup(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, MS).api("cudaMalloc", MS, 2 * MS - 1).api("cudaLaunchKernel", 2 * MS, 2 * MS + 5, corr=7)
    build.kernel(2 * MS + 5, 2 * MS + 9, corr=7)
    assert accounts(build.model()) == {
        "gpu.kernel": 4,
        "cuda.setup": MS,
        "cuda.alloc": MS - 1,
        "cuda.launch": 5,
        "host": 1,
    }


def test_a_call_that_starts_with_the_first_operation_is_no_implicit_setup(build: TraceBuilder) -> None:
    build.kernel(10, 11).api("cudaMalloc", 10, 10 + 2 * MS).api("cudaLaunchKernel", 0, 1)
    assert "cuda.setup" not in accounts(build.model())


def test_without_gpu_work_nothing_is_implicit_setup(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 5 * MS)
    assert accounts(build.model()) == {"cuda.alloc": 5 * MS}


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
