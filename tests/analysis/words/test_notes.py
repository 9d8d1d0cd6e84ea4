"""Notes: each way in which a trace says less than it seems becomes a sentence, and complete traces get none."""

import pytest

from builders import TraceBuilder
from shared_traces import TRACES, needs_shared_traces
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace
from wallsplit.words.notes import notes


def texts(model: Model) -> str:
    window = default_window(model)
    ledgers = [book(activity, [window])[0] for activity in activities(model)] if window else []
    return "\n".join(f"{note.level}: {note.text}" for note in notes(model, ledgers, window, explicit=False))


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
    assert "cudaLaunchKernel returned 700 (2 ×)" in said
    assert "cudaEventQuery" not in said


def test_a_trace_without_cuda_says_what_it_has_instead(build: TraceBuilder) -> None:
    said = texts(build.range("step", 0, 5).osrt("poll", 0, 5).model())
    assert "no CUDA rows" in said
    assert "1 NVTX range and 1 OS runtime call" in said


def test_the_profilers_warnings_are_passed_on_and_its_chatter_is_not(build: TraceBuilder) -> None:
    for severity, text in ((1, "started"), (2, "lost 5 events"), (3, "no driver"), (4, "verbose")):
        build.add("DIAGNOSTIC_EVENT", timestamp=0, severity=severity, text=text)
    said = texts(build.range("step", 0, 5).model())
    assert "nsys warning: lost 5 events" in said
    assert "nsys error: no driver" in said
    assert "started" not in said
    assert "verbose" not in said


@needs_shared_traces
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wsl_no_kernels_4060", "launched kernels, but the trace has no GPU work of it"),
        ("cuda_error_700", "returned 700"),
        ("no_cuda_events_jacc", "CUDA profiling might have not been started correctly"),
        ("torch_2xh100_1s_orphans", "have the API call that launched them"),
        ("graph_level_only_a100_torchcompile", "10 CUDA graph replays were recorded as a whole"),
        ("jetson_orin", "launched nothing that was recorded"),
    ],
)
def test_the_traps_of_the_shared_traces_are_pointed_out(name: str, says: str) -> None:
    assert says in texts(load(Trace.open(TRACES[name])))


def test_failed_calls_are_listed_once_each_in_one_order(build: TraceBuilder) -> None:
    for name, code in (("cudaMalloc", 700), ("cudaMalloc", 2), ("cudaFree", 2), ("cudaFree", 700), ("cudaFree", 2)):
        build.api(name, 0, 1, result=code)
    said = texts(build.model())
    assert (
        "failed: cudaFree returned 2 (2 ×), cudaFree returned 700 (1 ×), "
        "cudaMalloc returned 2 (1 ×), cudaMalloc returned 700 (1 ×). "
    ) in said
