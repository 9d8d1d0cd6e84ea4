"""word2vec's bounds: planted times, operations and rates, and the shares that follow from them."""

from dataclasses import replace

from studies import IDENTITY, cell, run
from wallsplit.report.document import Table
from wallsplit.run.manifest import Arithmetic, Cpu, Data
from wallsplit_study.cells import Outcome, measured
from wallsplit_study.word2vec import bounds, word2vec

SECOND = 10**9


def outcome(workers: int, epoch_ns: int = 2 * SECOND, **results: int) -> Outcome:
    """Return a run of 1,000 words, 8,000 FLOP each, on two cores with a peak of 20 kFLOP/s in all."""
    planted = replace(
        run(epoch_ns, parameters=None, **results),
        data=Data("zipf", None, 1_000, 0),
        arithmetic=Arithmetic("f", flops_per_epoch=8_000),
        threads={"word2vec_workers": workers},
        cpu=Cpu("a processor", 2, 2, peak_flops=20_000),
    )
    return measured(cell(f"{workers}", 1, "word2vec"), IDENTITY, planted)


RATES = {"bytes_touched_per_epoch": 16_000, "row_bytes_per_second": 10_000, "cached_row_bytes_per_second": 40_000}


def test_word2vec_is_compared_with_one_worker() -> None:
    outcomes = [measured(cell(f"{n}", 1, "word2vec"), IDENTITY, run(12 // n, words_per_second=5.0)) for n in (1, 2, 3)]
    section = word2vec(outcomes)
    assert section is not None
    first = next(block for block in section.blocks if isinstance(block, Table))
    assert [row[4] for row in first.rows] == [1, 2, 3]


def test_what_each_bound_takes_of_the_time_follows_from_rates_and_peak() -> None:
    """4,000 FLOP/s of 10,000 a core; 8,000 bytes/s where rows alone come at 10,000, and at 40,000 from the cache."""
    (row,) = bounds([outcome(1, **RATES)]).rows
    assert row == ("1", 8.0, 16.0, 0.5, 4e-6, 8e-6, 0.4, 0.8, 0.2)


def test_workers_share_the_work_as_far_as_there_are_cores() -> None:
    two, four = (bounds([outcome(workers, SECOND, **RATES)]).rows[0] for workers in (2, 4))
    assert two[6:] == four[6:] == (0.4, 0.8, 0.2)


def test_a_run_that_measured_no_rate_claims_no_bound() -> None:
    (row,) = bounds([outcome(1)]).rows
    assert row == ("1", 8.0, None, None, 4e-6, None, 0.4, None, None)
