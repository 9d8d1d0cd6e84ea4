"""Aggregates over many slices of one array, all at once: the arithmetic under the NVTX projection."""

from typing import Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Operation = Literal["sum", "min", "max"]

_UFUNC = {"sum": np.add, "min": np.minimum, "max": np.maximum}
_NEUTRAL = {"sum": 0, "min": np.iinfo(np.int64).max, "max": np.iinfo(np.int64).min}


def slice_extremes(values: Ints, low: Ints, high: Ints, operation: Literal["min", "max"]) -> Ints:
    """Return the minimum or maximum of values[low:high] for each pair; every slice must hold at least one value.

    A sparse table (Bender and Farach-Colton, "The LCA Problem Revisited", 2000), one level in memory at a time: slices
    are taken in the order of the power of two that fits into them.
    """
    ufunc = _UFUNC[operation]
    result = np.empty(len(low), np.int64)
    level_of = (np.frexp((high - low).astype(np.float64))[1] - 1).astype(np.int8)
    order = np.argsort(level_of, kind="stable")
    bounds = np.searchsorted(level_of[order], np.arange(level_of.max(initial=-1) + 2))
    table = values
    for level in range(len(bounds) - 1):
        width = 1 << level
        now = order[bounds[level] : bounds[level + 1]]
        result[now] = ufunc(table[low[now]], table[high[now] - width])
        table = ufunc(table[:-width], table[width:])
    return result


def prefix_aggregates(keys: Ints, values: Ints, prefix: Ints, limit: Ints, operation: Operation) -> Ints:
    """Return, per query, the aggregate of values[i] over i < prefix with keys[i] <= limit; the neutral value if none.

    Two-dimensional dominance, O((n + q) log² n) and vectorised: a prefix is a disjoint sum of aligned blocks, one per
    set bit of its length; each level sorts its blocks by key and accumulates within them.
    """
    ufunc, neutral = _UFUNC[operation], _NEUTRAL[operation]
    result = np.full(len(prefix), neutral, np.int64)
    levels = len(keys).bit_length()
    ordered = np.sort(keys)
    limit_rank = np.searchsorted(ordered, limit, "right")
    size, apart = 1 << levels, len(keys) + 1  # padded to whole blocks; ranks of padding exceed every limit
    rank = np.full(size, len(keys), np.int64)
    rank[: len(keys)] = np.searchsorted(ordered, keys, "left")
    weight = np.full(size, neutral, np.int64)
    weight[: len(keys)] = values
    for level in range(levels):
        by_block = rank + (np.arange(size) >> level) * apart
        order = np.argsort(by_block, kind="stable")  # two sorted runs per block: a merge
        rank, weight, by_block = rank[order], weight[order], by_block[order]
        running = ufunc.accumulate(weight.reshape(-1, 1 << level), axis=1).ravel()
        asking = np.flatnonzero(prefix >> level & 1)
        block = prefix[asking] >> (level + 1) << 1
        end = np.searchsorted(by_block, block * apart + limit_rank[asking], "left")
        found = end > block << level
        result[asking[found]] = ufunc(result[asking[found]], running[end[found] - 1])
    return result
