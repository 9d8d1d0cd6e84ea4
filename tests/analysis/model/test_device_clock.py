"""A device's clock that runs ahead shows where a wait returns before the work it waits for ends."""

import pytest

from builders import TraceBuilder, global_id
from shared_traces import TRACES, needs_shared_traces
from wallsplit.breakdowns import tables
from wallsplit.model import Model, load
from wallsplit.model.device_clock import ClockAhead
from wallsplit.trace import Trace


def waits(build: TraceBuilder, corr: int, stream: int, *, pid: int = 1) -> TraceBuilder:
    """Add what nsys records of a wait beside its call."""
    ids = {"globalPid": global_id(pid), "correlationId": corr, "syncType": 3, "deviceId": 0, "streamId": stream}
    return build.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=0, end=1, **ids)


def launched(build: TraceBuilder, end: int, stream: int) -> TraceBuilder:
    return build.api("cudaLaunchKernel", 0, 2, corr=1).kernel(5, end, corr=1, streamId=stream)


def test_a_wait_for_a_stream_that_returns_too_early_tells_by_how_much(build: TraceBuilder) -> None:
    launched(waits(build, 2, 7), 50, 7).api("cudaStreamSynchronize", 3, 44, corr=2)
    model = build.model()
    assert model.clocks_ahead == (ClockAhead(pid=1, device=0, count=1, largest_ns=6),)
    anomalies = tables(model, None)["anomalies"]
    assert anomalies is not None
    assert anomalies.row(0)[:2] == ("device_clock_ahead", 1)


def test_a_wait_for_the_device_waits_for_all_its_streams(build: TraceBuilder) -> None:
    launched(waits(build, 2, -1), 50, 7).api("cudaDeviceSynchronize_v3020", 3, 44, corr=2)
    assert [clock.largest_ns for clock in build.model().clocks_ahead] == [6]


@pytest.mark.parametrize(
    ("call", "stream", "end", "what"),
    [
        ("cudaStreamSynchronize", 7, 44, "the work ends with the wait"),
        ("cudaStreamSynchronize", 8, 50, "the work is on another stream"),
        ("cudaEventSynchronize", 7, 50, "nobody knows what the event waits for"),
    ],
)
def test_other_waits_tell_nothing(build: TraceBuilder, call: str, stream: int, end: int, what: str) -> None:
    launched(waits(build, 2, stream), end, 7).api(call, 3, 44, corr=2)
    assert build.model().clocks_ahead == (), what


def test_work_that_was_handed_over_after_the_wait_began_tells_nothing(build: TraceBuilder) -> None:
    waits(build, 2, 7).api("cudaStreamSynchronize", 1, 44, corr=2)
    assert launched(build, 50, 7).model().clocks_ahead == ()


def ahead(name: str) -> tuple[ClockAhead, ...]:
    model: Model = load(Trace.open(TRACES[name]))
    return model.clocks_ahead


@needs_shared_traces
def test_one_of_two_ranks_has_a_clock_microseconds_ahead() -> None:
    """16 waits of rank 0, 14 of which return 4.4 to 6.7 µs before the copy that they wait for ends."""
    assert ahead("torch_ddp_2xh100_before") == (ClockAhead(pid=144, device=0, count=14, largest_ns=6_689),)
    assert ahead("torch_ddp_2xh100_after") == ()
