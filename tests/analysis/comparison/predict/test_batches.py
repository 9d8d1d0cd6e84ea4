"""A step's time by batch size, and where two kinds of runs cross."""

from dataclasses import replace
from typing import Literal

import pytest

from recorded_runs import TRAINING
from wallsplit.comparison.predict.batches import Batches, BatchLine, batches, break_even
from wallsplit.run.manifest import Epoch, RunManifest, Steps


def run(device: Literal["cpu", "gpu"], batch: int, step_ns: int, *, first_epoch_ns: int = 10**9) -> RunManifest:
    """Return a run of 100 steps an epoch."""
    epochs = (Epoch(first_epoch_ns), *(Epoch(100 * step_ns),) * 2)
    return replace(TRAINING, device=device, parameters={"batch": batch}, steps=Steps(100), epochs=epochs)


def told(*runs: RunManifest) -> Batches:
    return batches(runs)


def test_the_line_runs_through_the_smallest_and_the_largest_batch() -> None:
    (line,) = told(run("gpu", 32, 1_064), run("gpu", 128, 1_256), run("gpu", 64, 1_000)).lines
    assert (line.constant_ns, line.per_sample_ns) == (1_000, 2)
    assert line.errors == {64: pytest.approx(0.128)}
    assert line.name == "numpy, gpu"


def test_the_first_epoch_is_left_out_where_there_are_others_and_one_batch_gives_no_line() -> None:
    assert told(run("gpu", 32, 1_000), run("gpu", 32, 2_000)).lines == ()
    assert told(run("gpu", 32, 1_000, first_epoch_ns=5), run("gpu", 64, 2_000)).lines[0].step_ns[32] == 1_000


def test_repeats_count_by_their_median() -> None:
    (line,) = told(*(run("cpu", 32, ns) for ns in (900, 1_000, 5_000)), run("cpu", 64, 2_000)).lines
    assert line.step_ns[32] == 1_000


def test_lines_cross_where_their_constants_and_slopes_say() -> None:
    cpu = (run("cpu", 32, 100 + 32 * 10), run("cpu", 256, 100 + 256 * 10))
    gpu = (run("gpu", 32, 1_000 + 32), run("gpu", 256, 1_000 + 256))
    (crossing,) = told(*cpu, *gpu).crossings
    assert crossing.batch == pytest.approx(100)
    assert (crossing.small, crossing.large) == ("numpy, cpu", "numpy, gpu")
    assert crossing.measured == (32, 256)


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_a_line_that_is_below_and_no_steeper_is_never_overtaken(slope: float) -> None:
    one, other = BatchLine("a", {1: 0, 2: 0}, 10, 1), BatchLine("b", {1: 0, 2: 0}, 20, slope)
    assert [break_even(*pair).batch for pair in ((one, other), (other, one))] == [None, None]
    assert break_even(other, one).small == "a"


def test_a_crossing_that_was_not_measured_says_so() -> None:
    cpu = (run("cpu", 32, 100 + 32 * 10), run("cpu", 64, 100 + 64 * 10))
    gpu = (run("gpu", 32, 1_000 + 32), run("gpu", 64, 1_000 + 64))
    (crossing,) = told(*cpu, *gpu).crossings
    assert crossing.batch == pytest.approx(100)
    assert crossing.measured is None
