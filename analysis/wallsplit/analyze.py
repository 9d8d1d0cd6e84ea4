"""The pipeline: a trace in, its analysis out."""

from collections.abc import Sequence
from pathlib import Path

from wallsplit.activity import Activity, activities
from wallsplit.analysis import Analysis, Ledger, Window
from wallsplit.breakdowns import tables
from wallsplit.headline import headline
from wallsplit.ledger import book
from wallsplit.model import Model, load
from wallsplit.notes import notes
from wallsplit.trace import Trace
from wallsplit.windows import default_window, whole, windows


def analyze(path: Path, window: str | None = None, *, shown_as: Path | None = None) -> Analysis:
    """Return the analysis of the export at `path`.

    `window` is as on the command line, None = the default one; `shown_as` is the path the user gave, where that was
    a report and `path` its export.

    Raises:
        TraceError: the file is no complete nsys export.
        WindowError: the trace has no such window.
    """
    trace = Trace.open(path)
    model = load(trace)
    parts = windows(model, window) if window else tuple(w for w in [default_window(model)] if w)
    selected = whole(parts, window or parts[0].name) if parts else None
    ledgers = _ledgers(model, parts)
    explicit = selected if window else None
    return Analysis(
        path=str(shown_as or path),
        size_bytes=trace.size_bytes,
        format=trace.format,
        headline=headline(ledgers, selected),
        nsys_version=model.capture.nsys_version,
        schema_version=model.capture.schema_version,
        gpus=model.gpus,
        processes=model.processes,
        window=selected,
        window_is_explicit=window is not None,
        ledgers=ledgers,
        tables=tables(model, explicit),
        notes=notes(model, ledgers, selected, explicit=window is not None),
        reconstructed=model.capture.note is not None,
        assumptions=model.capture.assumptions,
    )


def _ledgers(model: Model, parts: Sequence[Window]) -> tuple[Ledger, ...]:
    """Return the ledgers of every activity in every window; of one NVTX range, only its own process's."""
    found = activities(model)
    return tuple(book(a, w, own_window=len(parts) > 1) for w in parts for a in _concerned(found, w))


def _concerned(found: Sequence[Activity], window: Window) -> Sequence[Activity]:
    mine = [a for a in found if a.pid == window.pid]
    return mine or found
