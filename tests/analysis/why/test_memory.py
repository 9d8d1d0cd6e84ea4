"""What a process holds of the GPU's memory, and what the GPU's own counters say."""

import numpy as np
import pytest

from builders import TraceBuilder, global_id
from shared_traces import CASES, TRACES, needs_shared_traces
from wallsplit.ledger.activity import activities
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.windows import default_window
from wallsplit.model import load
from wallsplit.model.gpu_metrics import metric
from wallsplit.schema import MEMORY_USE
from wallsplit.trace import Trace
from wallsplit.why.gpu_metrics import gpu_metrics
from wallsplit.why.memory import MemoryUse, memory_use, over_time
from wallsplit.why.sm import sm
from wallsplit.words.gpu_use import memory_note

PINNED, DEVICE, MANAGED = 1, 2, 4
Steps = list[int]


def event(
    build: TraceBuilder, time: int, address: int, size: int, *, release: bool = False, kind: int = DEVICE
) -> None:
    ids = {"globalPid": global_id(1), "deviceId": 0, "address": address, "memoryOperationType": int(release)}
    build.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=time, bytes=size, memKind=kind, **ids)


def use(build: TraceBuilder, steps: Steps | None = None) -> MemoryUse:
    found = memory_use(build.model().memory_events, 1, 0, np.array(steps or [], np.int64))
    assert found is not None
    return found


def test_the_high_water_mark_is_the_most_that_was_held_at_once(build: TraceBuilder) -> None:
    event(build, 10, 1, 100)
    event(build, 20, 2, 50, kind=MANAGED)
    event(build, 30, 1, 100, release=True)
    event(build, 40, 3, 70)
    assert use(build) == MemoryUse(
        peak_bytes=150,
        peak_at_ns=20,
        peak_by_kind={"device": 100, "managed": 50},
        end_bytes=120,
        allocation_count=3,
        release_count=1,
        growth_per_step_bytes=None,
    )
    table = over_time(build.model().memory_events, 1, 0)
    assert table.schema == MEMORY_USE
    held = [(10, "device", 100), (20, "managed", 50), (30, "device", 0), (40, "device", 70)]
    assert table.select("time", "kind", "held_bytes").rows() == held


def test_memory_of_the_host_takes_none_of_the_gpus(build: TraceBuilder) -> None:
    event(build, 10, 1, 100, kind=PINNED)
    assert memory_use(build.model().memory_events, 1, 0, np.empty(0, np.int64)) is None


def test_releases_of_what_was_held_before_the_recording_change_nothing(build: TraceBuilder) -> None:
    event(build, 10, 9, 1000, release=True)
    event(build, 20, 1, 100)
    assert (use(build).peak_bytes, use(build).end_bytes) == (100, 100)


def test_an_address_allocated_anew_was_released_unseen(build: TraceBuilder) -> None:
    event(build, 10, 1, 100)
    event(build, 20, 1, 30)
    event(build, 30, 1, 0, release=True)
    assert (use(build).peak_bytes, use(build).end_bytes) == (100, 0)


def steps_that_keep(build: TraceBuilder, kept: int) -> MemoryUse:
    """Return the memory of 12 steps, each of which allocates 100 bytes, releases them, and keeps some more."""
    for step in range(12):
        event(build, 100 * step + 10, 1, 100)
        event(build, 100 * step + 50, 1, 100, release=True)
        if kept:
            event(build, 100 * step + 60, 1000 + step, kept)
    return use(build, [100 * step for step in range(12)])


def test_memory_that_every_step_leaves_behind_looks_like_a_leak(build: TraceBuilder) -> None:
    found = steps_that_keep(build, kept=8)
    assert found.growth_per_step_bytes == 8.0
    (note,) = memory_note(1, found)
    assert note.level == "warning"
    assert "leaves 8 B more behind" in note.text


def test_steps_that_give_back_what_they_take_do_not_leak(build: TraceBuilder) -> None:
    found = steps_that_keep(build, kept=0)
    assert (found.growth_per_step_bytes, found.peak_bytes) == (0.0, 100)


def test_growth_while_warming_up_is_no_leak(build: TraceBuilder) -> None:
    for step in range(4):
        event(build, 100 * step + 10, step, 100)
    assert use(build, [100 * step for step in range(12)]).growth_per_step_bytes == 0.0


@needs_shared_traces
def test_a_program_that_ran_out_of_memory_held_38_gib_by_then() -> None:
    found = memory_use(load(Trace.open(CASES["02_oom"])).memory_events, 10, None, np.empty(0, np.int64))
    assert found is not None
    assert found.peak_bytes == 38 << 30


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("SM Active", "sm_active"),
        ("SMs Active [Throughput %]", "sm_active"),
        ("Tensor Active / FP16 Active", "tensor_active"),
        ("DRAM Read Bandwidth [Throughput %]", "dram_read"),
        ("Compute Warps in Flight [Avg]", None),
        ("GPC Clock Frequency [MHz]", None),
    ],
)
def test_counters_are_known_by_the_names_that_versions_of_nsys_give_them(theirs: str, ours: str | None) -> None:
    assert metric(theirs) == ours


def sampled(build: TraceBuilder, *values: int) -> TraceBuilder:
    """Add samples of SM Active of GPU 3 every 10 ns."""
    kind = 1 << 48 | 3
    build.add("TARGET_INFO_GPU_METRICS", typeId=kind, metricId=7, metricName="SMs Active [Throughput %]")
    build.add("TARGET_INFO_GPU_METRICS", typeId=kind, metricId=8, metricName="GPC Clock Frequency [MHz]")
    for number, value in enumerate(values):
        build.add("GPU_METRICS", timestamp=10 * number, typeId=kind, metricId=7, value=value)
        build.add("GPU_METRICS", timestamp=10 * number, typeId=kind, metricId=8, value=50)
    return build.kernel(0, 10)


def test_a_sample_holds_from_its_time_until_the_next(build: TraceBuilder) -> None:
    samples = sampled(build, 0, 100, 50, 0).model().gpu_metrics
    found = gpu_metrics(samples, 3, Window("part", 15, 25))
    assert found is not None
    assert (found.sm_active, found.sample_count, found.period_ns) == (0.75, 2, 10)
    assert found.tensor_active is None
    assert gpu_metrics(samples, 0, Window("part", 15, 25)) is None
    assert gpu_metrics(samples, 3, Window("later", 40, 50)) is None


def test_a_value_that_is_no_per_cent_is_left_out(build: TraceBuilder) -> None:
    found = gpu_metrics(sampled(build, 30, -2_140_552_984, 30).model().gpu_metrics, 3, Window("all", 0, 30))
    assert found is not None
    assert found.sm_active == 0.3


@needs_shared_traces
def test_the_gpus_own_counter_sees_kernels_of_one_block_as_modelled() -> None:
    """0.015 % of the SMs by the grids; the counter, which knows whole per cents, has 0.04 % on average."""
    model = load(Trace.open(TRACES["gpu_metrics_a100"]))
    window, (activity,) = default_window(model), activities(model)
    assert window is not None
    counted, modelled = gpu_metrics(model.gpu_metrics, activity.gpu, window), sm(activity, window, model.gpus)
    assert counted is not None and counted.sm_active is not None
    assert modelled is not None and modelled.sm_coverage is not None
    assert modelled.sm_coverage < counted.sm_active < 0.001
