"""Which part of the trace is analysed: `cuda`, `nvtx`, `capture`, `START:END`, `nvtx:NAME` (docs/ledger.md, Window).

NAME may be a pattern, `step *`.
"""

import difflib
import fnmatch
import re
from collections.abc import Sequence
from decimal import Decimal

import polars as pl

from wallsplit.errors import WindowError
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.text import shorten

UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_TIME = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min)\s*")
NAMES_LISTED = 8
GLOB = "*?["
"""A name with one of these that no range bears is a pattern."""


def default_window(model: Model) -> Window | None:
    """Return `cuda` where the trace has CUDA rows, else `nvtx`, else `capture`; None where it has none of them."""
    return _cuda(model) or _nvtx_or_capture(model)


def windows(model: Model, spec: str) -> tuple[Window, ...]:
    """Return the window that `spec` names; several where it names an NVTX range that occurs more than once.

    Raises:
        WindowError: there is no such window in the trace; the message lists what there is.
    """
    if spec.startswith("nvtx:"):
        return _ranges(model, spec.removeprefix("nvtx:"))
    named = {"cuda": _cuda, "nvtx": _nvtx_or_capture, "capture": _capture}
    if spec in named:
        window = named[spec](model)
        if window is None:
            raise WindowError(f"window {spec}: the trace has nothing to take it from; {_available(model)}")
        return (window,)
    return (_between(model, spec),)


def whole(parts: Sequence[Window]) -> Window:
    """Return the window from the first start to the last end of `parts`, which bear one name."""
    return Window(parts[0].name, min(w.start_ns for w in parts), max(w.end_ns for w in parts))


def _cuda(model: Model) -> Window | None:
    return _window("cuda", model.cuda_span)


def _nvtx(model: Model) -> Window | None:
    own = model.annotations.where(~pl.col("is_library"))
    return _window("nvtx", (int(own.start.min()), int(own.end.max())) if len(own) else None)


def _nvtx_or_capture(model: Model) -> Window | None:
    return _nvtx(model) or _capture(model)


def _capture(model: Model) -> Window | None:
    duration = model.capture.duration_ns
    return None if duration is None else _window("capture", (0, duration))


def _window(name: str, ends: tuple[int, int] | None) -> Window | None:
    return Window(name, *ends) if ends and ends[0] < ends[1] else None


def _between(model: Model, spec: str) -> Window:
    start_text, colon, end_text = spec.partition(":")
    start, end = _nanoseconds(start_text), _nanoseconds(end_text)
    if not colon or start is None or end is None:
        raise WindowError(
            f"window {spec!r}: is none of cuda, nvtx, capture, steady, nvtx:NAME, or START:END with units like 1.2s:3s"
        )
    recorded = model.span
    if start >= end:
        raise WindowError(f"window {spec}: is empty; its end must come after its start")
    if recorded is None or start < recorded[0] or end > recorded[1]:
        raise WindowError(f"window {spec}: is outside the trace; {_available(model)}")
    return Window(spec, start, end)


def _nanoseconds(text: str) -> int | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    return int((Decimal(match[1]) * UNITS_NS[match[2]]).to_integral_value())


def _ranges(model: Model, name: str) -> tuple[Window, ...]:
    texts = model.names.texts
    same = (texts == name).arg_true().cast(pl.Int32)
    named = model.annotations.where(pl.col("range").is_in(same.implode())).frame
    if named.is_empty() and any(sign in name for sign in GLOB):
        named = model.annotations.where(pl.col("range").is_in(_matching(model, name).implode())).frame
    if named.is_empty():
        raise WindowError(f"window nvtx:{name}: no such NVTX range; {_known_ranges(model, name)}")
    rows = named.filter(pl.col("end") > pl.col("start"))
    if rows.is_empty():
        raise WindowError(f"window nvtx:{name}: is empty; every range of this name ends when it starts")
    ends = rows.sort("start", "end", "pid").select("start", "end", "pid").iter_rows()
    return tuple(Window(f"nvtx:{name}", start, end, pid) for start, end, pid in ends)


def _matching(model: Model, pattern: str) -> pl.Series:
    """Return the rows of the names of ranges that a pattern matches: `step *`, with `?` for one letter."""
    distinct = model.annotations.kinds["range"].unique()
    matches = re.compile(fnmatch.translate(pattern)).match
    return distinct.filter(
        pl.Series([matches(text) is not None for text in model.names.text(distinct)], dtype=pl.Boolean)
    )


def _known_ranges(model: Model, name: str) -> str:
    counts = model.nvtx.group_by("range").len().sort("len", "range", descending=[True, False])
    known = model.names.text(counts["range"]).to_list()
    if not known:
        return "the trace has no NVTX ranges"
    near = difflib.get_close_matches(name, known[:1_000], n=NAMES_LISTED)
    shown = (near or known)[:NAMES_LISTED]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"there are {', '.join(map(shorten, shown))}{more}"


def _available(model: Model) -> str:
    candidates = (_cuda(model), _nvtx(model), _capture(model))
    found = [f"{w.name} ({w.start_ns}ns:{w.end_ns}ns)" for w in candidates if w]
    if model.span:
        found.append(f"any START:END within {model.span[0]}ns:{model.span[1]}ns")
    return f"it has {', '.join(found)}" if found else "it has no window at all"
