"""What the samples say about a ledger: whose they are, and when they were taken."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from builders import TraceBuilder
from sampled import MEMCPY, PYTHON, SGEMM, counts, every, only, opened
from wallsplit.ledger.activity import activities
from wallsplit.ledger.ledger import Window
from wallsplit.model import load
from wallsplit.trace import Trace
from wallsplit.why.samples.host_samples import host_samples
from wallsplit.why.samples.sampling import sampling
from wallsplit.why.samples.table import host_samples_table
from wallsplit.why.samples.values import HostSamples, to_value


def python_and_product(build: TraceBuilder, samples: int = 100) -> TraceBuilder:
    """Return a CPU run of one thread: its first half Python, its second a matrix product, on the CPU throughout."""
    build.range("run", 0, 10 * samples).sampled_every(10).on_cpu(0, 10 * samples).process("python3.11")
    for i in range(samples):
        build.sample(10 * i + 5, PYTHON if i < samples // 2 else SGEMM)
    return build


def test_a_trace_without_samples_says_nothing(build: TraceBuilder) -> None:
    model = build.range("run", 0, 100).on_cpu(0, 100).model()
    assert model.samples is None
    assert sampling(model) is None
    assert every(model, None) == [None]


def test_the_share_of_each_class_comes_with_its_count_its_interval_and_its_cpu_time(build: TraceBuilder) -> None:
    said = only(python_and_product(build))
    assert said.main.enough
    by_class = {each.sample_class: each for each in said.main.classes}
    arithmetic = by_class["arithmetic"]
    assert (arithmetic.count, arithmetic.share, arithmetic.cpu_ns) == (50, 0.5, 500)
    assert arithmetic.low < 0.5 < arithmetic.high
    assert arithmetic.groups == {"blas": 50}
    assert by_class["python"].groups == {"interpreter": 50}


def test_only_samples_in_host_instants_count_and_the_others_are_told_by_account(build: TraceBuilder) -> None:
    build.sampled_every(10).api("cudaLaunchKernel", 0, 20, corr=1).kernel(20, 60, corr=1).api("cudaMalloc", 80, 100)
    for start in (5, 15, 30, 50):
        build.sample(start, SGEMM)
    build.sample(65, PYTHON).sample(75, PYTHON).sample(85, MEMCPY).sample(99, MEMCPY).sample(100, MEMCPY)
    said = only(build)
    assert said.host_ns == 20
    assert counts(said) == {"python": 2}
    assert said.accounts == {
        "gpu.kernel": {"arithmetic": 2},
        "cuda.alloc": {"libc": 2},
        "cuda.launch": {"arithmetic": 2},
        "host": {"python": 2},
    }


def test_the_main_thread_is_the_driving_one_with_most_calls(build: TraceBuilder) -> None:
    build.sampled_every(10).thread_name("trainer", tid=2).thread_name("loader", tid=3)
    build.api("cudaLaunchKernel", 0, 1, tid=1).api("cudaLaunchKernel", 2, 3, tid=2).api("cudaLaunchKernel", 4, 5, tid=2)
    build.api("cudaDeviceSynchronize", 999, 1000, tid=3)
    build.sample(100, PYTHON, tid=2).sample(110, PYTHON, tid=1).sample(120, SGEMM, tid=3).sample(130, SGEMM, tid=3)
    said = only(build)
    assert (said.main_thread.tid, said.main_thread.name, said.driving_threads) == (2, "trainer", 2)
    scopes = (said.main, said.other_driving, said.not_driving)
    assert [scope.sample_count for scope in scopes] == [1, 1, 2]


def test_without_cuda_the_main_thread_is_the_one_with_most_time_in_ranges_else_with_most_samples(
    tmp_path: Path,
) -> None:
    ranged = TraceBuilder(tmp_path / "a.sqlite").range("short", 0, 10, tid=1).range("long", 0, 99, tid=2)
    ranged.sampled_every(10).sample(5, PYTHON, tid=1).sample(6, PYTHON, tid=1).sample(7, PYTHON, tid=2)
    assert only(ranged).main_thread.tid == 2
    bare = TraceBuilder(tmp_path / "b.sqlite").osrt("read", 0, 99).duration(100)
    bare.sampled_every(10).sample(5, PYTHON, tid=1).sample(6, PYTHON, tid=2).sample(7, PYTHON, tid=2)
    assert only(bare).main_thread.tid == 2


def test_ranges_of_a_librarys_domain_are_no_phases_of_the_program(build: TraceBuilder) -> None:
    build.range("step", 0, 100).range("cublasSgemm", 20, 40, domain=7).sampled_every(10)
    build.sample(30, SGEMM)
    assert [(phase.range, phase.main.sample_count) for phase in only(build).phases] == [("step", 1)]


def test_phases_are_the_innermost_ranges_of_the_main_thread(build: TraceBuilder) -> None:
    build.range("step", 0, 100).range("data", 10, 40).range("elsewhere", 0, 90, tid=2).sampled_every(10)
    build.on_cpu(0, 30)
    build.sample(5, PYTHON).sample(15, SGEMM).sample(25, SGEMM).sample(35, PYTHON, tid=2).sample(95, PYTHON)
    step, data = only(build).phases
    assert (step.range, step.host_ns, step.instances, step.on_cpu_ns, step.others_count) == ("step", 70, 2, 10, 0)
    assert (data.range, data.host_ns, data.instances, data.on_cpu_ns, data.others_count) == ("data", 30, 1, 20, 1)
    assert [(each.sample_class, each.count) for each in data.main.classes] == [("arithmetic", 2)]


def test_a_range_without_length_cuts_the_one_around_it_in_two(build: TraceBuilder) -> None:
    build.range("step", 0, 100).range("mark", 50, 50).range("mark", 100, 100).sampled_every(10).sample(5, PYTHON)
    assert [(phase.range, phase.host_ns, phase.instances) for phase in only(build).phases] == [("step", 100, 2)]


def test_of_ranges_that_cross_the_one_that_began_last_is_the_innermost(build: TraceBuilder) -> None:
    build.range("a", 0, 60).range("b", 20, 40).range("c", 30, 90, event_type=60).sampled_every(10)
    build.sample(10, PYTHON).sample(25, PYTHON).sample(35, PYTHON).sample(50, PYTHON).sample(80, PYTHON)
    found = {phase.range: (phase.host_ns, phase.main.sample_count) for phase in only(build).phases}
    assert found == {"a": (20, 1), "b": (10, 1), "c": (60, 3)}


def test_ranges_go_by_their_phase_where_phases_are_asked_for(build: TraceBuilder) -> None:
    build.range("load batch 1", 0, 50).range("load batch 2", 50, 100).range("x", 100, 110).sampled_every(10)
    build.sample(10, PYTHON).sample(60, PYTHON)
    model, found = opened(build.write())
    (activity,) = activities(model)
    said = host_samples(found, model, activity, Window("test", 0, 110), lambda name: "data" if "load" in name else None)
    assert said is not None
    assert [(phase.range, phase.main.sample_count) for phase in said.phases] == [("data", 2), ("x", 0)]


@pytest.mark.parametrize(("samples", "enough"), [(29, False), (30, True)])
def test_a_phase_has_shares_from_thirty_samples_on(samples: int, enough: bool, build: TraceBuilder) -> None:
    (phase,) = only(python_and_product(build, samples)).phases
    assert phase.main.enough is enough


@pytest.mark.parametrize(("samples", "enough"), [(99, False), (100, True)])
def test_a_scope_has_shares_from_a_hundred_samples_on(samples: int, enough: bool, build: TraceBuilder) -> None:
    said = only(python_and_product(build, samples))
    assert said.main.enough is enough
    assert any("too few for shares" in warning for warning in said.warnings) is not enough


def test_off_the_cpu_what_others_executed_meanwhile_is_told_and_nobodys_time_is_left_over(build: TraceBuilder) -> None:
    build.range("run", 0, 100).sampled_every(10).on_cpu(0, 40).on_cpu(90, 100).on_cpu(30, 70, tid=2)
    build.osrt("pthread_cond_wait", 40, 60)
    build.sample(10, PYTHON).sample(35, SGEMM, tid=2).sample(50, SGEMM, tid=2).sample(60, SGEMM, tid=2)
    main = only(build).main
    assert main.scheduling is not None
    assert main.meanwhile is not None
    assert (main.scheduling.on_cpu_ns, main.scheduling.off_cpu_ns, main.scheduling.unknown_ns) == (50, 50, 0)
    assert (main.scheduling.off_cpu_in_os_call_ns, main.scheduling.off_cpu_elsewhere_ns) == (20, 30)
    assert main.scheduling.unsampled_ns == 50 - 10
    assert (main.meanwhile.others_on_cpu_ns, main.meanwhile.nobody_on_cpu_ns) == (30, 20)
    assert main.meanwhile.sample_count == 2


def test_before_a_threads_first_event_nothing_is_known(build: TraceBuilder) -> None:
    scheduling = only(build.range("run", 0, 100).sampled_every(10).on_cpu(30, 50).sample(40, PYTHON)).main.scheduling
    assert scheduling is not None
    assert (scheduling.unknown_ns, scheduling.on_cpu_ns, scheduling.off_cpu_ns) == (30, 20, 50)


def test_where_os_calls_were_not_traced_what_is_inside_them_is_not_measured(build: TraceBuilder) -> None:
    scheduling = only(build.range("run", 0, 100).sampled_every(10).on_cpu(0, 50).sample(40, PYTHON)).main.scheduling
    assert scheduling is not None
    assert (scheduling.off_cpu_in_os_call_ns, scheduling.off_cpu_elsewhere_ns) == (None, None)


def test_the_wall_adds_up_to_the_host_instants(build: TraceBuilder) -> None:
    build.range("run", 0, 1000).sampled_every(10).on_cpu(100, 400).on_cpu(600, 900).on_cpu(200, 700, tid=2)
    for i in range(20):
        build.sample(105 + 10 * i, PYTHON if i % 3 else SGEMM).sample(405 + 10 * i, MEMCPY if i % 2 else SGEMM, tid=2)
    said = only(build)
    wall = said.wall
    assert wall is not None
    parts = (*wall.main.values(), wall.unsampled_ns, *wall.meanwhile.values(), wall.nobody_on_cpu_ns, wall.unknown_ns)
    assert sum(parts) == pytest.approx(said.host_ns, abs=len(parts))


def test_without_scheduling_nothing_is_said_about_time_off_the_cpu(build: TraceBuilder) -> None:
    said = only(build.range("run", 0, 100).sampled_every(10).sample(40, PYTHON))
    assert (said.main.scheduling, said.main.meanwhile, said.wall) == (None, None, None)
    assert said.warnings[-1] == "scheduling was not recorded: time off the CPU is not measured"
    assert not {"wall"} & to_value(said).keys()


def test_a_sample_without_a_frame_is_unknown(build: TraceBuilder) -> None:
    said = only(build.range("run", 0, 100).sampled_every(10).sample(40).sample(50, PYTHON))
    assert counts(said) == {"python": 1, "unknown": 1}
    assert said.unresolved_count == 1


def test_callers_say_whom_a_vague_leaf_worked_for_and_move_no_sample(build: TraceBuilder) -> None:
    build.range("run", 0, 100).sampled_every(10)
    build.sample(10, MEMCPY, ("/lib/libc.so.6", "fread"), PYTHON).sample(20, MEMCPY, SGEMM, PYTHON).sample(30, MEMCPY)
    build.sample(40, MEMCPY, ("/lib/libc.so.6", "fread")).sample(50, SGEMM, PYTHON)
    said = only(build)
    assert counts(said) == {"libc": 4, "arithmetic": 1}
    libc, arithmetic = said.main.classes
    assert libc.callers == {"arithmetic": 1, "none found": 1, "python": 1}
    assert arithmetic.callers == {}
    assert said.chain_count == 4


def test_functions_are_told_by_base_name_the_most_frequent_first(build: TraceBuilder) -> None:
    build.range("run", 0, 100).sampled_every(10).sample(10, PYTHON).sample(20, SGEMM).sample(30, SGEMM)
    build.sample(40, ("/home/me/secret/train", None)).sample(50, ("/home/me/secret/train", None))
    said = only(build)
    assert [(f.module, f.symbol, f.sample_class, f.count, f.share) for f in said.functions] == [
        ("libopenblas.so.0", "sgemm_kernel", "arithmetic", 2, 0.4),
        ("train", None, "program", 2, 0.4),
        ("python3.11", "_PyEval_EvalFrameDefault", "python", 1, 0.2),
    ]
    assert "secret" not in json.dumps(to_value(said))


def test_a_process_beside_the_program_that_never_ran_in_the_window_has_no_samples_of_its_own(
    build: TraceBuilder,
) -> None:
    build.range("run", 100, 200).osrt("read", 100, 110, pid=2).sampled_every(10)
    build.sample(150, PYTHON).sample(50, PYTHON, pid=2)
    model, found = opened(build.write())
    assert [said and said.main.sample_count for said in every(model, found)] == [1, None]


def test_a_recorded_environment_stays_unread(build: TraceBuilder) -> None:
    build.add("META_DATA_CAPTURE", name="COMMAND_LINE_OPTIONS:ENVIRONMENT", value="TOKEN=hunter2")
    build.add("META_DATA_CAPTURE", name="LINUX_PERF_OPTIONS:CPU_IP_TRIGGER_TYPE", value="TOKEN=hunter2")
    model, found = opened(build.range("run", 0, 100).sample(40, PYTHON).write())
    assert found.facts.trigger is None
    assert not [text for text in model.names.texts if "hunter2" in text]


def test_nothing_is_read_of_a_trace_without_samples(build: TraceBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    scan = Trace.scan

    def spy(trace: Trace, table: str, columns: Sequence[str]) -> pl.LazyFrame:
        read.append(table)
        return scan(trace, table, columns)

    monkeypatch.setattr(Trace, "scan", spy)
    load(Trace.open(build.range("run", 0, 100).on_cpu(0, 100).sampled_every(10).thread_name("main").write()))
    assert not {"COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "SCHED_EVENTS", "META_DATA_CAPTURE", "ThreadNames"} & {*read}


def test_the_table_has_a_row_per_scope_range_and_class(build: TraceBuilder) -> None:
    said: HostSamples = only(python_and_product(build))
    frame = host_samples_table([((1, None, 0), said)])
    assert frame.select("pid", "scope", "range", "class", "sample_count", "enough").rows() == [
        (1, "main", None, "arithmetic", 50, True),
        (1, "main", None, "python", 50, True),
        (1, "main", "run", "arithmetic", 50, True),
        (1, "main", "run", "python", 50, True),
    ]
    assert host_samples_table([]).is_empty()
