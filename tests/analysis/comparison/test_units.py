"""What a trace is compared per, and how often it holds that."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from builders import TraceBuilder
from wallsplit.comparison.repeats import measured
from wallsplit.comparison.units import Recording, checked, samples, units
from wallsplit.errors import ComparisonError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.windows import default_window
from wallsplit.run.manifest import Data, Epoch, Generator, RunManifest, Steps


def recording(build: TraceBuilder, manifest: RunManifest | None = None) -> Recording:
    model = build.model()
    window = default_window(model)
    assert window is not None
    return Recording(model, activities(model), window, manifest)


def launch(build: TraceBuilder, at: int, name: str = "k", pid: int = 1, device: int = 0) -> None:
    build.api("cudaLaunchKernel", at, at + 2, corr=at, pid=pid).kernel(
        at + 4, at + 8, corr=at, name=name, pid=pid, device=device
    )


def three_steps(path: Path) -> TraceBuilder:
    """Return steps of 20 ns that begin at 10, 40 and 60, a kernel in each."""
    build = TraceBuilder(path)
    build.api("cudaMalloc", 0, 5)
    for number, start in enumerate((10, 40, 60)):
        build.range(f"step {number}", start, start + 20)
        launch(build, start)
    return build.api("cudaFree", 90, 100)


def test_strides_tile_the_span_of_the_steps_and_what_lies_between_steps_counts(tmp_path: Path) -> None:
    found = units(recording(three_steps(tmp_path / "t.sqlite")), "step")
    assert found is not None
    assert found.strides is not None
    assert (found.window, found.strides.tolist()) == (Window("step", 10, 80), [30, 20, 20])
    assert found.count == 3
    assert found.marked


def test_ranges_of_a_name_are_the_outermost_ones_of_the_process_that_opens_the_first(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    launch(build, 0)
    build.range("go", 5, 20).range("go", 6, 10).range("go", 30, 40).range("stop", 41, 50)
    build.range("go", 21, 29, pid=2).range("go", 15, 35, tid=2)
    launch(build, 50)
    found = units(recording(build), "nvtx:g?")
    assert found is not None
    assert found.count == 2
    assert (found.window.start_ns, found.window.end_ns) == (5, 40)


def test_launches_of_a_kernel_are_counted_per_ledger_and_leave_the_window_as_it_is(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    for at, pid in ((0, 1), (10, 1), (20, 2)):
        launch(build, at, "void flash_fwd<128>(int)", pid, device=pid)
    launch(build, 30, "other", device=1)
    whole = recording(build)
    found = units(whole, "kernel:*flash_fwd*")
    assert found is not None
    assert (found.count, found.window) == (Fraction(3, 2), whole.window)


def test_a_pattern_has_to_match_the_whole_name_in_its_case(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite")
    launch(build, 0, "Gemm")
    assert [units(recording(build), f"kernel:{p}") is not None for p in ("Gem", "gemm", "G*", "*m", "[FG]emm")] == [
        False,
        False,
        True,
        True,
        True,
    ]


def manifest(**more: object) -> RunManifest:
    whole = RunManifest(
        generator=Generator("wallsplit", "0"),
        data=Data("mnist", train_samples=1_000),
        parameters={"batch": 32},
        steps=Steps(train=30, validation=5),
        epochs=(Epoch(5), Epoch(5)),
    )
    return replace(whole, **more)  # type: ignore[arg-type]


def test_samples_are_those_of_the_steps_of_all_epochs_and_never_more_than_there_are() -> None:
    assert samples(manifest(), None) == 2 * 960
    assert samples(manifest(), 3) == 3 * 960
    assert samples(manifest(steps=Steps(train=40)), None) == 2 * 1_000
    assert samples(manifest(steps=None), 1) == 1_000


@pytest.mark.parametrize("lacking", [{"data": None}, {"data": Data("mnist")}, {"epochs": ()}])
def test_a_manifest_that_does_not_tell_how_many_samples_gives_none(lacking: dict[str, object]) -> None:
    assert samples(manifest(**lacking), None) is None


def test_per_sample_the_window_stays_and_steps_still_tell_what_is_typical(tmp_path: Path) -> None:
    whole = recording(three_steps(tmp_path / "t.sqlite"), manifest(steps=Steps(train=3), epochs=(Epoch(5),)))
    found = units(whole, "sample")
    assert found is not None
    assert found.window == whole.window
    assert [found.count, found.units_per_stride] == [96, 32]


def test_what_a_unit_takes_sums_to_its_wall_exactly(tmp_path: Path) -> None:
    (repeat,) = measured(recording(three_steps(tmp_path / "t.sqlite")), "t.sqlite", "step").values()
    assert repeat.wall == Fraction(70, 3)
    assert sum(ns or 0 for ns in repeat.accounts.values()) == repeat.wall
    assert repeat.accounts["gpu.kernel"] == Fraction(12, 3)
    assert repeat.totals["nvtx"].keys() == {"step *"}
    assert repeat.totals["api"].keys() == {"cudaLaunchKernel"}


def test_auto_measures_all_that_the_trace_has(tmp_path: Path) -> None:
    assert measured(recording(three_steps(tmp_path / "t.sqlite")), "t", "auto").keys() == {"step", "run"}


def test_a_unit_that_the_trace_has_not_is_an_error_that_names_the_trace(tmp_path: Path) -> None:
    with pytest.raises(ComparisonError, match=r"t\.sqlite: has no nvtx:x that matches"):
        measured(recording(three_steps(tmp_path / "t.sqlite")), "t.sqlite", "nvtx:x")


@pytest.mark.parametrize("per", ["nvtx:", "kernel:", "epoch", "Step", ""])
def test_what_is_no_unit_is_refused_with_the_units_there_are(per: str) -> None:
    with pytest.raises(ComparisonError, match="run, step, sample, nvtx:GLOB and kernel:GLOB"):
        checked(per)


@pytest.mark.parametrize(
    ("name", "matched"),
    [
        ("aten::mm, seq = 5, op_id = 17", "aten::mm, seq = *, op_id = *"),
        ("Step 12", "Step *"),
        ("ProfilerStep#3", "ProfilerStep#*"),
        ("train_step_7", "train_step_*"),
        ("epoch 1/10", "epoch */10"),
        ("blocks.7", "blocks.7"),
        ("timestep2vec", "timestep2vec"),
        ("conv2d", "conv2d"),
    ],
)
def test_what_only_counts_ranges_is_no_part_of_the_name_that_is_matched(
    tmp_path: Path, name: str, matched: str
) -> None:
    build = TraceBuilder(tmp_path / "t.sqlite").range(name, 1, 9)
    launch(build, 0)
    assert measured(recording(build), "t", "run")["run"].totals["nvtx"].keys() == {matched}
