"""The pipeline: a trace in, its analysis out."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from wallsplit.analysis import Analysis
from wallsplit.arithmetic.counting import Question, marked
from wallsplit.arithmetic.overhead import against_overhead
from wallsplit.arithmetic.work import LedgerArithmetic
from wallsplit.breakdowns import tables
from wallsplit.ledger.activity import Activity, activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.windows import default_window, whole, windows
from wallsplit.model import Model, load
from wallsplit.note import Note
from wallsplit.run.beside_trace import RecordedRun, recorded_run
from wallsplit.run.nvml import NvmlSummary, summary
from wallsplit.trace import Trace
from wallsplit.words.headline import headline
from wallsplit.words.notes import notes


def analyze(
    path: Path,
    window: str | None = None,
    *,
    shown_as: Path | None = None,
    flops: int | None = None,
    peak_flops_per_s: int | None = None,
) -> Analysis:
    """Return the analysis of the export at `path`, with what the manifest beside it says of the run.

    `window` is as on the command line, None = the default one; `shown_as` is the path the user gave, where that was
    a report and `path` its export. `flops`, of each process in the window, and `peak_flops_per_s` stand in for the
    manifest's and for those of the trace.

    Raises:
        TraceError: the file is no complete nsys export.
        WindowError: the trace has no such window.
        FlopsError: `flops` would be more than 100 % of peak.
    """
    trace = Trace.open(path)
    model = load(trace)
    parts = windows(model, window) if window else tuple(w for w in [default_window(model)] if w)
    selected = whole(parts) if parts else None
    recorded = recorded_run(shown_as or path)
    question = Question(recorded.manifest, flops, peak_flops_per_s, whole_trace=window is None)
    with ThreadPoolExecutor(1) as beside:  # sorting leaves the interpreter to others: two cores are used
        booked = beside.submit(_booked, model, parts, selected, question)
        found = tables(model, selected if window else None)
    ledgers, arithmetic, refused = booked.result()
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
        tables=found,
        notes=(*notes(model, ledgers, selected, explicit=window is not None), *recorded.notes, *refused),
        run=recorded.manifest,
        arithmetic=arithmetic,
        perturbation=recorded.perturbation,
        nvml=_nvml(model, recorded, selected),
        reconstructed=model.capture.note is not None,
        assumptions=model.capture.assumptions,
    )


def _booked(
    model: Model, parts: Sequence[Window], selected: Window | None, question: Question
) -> tuple[tuple[Ledger, ...], tuple[LedgerArithmetic, ...] | None, tuple[Note, ...]]:
    """Return the ledgers, their arithmetic, and notes on what was refused."""
    found = activities(model)
    ledgers = _ledgers(found, parts)
    return ledgers, *against_overhead(model, found, ledgers, selected, question)


def _ledgers(found: Sequence[Activity], parts: Sequence[Window]) -> tuple[Ledger, ...]:
    """Return the ledgers of every activity in every window; of one NVTX range, only its own process's."""
    return tuple(book(a, w, own_window=len(parts) > 1) for w in parts for a in _concerned(found, w))


def _concerned(found: Sequence[Activity], window: Window) -> Sequence[Activity]:
    mine = [a for a in found if a.pid == window.pid]
    return mine or found


def _nvml(model: Model, recorded: RecordedRun, window: Window | None) -> NvmlSummary | None:
    """Return what NVML said over the window; None without samples, or where the trace does not tell the time of day."""
    origin = model.capture.start_utc_ns
    if not recorded.samples or window is None or origin is None:
        return None
    epochs = marked(model, "epoch", window)
    return summary(
        recorded.samples,
        (origin + window.start_ns, origin + window.end_ns),
        [(origin + start, origin + end) for start, end in epochs],
    )
