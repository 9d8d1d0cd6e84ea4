"""Calls that failed, in words that fit the call: a failed allocation is no failed launch."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from wallsplit import units
from wallsplit.breakdowns.anomalies import IS_POLL
from wallsplit.model import Model
from wallsplit.model.error_codes import OUT_OF_MEMORY, in_words, is_final
from wallsplit.note import Note
from wallsplit.schema import MemoryEvents
from wallsplit.text import shorten
from wallsplit.why.memory import memory_use

_NO_STEPS = np.empty(0, np.int64)
LISTED = 6
"""Calls named, by name and code; the table of anomalies has all."""

_MEANING = {  # of the classes of which a failure means something to the figures
    "launch": "A launch that failed ran nothing and takes nothing from the figures.",
    "alloc": "An allocation that failed leaves the program without that memory; no GPU work is missing for it.",
    "memcpy": "A copy that failed moved nothing.",
}


def failed_calls(model: Model) -> Iterator[Note]:
    """Return a note with the name, code and count of each kind of failed call; nothing where none failed."""
    failed = model.api_calls.filter(pl.col("return_value") != 0).filter(~IS_POLL)
    if failed.is_empty():
        return
    counts = failed.group_by("name", "return_value").len()
    named = counts.with_columns(model.names.text(counts["name"]))
    ordered = named.sort("len", "name", "return_value", descending=[True, False, False])
    listed = [f"{shorten(name)}: {in_words(code)}, {count:,} ×" for name, code, count in ordered.iter_rows()]
    more = f"; and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    sentences = [f"CUDA calls failed: {'; '.join(listed[:LISTED])}{more}.", *_meanings(failed), *_held(model, failed)]
    pids = failed["pid"].unique().to_list()
    yield Note("failed_calls", "warning", " ".join(sentences), pid=pids[0] if len(pids) == 1 else None)


def _meanings(failed: pl.DataFrame) -> Iterator[str]:
    codes = sorted(code for code in failed["return_value"].unique() if is_final(code))
    if codes:
        listed = f"code{'s' if len(codes) > 1 else ''} {', '.join(map(str, codes))}"
        yield (
            f"After {listed} CUDA refuses all further work of the process; these calls may report what a kernel did "
            "before them, and that kernel's row may be missing."
        )
        failed = failed.filter(~pl.col("return_value").is_in(codes))
    classes = set(failed["api_class"].cast(pl.String).unique())
    yield from (sentence for name, sentence in _MEANING.items() if name in classes)


def _held(model: Model, failed: pl.DataFrame) -> Iterator[str]:
    """Return how much memory of the GPU was held when it first ran out, where nsys recorded that."""
    out = failed.filter(pl.col("return_value") == OUT_OF_MEMORY).sort("start")
    if out.is_empty():
        return
    pid, time = out.select("pid", "start").row(0)
    before = model.memory_events.filter(pl.col("pid") == pid, pl.col("time") <= time)
    for device in before["device"].unique().sort():
        use = memory_use(MemoryEvents(before), pid, device, _NO_STEPS)
        if use is not None:
            gpu = model.physical_gpu(pid, device)
            whole = model.memory_of_gpus.get(gpu)
            of = f" of the {units.size(whole)} of GPU {gpu}" if whole else f" on GPU {gpu}"
            yield f"When memory first ran out, process {pid} held {units.size(use.end_bytes)}{of}."
