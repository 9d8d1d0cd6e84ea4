"""nsys' own messages: refuted by what the tables hold, about other processes, or standing."""

import pytest

from builders import TraceBuilder, global_id
from wallsplit.breakdowns.nsys_messages import compute

NO_NVTX = "No NVTX events collected. Does the process use NVTX?"
NO_CUDA = "No CUDA events collected. Does the process use CUDA?"
NOT_STARTED = "CUDA profiling might have not been started correctly."
NO_MAPS = "No MMAP events were received for process with pid 2 before attempting to resolve symbol."


def message(build: TraceBuilder, text: str, pid: int = 0, severity: int = 2) -> TraceBuilder:
    return build.add(
        "DIAGNOSTIC_EVENT", timestamp=0, severity=severity, text=text, globalPid=global_id(pid) if pid else 0
    )


def standings(build: TraceBuilder) -> list[str]:
    return compute(build.model(), None)["standing"].to_list()


@pytest.mark.parametrize(("text", "pid"), [(NO_NVTX, 1), (NO_NVTX, 0), (NO_CUDA, 1), (NOT_STARTED, 1)])
def test_a_message_that_misses_rows_the_trace_has_is_refuted(build: TraceBuilder, text: str, pid: int) -> None:
    build.api("cudaFree", 0, 5).range("step", 0, 5)
    assert standings(message(build, text, pid)) == ["refuted"]


@pytest.mark.parametrize(("text", "pid"), [(NO_CUDA, 2), ("whatever", 2), (NO_MAPS, 0)])
def test_a_message_about_a_process_without_a_ledger_is_told_apart(build: TraceBuilder, text: str, pid: int) -> None:
    assert standings(message(build.api("cudaFree", 0, 5), text, pid)) == ["other_process"]


@pytest.mark.parametrize(("text", "pid"), [(NO_NVTX, 1), ("lost 5 events", 1), ("lost 5 events", 0)])
def test_what_nothing_contradicts_stands(build: TraceBuilder, text: str, pid: int) -> None:
    assert standings(message(build.api("cudaFree", 0, 5), text, pid)) == ["stands"]


def test_a_process_that_marked_ranges_and_lost_its_cuda_rows_is_no_other_process(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 5).range("step", 0, 5, pid=2)
    assert standings(message(build, NO_CUDA, 2)) == ["stands"]


def test_without_any_cuda_row_it_stands_that_there_is_none(build: TraceBuilder) -> None:
    assert standings(message(build.osrt("poll", 0, 5), NO_CUDA, 1)) == ["stands"]


def test_equal_messages_of_one_process_are_counted_and_all_severities_kept(build: TraceBuilder) -> None:
    build.api("cudaFree", 0, 5)
    for severity in (1, 2, 2, 3, 4):
        message(build, "said", 1, severity)
    found = compute(build.model(), None)
    assert found.select("severity", "pid", "count").rows() == [
        ("info", 1, 1),
        ("warning", 1, 2),
        ("error", 1, 1),
        ("other", 1, 1),
    ]
