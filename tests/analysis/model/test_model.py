"""From raw nsys rows to frames: what is renamed, decoded, joined to a name, counted or left out."""

import csv
import sqlite3

import pytest

from builders import TraceBuilder, global_id
from shared_traces import ORACLES, needs_shared_traces
from wallsplit.model import load
from wallsplit.model.api_classes import api_class, normalised
from wallsplit.model.names import UNNAMED
from wallsplit.schema import MEMORY_OPERATIONS
from wallsplit.trace import Trace


@needs_shared_traces
def test_the_classification_equals_the_worked_examples() -> None:
    assert ORACLES is not None
    with (ORACLES / "api_classes.csv").open() as file:
        examples = list(csv.DictReader(file))
    assert len(examples) > 100
    assert [(row["name"], api_class(row["name"])) for row in examples] == [(r["name"], r["class"]) for r in examples]


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("cuMemAlloc_v2", "cuMemAlloc"),
        ("cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync"),
        ("cudaMallocAsync_v11020", "cudaMallocAsync"),
        ("cuLaunchKernel_ptds", "cuLaunchKernel"),
        ("my_v2_function", "my_v2_function"),
    ],
)
def test_version_suffixes_are_stripped_from_the_end_of_a_name(recorded: str, name: str) -> None:
    assert normalised(recorded) == name


def test_calls_that_differ_in_version_only_share_a_name(build: TraceBuilder) -> None:
    model = build.api("cuMemAlloc", 0, 1).api("cuMemAlloc_v2", 1, 2).api("cuMemFree_v2", 2, 3).model()
    assert model.api_calls["name"].n_unique() == 2
    assert model.names.text(model.api_calls["name"]).to_list() == ["cuMemAlloc", "cuMemAlloc", "cuMemFree"]


def test_process_and_thread_come_out_of_the_global_ids(build: TraceBuilder) -> None:
    model = build.api("cuInit", 0, 1, pid=0xABCDEF, tid=0x123456).kernel(0, 1, pid=77).model()
    assert model.api_calls.select("pid", "thread").row(0) == (0xABCDEF, global_id(0xABCDEF, 0x123456))
    assert model.kernels["pid"].to_list() == [77]


def test_copies_are_labelled_as_nsys_labels_them_and_unknown_kinds_are_unknown(build: TraceBuilder) -> None:
    for kind in (1, 2, 8, 10, 99, -1):
        build.copy(0, 1, kind=kind)
    labels = build.memset(0, 1).model().memory_ops["operation"].to_list()
    assert labels == [MEMORY_OPERATIONS[i] for i in (1, 2, 8, 10, 0, 0)] + ["[CUDA memset]"]


def test_rows_without_a_usable_end_are_counted_and_left_out(build: TraceBuilder) -> None:
    build.kernel(0, 5).kernel(5, None).kernel(9, 8).kernel(2**62 + 1, 2**62 + 5).api("cuInit", 0, 2).range(
        "open", 1, None
    )
    model = build.model()
    assert model.kernels.select("start", "end").rows() == [(0, 5)]
    assert model.unusable_rows == {"CUPTI_ACTIVITY_KIND_KERNEL": 3, "NVTX_EVENTS": 1}


def test_nvtx_marks_and_domain_rows_are_no_ranges_and_no_damage(build: TraceBuilder) -> None:
    build.range("a", 0, 5).range("mark", 1, None, event_type=34).range("MPI", 0, None, event_type=75, domain=3)
    build.range("Send", 2, 3, domain=3).range("Send", 2, 3, domain=4).range("Send", 2, 3, domain=3, pid=2)
    model = build.range("b", 1, 4, event_type=60).model()
    names = model.names.text(model.nvtx["range"]).to_list()
    assert names == ["a", "MPI:Send", "Send", "b", "Send"]  # by process
    assert model.nvtx["style"].to_list() == ["PushPop"] * 3 + ["StartEnd", "PushPop"]
    assert model.nvtx["is_library"].to_list() == [False, True, False, False, False]
    assert model.unusable_rows == {}


def test_a_registered_range_name_is_found_through_its_text_id(build: TraceBuilder) -> None:
    build.range("inline", 0, 1)
    row = {"start": 2, "end": 3, "eventType": 59, "globalTid": global_id(1, 1), "domainId": 0}
    build.add("NVTX_EVENTS", **row, text=None, textId=build.string("registered"))
    model = build.model()
    assert model.names.text(model.nvtx["range"]).to_list() == ["inline", "registered"]


def test_a_kernel_without_a_demangled_name_goes_by_its_short_one(build: TraceBuilder) -> None:
    build.kernel(0, 1, name="f<int>")
    build.rows["CUPTI_ACTIVITY_KIND_KERNEL"][0]["demangledName"] = None
    model = build.model()
    assert model.names.text(model.kernels["name"]).to_list() == ["f"]


def test_only_gpus_in_use_are_listed_and_zeros_are_unknown(build: TraceBuilder) -> None:
    build.kernel(0, 1, device=0)
    for number, name, sms in ((0, "NVIDIA X", 76), (1, "Intel Y", 0)):
        build.add("TARGET_INFO_GPU", id=number, name=name, smCount=sms, clockRate=0, computeMajor=8, computeMinor=9)
    gpus = build.model().gpus
    assert gpus.select("device", "name", "sm_count", "clock_hz", "compute_capability").rows() == [
        (0, "NVIDIA X", 76, None, "8.9")
    ]


def test_a_selected_cuda_device_is_named_after_the_gpu_it_is(build: TraceBuilder) -> None:
    """With CUDA_VISIBLE_DEVICES=3 the program's device 0 is GPU 3."""
    build.kernel(0, 1, device=0).add("TARGET_INFO_CUDA_DEVICE", gpuId=3, cudaId=0, pid=1)
    for number in (0, 3):
        build.add("TARGET_INFO_GPU", id=number, name=f"GPU number {number}", smCount=1)
    assert build.model().gpus["name"].to_list() == ["GPU number 3"]


def test_processes_are_named_by_their_base_name_only(build: TraceBuilder) -> None:
    build.kernel(0, 1).add("PROCESSES", globalPid=global_id(1), pid=1, name="/home/someone/bin/python3")
    build.add("PROCESSES", globalPid=global_id(2), pid=2, name="unrelated")
    assert build.model().processes.rows() == [(1, "python3")]


def test_a_name_made_of_many_suffixes_takes_no_time_to_speak_of() -> None:
    name = "_v1" * 100_000 + "x"
    assert normalised(name) == name


def test_strings_without_a_text_are_no_names(build: TraceBuilder) -> None:
    path = build.kernel(0, 1, name="k").write()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE StringIds SET value = NULL")
    db.close()
    model = load(Trace.open(path))
    assert model.names.text(model.kernels["name"]).to_list() == [UNNAMED]


def test_a_device_number_that_no_device_has_is_still_read(build: TraceBuilder) -> None:
    assert build.kernel(0, 1, device=5_000_000_000).model().kernels["device"].to_list() == [2**31 - 1]


@pytest.mark.parametrize(
    ("start", "end", "used"),
    [
        *[(-(2**62) + 1, -(2**62) + 2, 1), (2**62 - 1, 2**62, 1), (5, 5 + 2**55, 1)],
        *[(-(2**62), -(2**62) + 1, 0), (2**62, 2**62 + 1, 0), (-(2**63), 2**63 - 1, 0), (5, 6 + 2**55, 0)],
    ],
)
def test_times_that_no_recording_has_are_not_used(build: TraceBuilder, start: int, end: int, used: int) -> None:
    assert build.kernel(start, end).model().kernels.height == used


@pytest.mark.parametrize("far", [2**62 - 9, 2**61, 2**56, -(2**61)])
def test_a_row_a_century_from_all_others_is_not_used(build: TraceBuilder, far: int) -> None:
    for start in (0, 10, 20):
        build.kernel(start, start + 5).range("step", start, start + 9)
    build.kernel(far, far + 5).osrt("poll", far, far + 1)
    model = build.model()
    assert model.kernels["start"].to_list() == [0, 10, 20]
    assert model.unusable_rows == {"CUPTI_ACTIVITY_KIND_KERNEL": 1, "OSRT_API": 1}
    assert model.span == (0, 29)


def test_a_recording_of_any_time_is_used_whole(build: TraceBuilder) -> None:
    now = 1_760_000_000_000_000_000  # nsys export --ts-normalize=true: ns since 1970
    build.kernel(now, now + 5).range("step", now, now + 10**15)
    assert build.model().unusable_rows == {}


def test_sizes_that_no_memory_has_are_not_measured(build: TraceBuilder) -> None:
    build.copy(0, 1, size=2**50).copy(1, 2, size=2**50 + 1).copy(2, 3, size=-1).memset(3, 4, size=2**63 - 1)
    model = build.model()
    assert model.memory_ops["bytes"].to_list() == [2**50, None, None, None]
    assert model.impossible_sizes == 3


def test_figures_that_no_gpu_has_are_not_known(build: TraceBuilder) -> None:
    build.kernel(0, 1).add(
        "TARGET_INFO_GPU", id=0, smCount=2**62, clockRate=2**63 - 1, totalMemory=-1, maxWarpsPerSm=64
    )
    row = build.model().gpus.row(0, named=True)
    assert [row[name] for name in ("sm_count", "clock_hz", "memory_bytes", "max_warps_per_sm")] == [
        None,
        None,
        None,
        64,
    ]


def test_names_are_numbered_the_same_on_every_run(build: TraceBuilder) -> None:
    build.range("domain", 0, None, event_type=75, domain=1)
    for i in range(2_000):
        build.range(f"step {i}", i, i + 1, domain=1)
    path = build.write()
    first, second = (load(Trace.open(path)) for _ in range(2))
    assert first.names.texts.to_list() == second.names.texts.to_list()
    assert first.nvtx["range"].is_sorted()
