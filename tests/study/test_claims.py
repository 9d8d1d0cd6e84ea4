"""The published claims, each reckoned here once more from the published figures by themselves."""

import pytest

from samples import reconstruct_keras_gpu
from test_docs import table_after
from wallsplit.pipeline import analyze
from wallsplit_study import published
from wallsplit_study.claims import KERNEL_SECONDS, KERNELS, TILES, Claim, claims, kernel_seconds, reached, section

PEAK = 48 * 64 * 2 * 1.8e9


def claim(start: str) -> Claim:
    """Return the claim whose name begins so."""
    (found,) = (one for one in claims() if one.what.startswith(start))
    return found


def test_the_arithmetic_of_a_layer_is_6_4_mflop_at_a_peak_that_counts_multiply_adds_as_two() -> None:
    assert published.LAYER_FLOPS == 2 * 32 * 128 * 784
    assert published.PEAK_FLOPS == PEAK
    assert claim("arithmetic of X @ W1").recomputed == f"{2 * 32 * 128 * 784 / PEAK * 1e6:.2f} µs" == "0.58 µs"
    assert claim("the GPU “works”").recomputed == f"{0.58 / 541:.2%}".replace("%", " %") == "0.11 %"
    assert claim("share of the GPU's capability").recomputed == "0.11 %"


def test_the_launches_are_those_of_training_and_of_validation() -> None:
    assert published.EPOCH_STEPS == (48_000 / 32, 12_000 / 32)
    assert claim("graph launches").recomputed == "1,500 + 375"


def test_that_the_whole_epoch_is_overhead_holds_and_the_reconstruction_says_the_same() -> None:
    told = claim("the whole epoch")
    assert (told.verdict, told.recomputed) == ("holds", "99.6 % to 100.0 %")
    (found,) = analyze(reconstruct_keras_gpu.TARGET, flops=22_100_000_000).arithmetic or ()
    work = found.works[0]
    assert work.overhead_at_least_ns is not None
    assert work.overhead_at_most_ns is not None
    shares = [f"{ns / work.wall_ns:.1%}" for ns in (work.overhead_at_least_ns, work.overhead_at_most_ns)]
    assert shares == ["99.6%", "100.0%"]
    assert work.measured_ns == pytest.approx(kernel_seconds() * 1e9, rel=1e-3)


def test_the_kernels_reckoned_with_are_those_of_the_reconstructed_trace() -> None:
    assert (len(reconstruct_keras_gpu.TRAINING), len(reconstruct_keras_gpu.VALIDATION)) == KERNELS
    assert KERNEL_SECONDS * 1e9 == reconstruct_keras_gpu.MIN_OPERATION_NS


def test_nvidia_smi_and_the_arithmetic_cannot_both_hold() -> None:
    """6.5 s ÷ 1,875 = 3.47 ms a step, of which 90 % are 3.1 ms; the arithmetic of the epoch is 2.0 ms at peak."""
    told = claim("nvidia-smi")
    assert told.verdict == "contradiction"
    assert f"{0.9 * 6.5 / 1_875 * 1e3:.1f} ms of kernels" == "3.1 ms of kernels"
    assert told.recomputed == "3.1 ms of kernels, or more, in each step of 3.5 ms"
    assert "run 0.4 % of the epoch" in told.why
    assert f"{0.9 * 6.5 / (22_075_392_000 / PEAK):,.0f} times" in told.why


def test_what_is_called_launch_overhead_is_many_times_a_launch() -> None:
    told = claim("launch overhead")
    assert (told.published, told.recomputed) == ("108 µs and 540 µs", "at most 15 µs and 30 µs")


def test_api_time_per_batch_is_a_division_that_nothing_supports() -> None:
    told = claim("API time of a batch")
    assert told.published.endswith(f"{2_700 / 1_875:.2f} ms")
    assert told.recomputed == f"{2.7 / 1_875 / 15e-6:.0f} launches of 15 µs" == "96 launches of 15 µs"
    assert told.verdict == "not shown"


def test_what_the_calls_leave_of_the_gpu_epoch_would_leave_the_cpu_epoch_little() -> None:
    told = claim("framework and Python")
    assert told.published == "6.5 s − 2.7 s = 3.8 s"
    assert "of 4.4 s, too, its arithmetic ran in 0.6 s, at 37 GFLOP/s" in told.why
    assert round(22_075_392_000 / (4.4 - 3.8) / 1e9) == 37


@pytest.mark.parametrize(("tile", "few", "many"), [(32, 4, 48), (64, 2, 48), (128, 1, 16)])
def test_the_multiprocessors_that_a_product_reaches_follow_from_its_tiles(tile: int, few: int, many: int) -> None:
    assert (reached(32, tile), reached(2_048, tile)) == (few, many)
    assert f"{few} and {many} in tiles of {tile} × {tile}" in claim("SMs busy").recomputed


def test_no_square_tile_gives_the_published_multiprocessors() -> None:
    assert (3, 42) not in [(reached(32, tile), reached(2_048, tile)) for tile in range(1, 257)]
    assert reconstruct_keras_gpu.product("gemm", 32, 784, 128).blocks == reached(32, reconstruct_keras_gpu.TILE)
    assert reconstruct_keras_gpu.TILE in TILES


def test_printing_makes_200_calls_of_item_in_every_row() -> None:
    told = claim("calls of item()")
    assert told.published == "200, 100, 20, 10"
    assert told.recomputed == f"at least {20_000 // 100} each"
    each_us = (11.0 - 9.74) / (20_000 - 200) * 1e6
    assert f"{each_us:.0f} µs each" in told.why
    assert f"are {190 * each_us / 1e3:.0f} ms, and the rows differ by {10.43 - 9.74:.2f} s" in told.why


def test_rows_of_the_published_item_table_have_the_calls_that_their_interval_makes() -> None:
    assert [one.calls for one in published.ITEMS] == [20_000 // one.item_every for one in published.ITEMS]


def test_the_page_of_the_study_repeats_the_claims() -> None:
    rows = table_after("the-study.md", "| figure | published | recomputed | verdict")
    assert rows == [[one.what, one.published, one.recomputed, one.verdict, one.why] for one in claims()]


def test_the_section_has_a_row_for_every_claim_and_no_two_of_one_name() -> None:
    names = [one.what for one in claims()]
    assert len(set(names)) == len(names)
    assert section().key == "claims"
