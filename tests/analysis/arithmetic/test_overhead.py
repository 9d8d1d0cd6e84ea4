"""FLOPs that cannot be: refused where the user gave them, a note where a manifest did."""

from dataclasses import replace
from pathlib import Path
from shutil import copy

import pytest

from builders import TraceBuilder
from recorded_runs import TRAINING, put_beside
from samples.reconstruct_keras_gpu import TARGET as KERAS
from wallsplit.errors import FlopsError
from wallsplit.pipeline import analyze
from wallsplit.run.manifest import Arithmetic


def test_the_reconstructed_epoch_is_22_gflop_2_ms_at_peak_and_almost_all_overhead() -> None:
    found = analyze(KERAS, flops=22_000_000_000)
    assert found.arithmetic is not None
    (one,) = found.arithmetic
    assert one.peak is not None
    assert one.peak.flops_per_s == pytest.approx(11.06e12, rel=1e-3)
    (window,) = one.works
    assert window.modelled_ns == pytest.approx(2e6, rel=0.01)
    assert window.measured_ns == found.ledgers[0].accounts["gpu.kernel"]
    assert window.overhead_at_least_ns is not None
    assert window.overhead_at_most_ns is not None
    assert 0.995 < window.overhead_at_least_ns / window.wall_ns < window.overhead_at_most_ns / window.wall_ns < 1
    assert window.flop_utilisation == pytest.approx(0.0003, rel=0.03)


def test_flops_given_beyond_the_peak_are_an_error_of_one_line() -> None:
    with pytest.raises(FlopsError) as caught:
        analyze(KERAS, flops=10**12)
    assert "which cannot be" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_peak_that_is_given_replaces_the_one_of_the_trace() -> None:
    found = analyze(KERAS, flops=10**12, peak_flops_per_s=10**15)
    assert found.arithmetic is not None
    assert found.arithmetic[0].works[0].modelled_ns == 1_000_000
    assert found.arithmetic[0].peak is not None
    assert found.arithmetic[0].peak.source == "given with --peak-tflops"


def test_a_manifests_flops_beyond_the_peak_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = TraceBuilder(tmp_path / "run.sqlite").range("epoch", 0, 500).write()
    put_beside(path, replace(TRAINING, arithmetic=Arithmetic("f", flops_per_epoch=501)))
    found = analyze(path)
    assert found.arithmetic is None
    (note,) = [note.text for note in found.notes if "FLOPs" in note.text]
    assert note.startswith("The manifest's FLOPs are not used: 501 FLOP in 500 ns of wall time")


def without_manifest(folder: Path) -> Path:
    return Path(copy(KERAS, folder))


def test_without_anybody_stating_flops_nothing_is_said(tmp_path: Path) -> None:
    assert analyze(without_manifest(tmp_path)).arithmetic is None


def test_a_peak_without_flops_says_what_is_missing(tmp_path: Path) -> None:
    found = analyze(without_manifest(tmp_path), peak_flops_per_s=10**12)
    assert found.arithmetic is None
    assert any("give them with --flops" in note.text for note in found.notes)


def test_flops_given_take_the_place_of_the_manifests(tmp_path: Path) -> None:
    path = TraceBuilder(tmp_path / "run.sqlite").range("epoch", 0, 500).write()
    put_beside(path)
    found = analyze(path, flops=50)
    assert found.arithmetic is not None
    (one,) = found.arithmetic
    assert [(work.per, work.flops) for work in one.works] == [("window", 50)]
    assert (one.counted, one.formula) == ("50 FLOP, given with --flops", None)


def test_gpu_work_that_runs_after_a_chosen_window_is_no_contradiction(tmp_path: Path) -> None:
    """The host enqueues in the window; the kernel runs later."""
    build = TraceBuilder(tmp_path / "run.sqlite").api("cudaLaunchKernel", 0, 10, corr=1).kernel(90, 150, corr=1)
    found = analyze(build.write(), "0ns:100ns", flops=50, peak_flops_per_s=10**9)
    assert found.arithmetic is not None
    assert found.arithmetic[0].works[0].measured_ns == 10
