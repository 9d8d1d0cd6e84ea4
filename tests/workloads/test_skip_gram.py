"""What skip-gram computes and touches: its formulas against counting; rows are copied whatever their number."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from wallsplit_workloads.skip_gram import bytes_per_pair, flops_per_pair, pairs_per_sentence, row_bytes_per_second


def counted_pairs(words: int, window: int) -> float:
    """Count, for every width from 1 to `window`, the words within it of each word, and return the mean."""
    positions = list(itertools.product(range(words), range(words), range(1, window + 1)))
    return sum(0 < abs(one - other) <= width for one, other, width in positions) / window


@pytest.mark.parametrize("window", [1, 2, 5, 9])
@pytest.mark.parametrize("words", [0, 1, 2, 5, 6, 20])
def test_the_pairs_of_a_sentence_are_those_that_counting_finds(words: int, window: int) -> None:
    assert pairs_per_sentence(words, window) == pytest.approx(counted_pairs(words, window))


def test_a_pair_of_words_is_19_products_of_vectors_and_14_rows() -> None:
    """Six targets with a dot product and two additions each, one addition more; seven rows read and written."""
    assert flops_per_pair(100, 5) == 2 * 100 * (6 * 3 + 1)
    assert bytes_per_pair(100, 5) == 2 * 7 * 400


def test_a_published_example_of_ten_thousand_multiply_adds_is_a_word_with_its_window() -> None:
    multiply_adds = pairs_per_sentence(20, 5) / 20 * flops_per_pair(100, 5) / 2
    assert multiply_adds == pytest.approx(1e4, rel=0.01)


def test_the_page_of_the_study_reckons_as_the_code_does() -> None:
    page = " ".join((Path(__file__).resolve().parents[2] / "docs" / "the-study.md").read_text("utf-8").split())
    flops, touched = flops_per_pair(100, 5), bytes_per_pair(100, 5)
    assert f"is {flops:,} FLOP (six dot products and thirteen additions" in page
    assert f"seven rows, {touched:,} bytes: {flops / touched:.2f} FLOP for each byte" in page
    assert f"A word makes {pairs_per_sentence(20, 5) / 20:.1f} pairs in a sentence of 20 words" in page


@pytest.mark.parametrize("words", [1, 999, 1_000, 2_500])
def test_rows_are_copied_for_any_number_of_words(words: int) -> None:
    assert row_bytes_per_second(np.arange(words) % 7, 7, 3) > 0
