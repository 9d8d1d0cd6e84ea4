"""What people read about CPU samples."""

from dataclasses import replace

import pytest

from analyses import HOSTILE, usual
from builders import TraceBuilder
from sampled import PYTHON, SGEMM, only, opened
from wallsplit.report.document import Paragraph, Report, Section, Table
from wallsplit.report.html import html
from wallsplit.report.markdown import markdown
from wallsplit.report.sections.cpu_samples import between, cpu_samples, section
from wallsplit.why.samples.values import CpuSampling, HostSamples

TOOLS = ("/opt/nsys/libToolsInjection64.so", "collect")


def recorded(build: TraceBuilder, python: int, product: int, tools: int = 0) -> tuple[CpuSampling, HostSamples]:
    """Return a run in which the three take turns, so that no interval is wide for clusters in time."""
    kinds = ((python, PYTHON), (product, SGEMM), (tools, TOOLS))
    turns = sorted((i / count, *frame) for count, frame in kinds for i in range(count))
    build.range("run", 0, 10 * len(turns)).sampled_every(10).on_cpu(0, 10 * len(turns))
    for i, (_, module, symbol) in enumerate(turns):
        build.sample(10 * i + 5, (module, symbol))
    said = only(build)
    return opened(build.path)[1].facts, said


def of_one(facts: CpuSampling, samples: HostSamples) -> Section:
    return section(facts, [("process 1", samples)], 20)


def words(facts: CpuSampling, samples: HostSamples) -> str:
    return "\n".join(block.text for block in of_one(facts, samples).blocks if isinstance(block, Paragraph))


def table(facts: CpuSampling, samples: HostSamples, caption: str) -> Table:
    tables = [block for block in of_one(facts, samples).blocks if isinstance(block, Table)]
    return next(each for each in tables if caption in each.caption)


def test_without_samples_there_is_no_section() -> None:
    assert cpu_samples(usual(), 20) is None


def test_shares_come_as_intervals_with_their_counts_and_say_that_they_are_estimates(build: TraceBuilder) -> None:
    facts, samples = recorded(build, 60, 40)
    said = words(facts, samples)
    assert "the main thread executed, estimated from 100 samples: python 50–69 %, arithmetic 31–50 %." in said
    assert "Shares are estimates: they stand beside the ledger, and no account changes by them." in said
    shown = table(facts, samples, "Estimated from 100 samples: main thread of process 1")
    assert [row[:4] for row in shown.rows] == [("python", 60, 0.6, "50–69 %"), ("arithmetic", 40, 0.4, "31–50 %")]


def test_where_the_thread_had_a_cpu_for_part_of_the_time_only_the_shares_are_of_that_part(build: TraceBuilder) -> None:
    build.range("run", 0, 2_000).sampled_every(10).on_cpu(0, 1_000)
    for i in range(100):
        build.sample(10 * i + 5, PYTHON)
    samples = only(build)
    said = words(opened(build.path)[1].facts, samples)
    assert "In 2.00 µs of host of process 1, the main thread was on a CPU for 1.00 µs and executed there" in said


def test_a_class_without_a_sample_is_below_a_share_and_not_zero(build: TraceBuilder) -> None:
    facts, samples = recorded(build, 60, 40)
    assert "No sample of jit, framework, program, data, libc, " in words(facts, samples)
    assert "(each below 3.7 %)" in words(facts, samples)


def test_below_a_hundred_samples_people_see_counts_and_no_share(build: TraceBuilder) -> None:
    facts, samples = recorded(build, 60, 39)
    assert "was sampled 99 times: python 60, arithmetic 39; too few for shares." in words(facts, samples)
    shown = table(facts, samples, "Estimated from 99 samples")
    assert [row[:4] for row in shown.rows] == [("python", 60, None, None), ("arithmetic", 39, None, None)]
    assert "put together" not in "".join(b.caption for b in of_one(facts, samples).blocks if isinstance(b, Table))


def test_what_measuring_took_is_shown_and_is_no_part_of_the_program(build: TraceBuilder) -> None:
    said = words(*recorded(build, 60, 30, 30))
    assert "Measuring itself took 18–33 % of it." in said
    assert "profiler" not in said.partition("Measuring")[0]


def test_it_is_said_how_the_samples_were_taken(build: TraceBuilder) -> None:
    said = words(*recorded(build, 60, 40))
    assert (
        "100 samples in all, about every 10 ns of a thread's CPU time; trigger software, every 4th with its callers; "
        "the kernel was not sampled." in said
    )
    assert "0 are in functions without a name, and of 0 the callers are known." in said
    assert "on a CPU but in no sample: about 0" in said


def test_a_hardware_counters_period_is_never_printed_as_time(build: TraceBuilder) -> None:
    build.range("run", 0, 100).sampled_every(2_450_000, "Hardware").sample(50, PYTHON)
    samples = only(build)
    said = words(opened(build.path)[1].facts, samples)
    assert "at times unknown; trigger hardware" in said
    assert "2.45" not in said


@pytest.mark.parametrize(("low", "high", "text"), [(0.26, 0.36, "26–36 %"), (0.5, 0.508, "50.4 %"), (0, 1, "0–100 %")])
def test_an_interval_is_one_number_where_its_ends_are_within_a_point(low: float, high: float, text: str) -> None:
    assert between(low, high) == text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_threads_ranges_and_functions_do_nothing(name: str, build: TraceBuilder) -> None:
    build.range(name, 0, 100).sampled_every(10).thread_name(name).sample(50, (f"{name}/lib{name}.so", name))
    samples = only(build)
    found = of_one(opened(build.path)[1].facts, replace(samples))
    report = Report(title="t", headline="h", figure=None, sections=(found,))
    page = html(report)
    assert "<script>alert(1)" not in page
    assert "onload=alert(3)>" not in page
    assert "\x1b" not in page + markdown(report, "x")
