"""Set-up by cause: the calls inside which CUDA creates contexts and loads code."""

from builders import TraceBuilder
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.windows import default_window

MS = 1_000_000


def setup_ms(build: TraceBuilder) -> float:
    """Return the ms of set-up in the first ledger, hidden or exposed, without the last ns of short calls."""
    model = build.model()
    window = default_window(model)
    assert window is not None
    (ledger,) = book(activities(model)[0], [window])
    exposure = ledger.api_exposure.get("cuda.setup")
    return exposure.union_ns // 1_000 / 1_000 if exposure else 0.0


def long_call(build: TraceBuilder, name: str, at_ms: int, *, tid: int = 1, corr: int | None = None) -> TraceBuilder:
    """Add a call of 2 ms."""
    return build.api(name, at_ms * MS, (at_ms + 2) * MS, tid=tid, corr=corr)


def test_the_first_long_runtime_call_creates_the_context_and_later_ones_are_what_their_names_say(
    build: TraceBuilder,
) -> None:
    long_call(build, "cudaFree", 0)
    long_call(build, "cudaHostAlloc", 10)
    build.api("cudaLaunchKernel", 20 * MS, 20 * MS + 5, corr=1).kernel(21 * MS, 22 * MS, corr=1)
    assert setup_ms(build) == 2


def test_a_call_of_exactly_one_millisecond_is_long(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, MS - 1)
    assert setup_ms(build) == 0
    build.api("cudaMalloc", 2 * MS, 3 * MS)
    assert setup_ms(build) == 1


def test_without_any_gpu_work_the_first_long_runtime_call_still_creates_a_context(build: TraceBuilder) -> None:
    assert setup_ms(long_call(build, "cudaMalloc", 0)) == 2


def test_a_call_that_starts_with_the_first_operation_creates_no_context(build: TraceBuilder) -> None:
    build.kernel(10, 11).api("cudaMalloc", 10, 10 + 2 * MS)
    assert setup_ms(build) == 0


def test_driver_calls_need_a_context_and_never_make_one(build: TraceBuilder) -> None:
    assert setup_ms(long_call(build, "cuMemAlloc_v2", 0)) == 0


def test_waiting_creates_no_context(build: TraceBuilder) -> None:
    assert setup_ms(long_call(build, "cudaDeviceSynchronize", 0)) == 0


def test_asking_for_the_device_creates_no_context(build: TraceBuilder) -> None:
    long_call(build, "cudaGetDeviceCount", 0)  # of class setup by its name
    long_call(build, "cudaMalloc", 10)
    assert setup_ms(build) == 4


def test_a_call_that_creates_the_context_by_name_leaves_none_for_later_calls(build: TraceBuilder) -> None:
    long_call(build, "cuCtxCreate_v2", 0)
    long_call(build, "cudaMalloc", 10)
    assert setup_ms(build) == 2


def test_two_devices_need_two_contexts_and_a_switch_of_device_between_them(build: TraceBuilder) -> None:
    build.kernel(50 * MS, 51 * MS, device=0).kernel(50 * MS, 51 * MS, device=1)
    long_call(build, "cudaMalloc", 0)
    long_call(build, "cudaMalloc", 10)  # not the thread's first since its last switch
    assert setup_ms(build) == 2
    build.api("cudaSetDevice", 20 * MS, 20 * MS + 10)
    long_call(build, "cudaMalloc", 30)
    assert setup_ms(build) == 4
    build.api("cudaSetDevice", 35 * MS, 35 * MS + 10)
    long_call(build, "cudaMalloc", 40)  # both contexts exist
    assert setup_ms(build) == 4


def test_each_thread_may_make_a_context_with_its_own_first_long_call(build: TraceBuilder) -> None:
    build.kernel(50 * MS, 51 * MS, device=0).kernel(50 * MS, 51 * MS, device=1)
    long_call(build, "cudaMalloc", 0, tid=1)
    long_call(build, "cudaMalloc", 10, tid=2)
    assert setup_ms(build) == 4


def test_from_the_profilers_start_on_no_context_is_created(build: TraceBuilder) -> None:
    build.api("cuProfilerStart", 0, 5)
    assert setup_ms(long_call(build, "cudaMalloc", 10)) == 0


def test_the_first_launch_of_a_kernel_loads_its_code_wherever_it_is_in_the_run(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, 5).kernel(0, 10, corr=99, name="early")
    for corr, name in ((1, "a"), (2, "a"), (3, "b")):
        long_call(build, "cudaLaunchKernel", 10 * corr, corr=corr).kernel(
            10 * corr * MS, (10 * corr + 1) * MS, corr, name
        )
    assert setup_ms(build) == 4


def test_a_short_first_launch_has_loaded_the_code_for_the_next(build: TraceBuilder) -> None:
    build.kernel(0, 1, corr=99, name="early")
    build.api("cudaLaunchKernel", 5 * MS, 5 * MS + 10, corr=1).kernel(6 * MS, 7 * MS, corr=1, name="a")
    long_call(build, "cudaLaunchKernel", 10, corr=2).kernel(12 * MS, 13 * MS, corr=2, name="a")
    assert setup_ms(build) == 0


def test_the_first_launch_of_a_graph_executable_is_loading_and_each_executable_has_its_own(build: TraceBuilder) -> None:
    build.kernel(0, 1, corr=99)
    for corr, graph in ((1, 7), (2, 7), (3, 8)):
        long_call(build, "cudaGraphLaunch", 10 * corr, corr=corr).graph(10 * corr * MS, 10 * corr * MS + 5, corr, graph)
    assert setup_ms(build) == 4


def test_a_long_launch_without_a_gpu_row_stays_a_launch(build: TraceBuilder) -> None:
    build.kernel(0, 1, corr=99)
    assert setup_ms(long_call(build, "cudaLaunchKernel", 10)) == 0


def test_during_capture_nothing_is_loaded(build: TraceBuilder) -> None:
    build.kernel(0, 1, corr=99).api("cudaStreamBeginCapture", MS, MS + 1)
    long_call(build, "cudaLaunchKernel", 10, corr=1).kernel(30 * MS, 31 * MS, corr=1)
    assert setup_ms(build) == 0
