"""Joining API calls and GPU work on their correlation ids, within one process.

A sorted index and binary search instead of a hash join: ids come nearly sorted, so both are close to linear, and the
index is made once per process.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.intervals import Times


@dataclass(frozen=True)
class Correlated:
    """The distinct correlation ids of some rows, ascending, each with the latest end of its rows in ns."""

    ids: Times
    last_end: Times

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Correlated":
        """Return the index of a frame with columns `correlation_id` and `end`; a null id is no id."""
        known = rows["correlation_id"].is_not_null()
        if not known.all():
            rows = rows.filter(known)
        ids, ends = rows["correlation_id"].to_numpy(), rows["end"].to_numpy()
        if not _strictly_increasing(ids):
            order = np.argsort(ids, kind="stable")  # timsort: linear on runs that are sorted already
            ids, ends = ids[order], ends[order]
            first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.empty(0, np.intp)
            if len(first) < len(ids):
                ids, ends = ids[first], np.maximum.reduceat(ends, first)
        return cls(ids, ends)

    def places(self, ids: pl.Series) -> npt.NDArray[np.intp]:
        """Return the position of each id in this index, -1 where it is null or not there."""
        wanted = ids.fill_null(0).to_numpy()
        if not len(self.ids):
            return np.full(len(wanted), -1, np.intp)
        place = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        there = (self.ids[place] == wanted) & ids.is_not_null().to_numpy()
        return np.where(there, place, -1)

    def coverage(self, ids: pl.Series) -> float | None:
        """Return the share of `ids` that this index has, or None without any ids."""
        return None if ids.is_empty() else int((self.places(ids) >= 0).sum()) / len(ids)


def _strictly_increasing(ids: Times) -> bool:
    return bool((ids[1:] > ids[:-1]).all())
