"""Which traces are of one program."""

from dataclasses import replace

import polars as pl
import pytest

from analyses import usual
from recorded_runs import TRAINING
from wallsplit.analysis import Analysis
from wallsplit.comparison.program import MOST_TRACES, are_of_one_program, pairs_of_one_program


def running(kernels: str, workload: str | None = None) -> Analysis:
    """Return a trace with a kernel per letter, and a manifest if a workload is given."""
    run = replace(TRAINING, workload=workload, command=None) if workload else None
    return replace(usual(), tables={"kernel_summary": pl.DataFrame({"name": list(kernels)})}, run=run)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (running("abc"), running("abcd"), True),
        (running("ab"), running("bc"), False),  # one of three
        (running("a"), running("b"), False),
        (running(""), running(""), False),  # nothing tells
        (running("a", "keras-gpu"), running("b", "keras-gpu"), True),
        (running("a", "keras-gpu"), running("a", "jax"), False),
        (running("a", "keras-gpu"), running("a"), True),
    ],
)
def test_manifests_tell_and_without_them_kernels(one: Analysis, other: Analysis, expected: bool) -> None:
    assert are_of_one_program(one, other) is expected


def test_pairs_are_of_programs_with_exactly_two_traces() -> None:
    letters = ("abc", "xyz", "abc", "pqr", "pqr", "pqr")
    assert pairs_of_one_program([running(kernels) for kernels in letters]) == ((0, 2),)


def test_among_very_many_traces_no_pairs_are_looked_for() -> None:
    assert pairs_of_one_program([running("a")] * 2 + [running("b")] * MOST_TRACES) == ()
