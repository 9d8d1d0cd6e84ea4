"""FLOPs of a window: what is counted, what is measured in it, and what is said about that."""

from dataclasses import replace

from builders import TraceBuilder
from recorded_runs import TRAINING, put_beside
from wallsplit.analysis import Analysis
from wallsplit.arithmetic.work import LedgerArithmetic, Work
from wallsplit.pipeline import analyze
from wallsplit.run.manifest import Gpu, RunManifest


def analysed(build: TraceBuilder, manifest: RunManifest = TRAINING, window: str | None = None) -> Analysis:
    path = build.write()
    put_beside(path, manifest)
    return analyze(path, window)


def arithmetic(analysis: Analysis) -> LedgerArithmetic:
    assert analysis.arithmetic is not None
    (one,) = analysis.arithmetic
    return one


def work(one: LedgerArithmetic, per: str) -> Work:
    (found,) = [work for work in one.works if work.per == per]
    return found


def an_epoch(build: TraceBuilder, start: int = 0) -> TraceBuilder:
    """Return 200 + 180 ns of training, 50 ns of validation, in 500 ns."""
    build.range("epoch", start, start + 500)
    build.range("step", start, start + 200).range("step", start + 210, start + 390)
    return build.range("validation_step", start + 400, start + 450)


def test_whole_epochs_count_as_such_since_their_last_step_may_be_smaller(build: TraceBuilder) -> None:
    one = arithmetic(analysed(an_epoch(an_epoch(build), 500)))
    assert work(one, "window").flops == 2 * 85
    assert one.counted == "2 epochs × 85 FLOP, marked by NVTX"


def test_steps_outside_whole_epochs_count_one_by_one(build: TraceBuilder) -> None:
    one = arithmetic(analysed(an_epoch(build).range("step", 600, 700)))
    assert work(one, "window").flops == 3 * 40 + 10
    assert one.counted == "3 steps × 40 FLOP + 1 validation_step × 10 FLOP, marked by NVTX"


def test_rows_are_the_window_and_the_mean_epoch_and_steps(build: TraceBuilder) -> None:
    one = arithmetic(analysed(an_epoch(build)))
    assert [(w.per, w.count, w.wall_ns, w.flops, w.modelled_ns) for w in one.works] == [
        ("window", 1, 500, 85, 85),
        ("epoch", 1, 500, 85, 85),
        ("step", 2, 190, 40, 40),
        ("validation_step", 1, 50, 10, 10),
    ]
    assert one.formula == "2·B·in·out"


def test_on_a_cpu_gpu_work_is_not_measured_and_overhead_has_no_lower_bound(build: TraceBuilder) -> None:
    window = work(arithmetic(analysed(an_epoch(build))), "window")
    assert (window.measured_ns, window.overhead_at_least_ns, window.overhead_at_most_ns) == (None, None, 415)


def test_without_a_peak_the_flops_are_still_said(build: TraceBuilder) -> None:
    one = arithmetic(analysed(an_epoch(build), replace(TRAINING, cpu=None)))
    assert (one.peak, work(one, "window").flops, work(one, "window").modelled_ns) == (None, 85, None)
    assert "--peak-tflops" in (one.no_peak or "")


def test_where_nothing_is_marked_the_manifests_epochs_count(build: TraceBuilder) -> None:
    one = arithmetic(analysed(build.range("anything", 0, 1_000)))
    assert work(one, "window").flops == 85
    assert one.counted == "1 epoch × 85 FLOP, epochs as in the manifest: none is marked"


def test_where_nothing_is_marked_a_part_of_the_run_has_no_known_flops(build: TraceBuilder) -> None:
    one = arithmetic(analysed(build.range("anything", 0, 1_000), window="100ns:200ns"))
    assert work(one, "window").flops is None
    assert one.counted.startswith("not known: ")


def test_a_window_counts_the_steps_it_holds_at_least_nine_tenths_of(build: TraceBuilder) -> None:
    for start in (0, 100, 200):
        build.range("step", start, start + 100)
    build.range("rest", 300, 400)
    flops = [work(arithmetic(analysed(build, window=f"0ns:{end}ns")), "window").flops for end in (189, 190, 300)]
    assert flops == [40, 80, 120]


def test_each_window_of_many_ranges_counts_its_own(build: TraceBuilder) -> None:
    found = analysed(an_epoch(an_epoch(build), 500), window="nvtx:epoch")
    assert found.arithmetic is not None
    assert [work(one, "window").flops for one in found.arithmetic] == [85, 85]


def test_ranges_of_a_library_or_another_domain_are_no_steps(build: TraceBuilder) -> None:
    build.range("NCCL", 0, 0, event_type=75, domain=1).range("mine", 0, 0, event_type=75, domain=2)
    build.range("step", 0, 100).range("step", 0, 100, domain=1).range("step", 0, 100, domain=2)
    assert work(arithmetic(analysed(build)), "step").count == 1


def test_each_process_counts_its_own_steps(build: TraceBuilder) -> None:
    build.range("step", 0, 100, pid=1)
    for start in (0, 100, 200):
        build.range("step", start, start + 100, pid=2)
    found = analysed(build)
    assert found.arithmetic is not None
    assert [(one.pid, work(one, "window").flops) for one in found.arithmetic] == [(1, 40), (2, 120)]


GPU = replace(TRAINING, gpu=Gpu("A GPU", sm_count=1, lanes_per_sm=1, clock_hz=500_000_000))


def on_a_gpu(build: TraceBuilder) -> TraceBuilder:
    """Return one step of 200 ns: a kernel of 50 ns and a graph of 70 ns, 20 ns of it at once with the kernel."""
    build.range("step", 0, 200).api("cudaLaunchKernel", 0, 10, corr=1).api("cudaGraphLaunch", 10, 20, corr=2)
    build.kernel(30, 80, corr=1).graph(60, 130, corr=2)
    return build.api("cudaDeviceSynchronize", 20, 200)


def test_gpu_work_is_measured_as_kernels_and_at_most_with_opaque_graphs(build: TraceBuilder) -> None:
    one = arithmetic(analysed(on_a_gpu(build), GPU))
    for per in ("window", "step"):
        found = work(one, per)
        assert (found.measured_ns, found.measured_at_most_ns) == (50, 100)
        assert (found.overhead_at_least_ns, found.overhead_at_most_ns) == (100, 160)


def test_gpu_work_of_steps_is_what_ran_while_a_step_was_open(build: TraceBuilder) -> None:
    build.range("step", 0, 100).range("step", 200, 300)
    build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(50, 150, corr=1)
    build.api("cudaLaunchKernel", 200, 205, corr=2).kernel(210, 240, corr=2).api("cudaDeviceSynchronize", 240, 300)
    assert work(arithmetic(analysed(build, GPU)), "step").measured_ns == (50 + 30) // 2


def test_the_peak_comes_from_the_traces_gpu_before_the_manifests(build: TraceBuilder) -> None:
    peak = arithmetic(analysed(on_a_gpu(build), GPU)).peak
    assert peak is not None
    assert peak.source == "1 SMs × 1 fp32 lanes × 2 × 0.500 GHz (all from the manifest)"
    row = {"id": 0, "name": "GPU", "computeMajor": 7, "computeMinor": 5, "smCount": 48, "clockRate": 1_800_000_000}
    build.add("TARGET_INFO_GPU", **row)
    peak = arithmetic(analysed(build, GPU)).peak
    assert peak is not None
    assert peak.flops_per_s == 48 * 64 * 2 * 1_800_000_000
    assert "SMs and clock: the trace" in peak.source


def test_a_gpu_whose_lanes_nobody_knows_has_no_peak(build: TraceBuilder) -> None:
    row = {"id": 0, "name": "GPU", "computeMajor": 99, "computeMinor": 0, "smCount": 48, "clockRate": 1_800_000_000}
    one = arithmetic(analysed(on_a_gpu(build).add("TARGET_INFO_GPU", **row)))
    assert one.peak is None
    assert "compute capability 99.0" in (one.no_peak or "")


def test_a_process_on_two_gpus_has_the_peak_of_both(build: TraceBuilder) -> None:
    row = {"name": "GPU", "computeMajor": 7, "computeMinor": 5, "smCount": 1, "clockRate": 1_000_000_000}
    build.add("TARGET_INFO_GPU", id=0, **row).add("TARGET_INFO_GPU", id=1, **row)
    found = analysed(on_a_gpu(build).kernel(100, 180, device=1))
    assert found.arithmetic is not None
    assert [one.peak.flops_per_s for one in found.arithmetic if one.peak] == [2 * 128 * 10**9] * 2
