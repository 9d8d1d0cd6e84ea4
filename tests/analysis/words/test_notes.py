"""Notes: each way in which a trace says less than it seems becomes a sentence, and complete traces get none."""

import pytest

from builders import TraceBuilder, global_id
from shared_traces import TRACES, needs_shared_traces
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace
from wallsplit.words.notes import notes


def texts(model: Model, *, explicit: bool = False, asked_for_cpu: bool = False) -> str:
    window = default_window(model)
    ledgers = [book(activity, [window])[0] for activity in activities(model)] if window else []
    every = notes(model, ledgers, window, explicit=explicit, asked_for_cpu=asked_for_cpu)
    return "\n".join(f"{note.level}: {note.text}" for note in every)


def test_a_complete_trace_needs_no_note(build: TraceBuilder) -> None:
    assert texts(build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(6, 9, corr=1).model()) == ""


def test_launches_without_any_gpu_row_are_not_called_an_idle_gpu(build: TraceBuilder) -> None:
    said = texts(build.api("cudaLaunchKernel", 0, 5).model())
    assert "no GPU work" in said
    assert "not measured" in said


def test_graph_launches_whose_replays_were_not_exported_make_bounds(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 3, corr=1)
    for i in range(9):
        build.api("cudaGraphLaunch_v10000", 10 * i, 10 * i + 1)
    said = texts(build.model())
    assert "only 10.0 % of its launches" in said
    assert "9 CUDA graph launches own no GPU row" in said
    assert "lower bounds" in said


def test_kernels_without_their_calls_are_explained(build: TraceBuilder) -> None:
    said = texts(build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 3, corr=1).kernel(4, 5).model())
    assert "only 50.0 % of its kernels have the API call" in said
    assert "GPU times are whole" in said


def test_gpu_times_that_are_lower_bounds_are_not_called_whole(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 3, corr=1).kernel(4, 5).api("cudaLaunchKernel", 6, 7)
    said = texts(build.model())
    assert "lower bounds" in said
    assert "Launch figures cover only the calls seen" in said
    assert "whole" not in said


def test_failed_calls_are_named_counted_and_polling_is_no_failure(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, result=700).api("cudaLaunchKernel", 1, 2, result=700)
    said = texts(build.api("cudaEventQuery", 2, 3, result=600).model())
    assert "cudaLaunchKernel: illegal memory access (code 700), 2 ×." in said
    assert "cudaEventQuery" not in said


def test_a_trace_without_cuda_says_what_it_has_instead(build: TraceBuilder) -> None:
    said = texts(build.range("step", 0, 5).osrt("poll", 0, 5).model())
    assert "no CUDA rows" in said
    assert "1 NVTX range and 1 OS runtime call" in said


def test_the_profilers_warnings_fold_into_one_line_with_a_count_the_gravest_first(build: TraceBuilder) -> None:
    for severity, text in (
        (1, "started"),
        (2, "lost 5 events"),
        (2, "lost 5 events"),
        (3, "no driver"),
        (4, "verbose"),
    ):
        build.add("DIAGNOSTIC_EVENT", timestamp=0, severity=severity, text=text)
    said = texts(build.range("step", 0, 5).model())
    assert "info: nsys warned 3 times about this recording: “no driver”, “lost 5 events”." in said
    assert "started" not in said
    assert "verbose" not in said


def test_a_message_that_the_tables_refute_is_not_repeated(build: TraceBuilder) -> None:
    for text in ("No NVTX events collected. Does the process use NVTX?", "lost 5 events"):
        build.add("DIAGNOSTIC_EVENT", timestamp=0, severity=2, text=text, globalPid=global_id(1))
    said = texts(build.api("cudaFree", 0, 5).range("step", 0, 5).model())
    assert "nsys warned once about this recording: “lost 5 events”." in said


def test_where_cuda_is_traced_a_few_warnings_are_quoted_and_the_others_counted(build: TraceBuilder) -> None:
    for number in range(5):
        build.add("DIAGNOSTIC_EVENT", timestamp=0, severity=2, text=f"trouble {number}")
    said = texts(build.api("cudaFree", 0, 5).model())
    assert "nsys warned 5 times about this recording: “trouble 0”, “trouble 1”, “trouble 2”, and 2 more" in said


def test_tables_that_no_number_comes_from_are_named_once_the_largest_first(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 5).add("THINGS", start=1).add("ENUM_THINGS", id=1)
    for i in range(1_001):
        build.add("MORE_THINGS", start=i)
    said = texts(build.model())
    assert "info: Also recorded and not used here: MORE_THINGS (1,001 rows), THINGS (1 row)." in said
    assert said.count("THINGS") == 2


def test_many_tables_without_a_number_are_counted(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 5)
    for i in range(43):
        build.add(f"T{i:02}", start=1)
    assert "T39 (1 row), and 3 more tables." in texts(build.model())


@pytest.mark.parametrize(("mapped", "note"), [((), "of processes 1, 2 is"), ((1,), "of process 2 is"), ((1, 2), None)])
def test_a_gpu_that_is_assumed_is_said_to_be(build: TraceBuilder, mapped: tuple[int, ...], note: str | None) -> None:
    for pid in (1, 2):
        build.api("cudaLaunchKernel", 0, 1, corr=1, pid=pid).kernel(2, 9, corr=1, pid=pid)
    for pid in mapped:
        build.add("TARGET_INFO_CUDA_DEVICE", gpuId=0, cudaId=0, pid=pid)
    said = texts(build.model())
    assert note in said if note else said == ""


def test_a_device_number_of_one_process_needs_no_assumption_worth_a_word(build: TraceBuilder) -> None:
    assert texts(build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 9, corr=1).model()) == ""


def test_a_launch_that_failed_is_no_launch_lost(build: TraceBuilder) -> None:
    build.api("cudaLaunchKernel", 0, 1, corr=1).kernel(2, 9, corr=1).api("cudaLaunchKernel", 3, 4, result=701)
    said = texts(build.model())
    assert "a launch needs more resources than there are (code 701), 1 ×. A launch that failed ran nothing" in said
    assert "lower bounds" not in said


def test_an_allocation_that_failed_is_not_called_a_launch(build: TraceBuilder) -> None:
    said = texts(build.api("cudaMalloc", 0, 1, result=2).model())
    assert "An allocation that failed" in said
    assert "launch that failed" not in said


def test_a_code_nobody_knows_is_given_as_it_is(build: TraceBuilder) -> None:
    assert "cudaMalloc: code 4242, 1 ×" in texts(build.api("cudaMalloc", 0, 1, result=4242).model())


@pytest.mark.parametrize(
    ("name", "result", "why"),
    [
        ("cudaMalloc", 0, "none of its calls launches, copies or sets"),
        ("cudaLaunchKernel", 209, "every call that launches, copies or sets failed"),
        ("cudaMemcpy", 0, "of its copies and sets the trace has no GPU work"),
    ],
)
def test_a_process_without_gpu_work_is_told_why(build: TraceBuilder, name: str, result: int, why: str) -> None:
    assert f"Process 1 called CUDA but launched nothing: {why}." in texts(build.api(name, 0, 5, result=result).model())


def test_a_kernel_that_failed_is_the_cause_of_missing_gpu_rows(build: TraceBuilder) -> None:
    said = texts(build.api("cudaLaunchKernel", 0, 1).api("cudaDeviceSynchronize", 2, 9, result=719).model())
    assert "After code 719 CUDA refuses all further work" in said
    assert "A kernel failed, as calls after it report" in said
    assert "WSL" not in said


def test_a_run_that_was_to_use_the_cpu_is_not_warned_that_it_used_no_gpu(build: TraceBuilder) -> None:
    model = build.range("step", 0, 100).duration(100).model()
    assert texts(model).startswith("warning: This trace has no CUDA rows, so nothing can be said about a GPU")
    assert texts(model, asked_for_cpu=True).startswith("info: This ran on the CPU, as it was asked to")


def test_ranges_that_cover_little_of_a_recording_are_not_taken_for_all_of_it(build: TraceBuilder) -> None:
    model = build.range("step", 800, 1_000).duration(1_000).model()
    assert "warning: Of 1.00 µs recorded, the 200 ns from the first to the last NVTX range" in texts(model)
    assert "recorded, the" not in texts(model, explicit=True)


@pytest.mark.parametrize(("start", "level"), [(0, None), (90, None), (110, "info"), (510, "warning")])
def test_the_more_of_a_recording_is_left_out_the_louder_it_is_said(
    start: int, level: str | None, build: TraceBuilder
) -> None:
    said = texts(build.range("step", start, 1_000).duration(1_000).model()).splitlines()
    assert [line.partition(":")[0] for line in said if "recorded, the" in line] == ([level] if level else [])


@needs_shared_traces
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wsl_no_kernels_4060", "launched kernels, but the trace has no GPU work of it"),
        ("cuda_error_700", "cudaFree: illegal memory access (code 700), 2 ×"),
        ("no_cuda_events_jacc", "CUDA profiling might have not been started correctly"),
        ("torch_2xh100_1s_orphans", "have the API call that launched them"),
        ("graph_level_only_a100_torchcompile", "10 CUDA graph replays were recorded as a whole"),
        ("jetson_orin", "called CUDA but launched nothing"),
        ("gpu_metrics_a100", "Also recorded and not used here"),
        ("torch_ddp_2xh100_after", "by the names of kernels: NCCL (62 kernels)"),
    ],
)
def test_the_traps_of_the_shared_traces_are_pointed_out(name: str, says: str) -> None:
    assert says in texts(load(Trace.open(TRACES[name])))


def test_failed_calls_are_listed_once_each_in_one_order(build: TraceBuilder) -> None:
    for name, code in (("cudaMalloc", 700), ("cudaMalloc", 2), ("cudaFree", 2), ("cudaFree", 700), ("cudaFree", 2)):
        build.api(name, 0, 1, result=code)
    said = texts(build.model())
    assert (
        "failed: cudaFree: out of memory (code 2), 2 ×; cudaFree: illegal memory access (code 700), 1 ×; "
        "cudaMalloc: out of memory (code 2), 1 ×; cudaMalloc: illegal memory access (code 700), 1 ×. "
    ) in said
