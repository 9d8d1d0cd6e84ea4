"""Whether two traces tell the same in everything but names: what a scrubbed file is held against before it is kept."""

from collections.abc import Iterator

import polars as pl

from wallsplit.model import Model
from wallsplit.pipeline import Examined, analyse

_NAMES = {
    "kernels": ("name", "short_name"),
    "api_calls": ("name",),
    "nvtx": ("text",),
    "osrt": ("name",),
    "mpi": ("name",),
}
"""Columns that number names. What a range is called with its domain in front follows from `text`."""
_DERIVED = {"nvtx": ("range",)}
_FRAMES = (
    *("kernels", "graph_replays", "memory_ops", "api_calls", "nvtx", "osrt", "mpi", "profiler_overhead"),
    *("synchronizations", "memory_events", "gpu_page_faults", "cpu_page_faults", "gpu_metrics"),
)


def difference(before: Examined, after: Examined) -> str | None:
    """Return the first thing in which two traces differ, in words; None where they differ in names alone.

    The frames are compared row by row, names by which rows share one; then the ledgers of the default window.
    """
    return next(_differences(before, after), None)


def _differences(before: Examined, after: Examined) -> Iterator[str]:
    for frame in _FRAMES:
        column = _differing(frame, before.model, after.model)
        if column is not None:
            yield f"{column} of {frame} is not the same"
    if before.model.unusable_rows != after.model.unusable_rows:
        yield "rows that cannot be used are not the same"
    if not before.model.gpus.drop("name").equals(after.model.gpus.drop("name")):
        yield "what is known of the GPUs is not the same"
    if analyse(before).ledgers != analyse(after).ledgers:
        yield "the ledgers are not the same"


def _differing(frame: str, before: Model, after: Model) -> str | None:
    one, other = getattr(before, frame), getattr(after, frame)
    names = _NAMES.get(frame, ())
    left_out = (*names, *_DERIVED.get(frame, ()))
    if one.height != other.height:
        return "the number of rows"
    plain = next((c for c in one.columns if c not in left_out and not one[c].equals(other[c], null_equal=True)), None)
    return plain or next((c for c in names if not _same_groups(one[c], other[c])), None)


def _same_groups(one: pl.Series, other: pl.Series) -> bool:
    """Return whether the same rows share a name."""
    pairs = pl.DataFrame({"one": one, "other": other}).unique()
    return pairs.height == pairs["one"].n_unique() == pairs["other"].n_unique()
