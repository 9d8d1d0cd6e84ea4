"""What skip-gram with negative sampling computes and touches, by its parameters (Mikolov et al. 2013, eq. 4).

Every word is paired with each word of its window, which is as wide as a number drawn from 1 to `window`. A pair takes
the row of one word and, of the other matrix, the rows of the other word and of `negative` words drawn at random; for
each of these: a dot product, and two rows to which a multiple of another is added.
"""

from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

FLOAT_BYTES = 4
ROWS_AT_ONCE = 1_000  # few enough that what is copied stays in the cache, as Gensim's own row of work does

FORMULA = (
    "2·d·(3·(negative + 1) + 1) per pair of words, a multiply-add counts as 2; pairs are expected ones, from the words "
    "that subsampling keeps; drawing words, and the table look-up of the sigmoid, are left out"
)


def pairs_per_sentence(words: float, window: int) -> float:
    """Return how many pairs a sentence of that many words is expected to make: 5.3 a word for 20 words, window 5.

    Of a window w it makes 2·w·words − w·(w + 1), w words to each side less those beyond the ends; with as many words
    as w or fewer, everyone with everyone else. The mean over w from 1 to `window`.
    """
    widths = range(1, window + 1)
    return sum(2 * w * words - w * (w + 1) if words > w else words * max(0.0, words - 1) for w in widths) / window


def flops_per_pair(size: int, negative: int) -> int:
    """Return the operations of a pair of words with vectors of that size, by FORMULA: 3,800 for 100 and 5."""
    return 2 * size * (3 * (negative + 1) + 1)


def bytes_per_pair(size: int, negative: int) -> int:
    """Return the bytes of rows that a pair reads and writes: negative + 2 rows, each once; 5,600 for 100 and 5."""
    return 2 * (negative + 2) * size * FLOAT_BYTES


def row_bytes_per_second(rows: NDArray[np.int64], count: int, size: int) -> int:
    """Return the bytes a second at which one thread reads and writes these rows, in order, of a matrix (count, size).

    No arithmetic: each row is copied out and back, which is the least that training with it has to do. The faster of
    two passes, as the first finds nothing in the caches.
    """
    matrix = np.ones((count, size), np.float32)  # of zeros the pages would come with the first copy
    copied_ns = min(_copying_ns(matrix, rows) for _ in range(2))
    return 2 * size * FLOAT_BYTES * len(rows) * 10**9 // copied_ns


def _copying_ns(matrix: NDArray[np.float32], rows: NDArray[np.int64]) -> int:
    start = perf_counter_ns()
    for first in range(0, len(rows), ROWS_AT_ONCE):
        chosen = rows[first : first + ROWS_AT_ONCE]
        matrix[chosen] = matrix.take(chosen, axis=0)
    return max(1, perf_counter_ns() - start)
