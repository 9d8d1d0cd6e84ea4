"""One small trace per kind of anomaly."""

from builders import TraceBuilder
from wallsplit.breakdowns import anomalies
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model


def found(model: Model, window: Window | None = None) -> list[tuple[str, int]]:
    return [(kind, count) for kind, count, _ in anomalies.compute(model, window).iter_rows()]


def details(model: Model) -> list[str]:
    return anomalies.compute(model, None)["detail"].to_list()


def test_a_trace_where_all_is_well_has_none(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, 1).kernel(10, 20, 1).api("cudaMemcpyAsync", 6, 8, 2).copy(20, 30, 2)
    assert found(build.model()) == []


def test_failed_calls_are_counted_by_name_and_code_the_most_frequent_first(build: TraceBuilder) -> None:
    for name, code in (("cudaFree", 700), ("cudaMalloc", 2), ("cudaMalloc", 2), ("cudaMalloc", 0)):
        build.api(name, 0, 1, result=code)
    assert found(build.model()) == [("failed_api_call", 2), ("failed_api_call", 1)]
    assert details(build.model()) == [
        "cudaMalloc: out of memory (code 2)",
        "cudaFree: illegal memory access (code 700)",
    ]


def test_not_ready_is_the_answer_of_a_query_and_the_failure_of_anything_else(build: TraceBuilder) -> None:
    build.api("cudaEventQuery", 0, 1, result=600).api("cudaMalloc", 0, 1, result=600)
    assert found(build.model()) == [("failed_api_call", 1), ("not_ready_answer", 1)]


def test_launches_without_gpu_work_are_counted_but_for_those_that_failed_or_record_a_graph(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1).api("cudaGraphLaunch", 1, 2).api("cudaLaunchKernel", 2, 3)
    build.api("cudaLaunchKernel", 4, 5, result=209)
    build.api("cudaStreamBeginCapture", 10, 11).api("cudaLaunchKernel", 12, 13).api("cudaStreamEndCapture", 14, 15)
    assert found(build.model()) == [("failed_api_call", 1), ("api_without_gpu_row", 3)]
    assert details(build.model())[1:] == [
        "launches outside stream capture without GPU work: cudaLaunchKernel 2 ×, cudaGraphLaunch 1 ×"
    ]


def test_gpu_work_without_a_call_is_counted_kernels_and_replays_apart_from_copies(build: TraceBuilder) -> None:
    build.kernel(0, 1).graph(1, 2).copy(2, 3).api("cudaMalloc", 0, 1)
    assert found(build.model()) == [("kernel_without_api_row", 2), ("memory_op_without_api_row", 1)]


def test_a_call_of_another_process_is_not_the_call(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, 7, pid=1).kernel(5, 6, 7, pid=2)
    assert found(build.model()) == [("api_without_gpu_row", 1), ("kernel_without_api_row", 1)]


def test_a_kernel_before_all_its_calls_is_counted_once(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 10, 15, 1).api("cuLaunchKernel", 11, 14, 1).kernel(9, 20, 1)
    build.api("cudaLaunchKernel", 30, 35, 2).kernel(30, 50, 2)
    assert found(build.model()) == [("kernel_started_before_call", 1), ("duplicate_correlation_id", 1)]


def test_a_correlation_id_that_several_calls_carry_is_counted_be_it_the_last_one(build: TraceBuilder) -> None:
    build.api("cudaMemcpy", 0, 1, 7).api("cudaMemcpy_v3020", 2, 3, 7)
    assert found(build.model()) == [("duplicate_correlation_id", 1)]
    build.api("cudaFree", 4, 5, 8)
    assert found(build.model()) == [("duplicate_correlation_id", 1)]


def test_calls_without_a_correlation_id_share_none(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 1).api("cudaFree", 2, 3)
    for row in build.rows["CUPTI_ACTIVITY_KIND_RUNTIME"]:
        row["correlationId"] = None
    assert found(build.model()) == []


def test_operations_of_length_zero_are_counted(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, 1).kernel(5, 5, 1).api("cudaMemsetAsync", 2, 3, 2).memset(6, 6, 2)
    assert found(build.model()) == [("zero_length_operation", 2)]


def test_unusable_rows_are_counted_by_table(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 0, None).api("cudaMalloc", 5, 4).range("open", 0, None)
    assert found(build.model()) == [("unusable_rows", 2), ("unusable_rows", 1)]
    assert details(build.model())[1] == "rows of NVTX_EVENTS with a missing or reversed end or an impossible time"


def test_a_window_keeps_the_anomalies_in_it_and_looks_for_partners_outside(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 5, 1).kernel(100, 110, 1).api("cudaFree", 10, 11, result=2)
    assert found(build.model(), Window("w", 90, 200)) == []
    assert found(build.model(), Window("w", 0, 12)) == [("failed_api_call", 1)]
