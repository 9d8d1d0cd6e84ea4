"""The pipeline: a trace read once, then its analysis in any window."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from wallsplit.analysis import Analysis
from wallsplit.arithmetic.counting import Question, marked
from wallsplit.arithmetic.overhead import against_overhead
from wallsplit.arithmetic.work import LedgerArithmetic
from wallsplit.breakdowns import each_table
from wallsplit.comparison.collectives import RankTrace, rank_traces
from wallsplit.comparison.repeats import Measured, measured
from wallsplit.comparison.units import AUTO, Recording
from wallsplit.cores import CORES, Each
from wallsplit.diagnosis.explanation import STEADY, Explained, explain, split_host, steady_window
from wallsplit.errors import WindowError
from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity, activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.gpu_use import gpu_use
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.phases import PHASES, PhaseRules
from wallsplit.ledger.windows import default_window, whole, windows
from wallsplit.model import Model, load
from wallsplit.note import Note
from wallsplit.run.beside_trace import RecordedRun, recorded_run
from wallsplit.run.manifest import CPU
from wallsplit.run.nvml import NvmlSummary, summary
from wallsplit.trace import Trace
from wallsplit.why.samples.rules import Rule as ClassRule
from wallsplit.words.gpu_use import gpu_use_notes
from wallsplit.words.headline import headline
from wallsplit.words.notes import notes


@dataclass(frozen=True, eq=False)
class Examined:
    """One trace, read once: the value that every window, and everything that asks *when*, starts from."""

    path: Path
    """The export that was read."""
    size_bytes: int
    format: str
    model: Model
    activities: tuple[Activity, ...]


def examine(path: str | Path) -> Examined:
    """Return the export at `path`, read, with what was active when.

    Raises:
        TraceError: the file is no complete nsys export.
    """
    trace = Trace.open(Path(path))
    model = load(trace)
    with ThreadPoolExecutor(CORES) as pool:
        return Examined(trace.path, trace.size_bytes, trace.format, model, activities(model, pool.map))


def analyse(
    examined: Examined,
    window: str | None = None,
    *,
    shown_as: Path | None = None,
    flops: int | None = None,
    peak_flops_per_s: int | None = None,
    phases: PhaseRules = PHASES,
    classes: Sequence[ClassRule] = (),
) -> Analysis:
    """Return the analysis of a trace in one window, with what the manifest beside it says of the run.

    `window` is as on the command line, None = the default one; `shown_as` is the path the user gave, where that was
    a report and `examined.path` its export. `flops`, of each process in the window, and `peak_flops_per_s` stand in
    for the manifest's and for those of the trace. `phases` say which ranges are of which phase,
    `classes` of which class a CPU sample is.

    Raises:
        WindowError: the trace has no such window.
        FlopsError: `flops` would be more than 100 % of peak.
    """
    model = examined.model
    parts = _parts(examined, window, phases)
    selected = whole(parts) if parts else None
    beside = recorded_run(shown_as or examined.path)
    question = Question(beside.manifest, flops, peak_flops_per_s, whole_trace=window is None)
    with ThreadPoolExecutor(CORES) as pool:  # loops over arrays leave the interpreter to others
        breakdowns = each_table(model, selected if window else None, pool.map)
        use = pool.submit(gpu_use, model.gpus, examined.activities, parts)
        ledgers, explained, arithmetic, refused = _booked(
            examined, parts, selected, question, phases, classes, pool.map
        )
    return Analysis(
        path=str(shown_as or examined.path),
        size_bytes=examined.size_bytes,
        format=examined.format,
        headline=headline(ledgers, selected, explained),
        nsys_version=model.capture.nsys_version,
        schema_version=model.capture.schema_version,
        gpus=use.result(),
        processes=model.processes,
        window=selected,
        window_is_explicit=window is not None,
        ledgers=ledgers,
        tables=dict(breakdowns),
        notes=(
            *notes(
                model,
                ledgers,
                selected,
                explicit=window is not None,
                asked_for_cpu=beside.manifest is not None and beside.manifest.device == CPU,
            ),
            *gpu_use_notes(ledgers, explained, model.memory_of_gpus),
            *beside.notes,
            *refused,
        ),
        run=beside.manifest,
        arithmetic=arithmetic,
        perturbation=beside.perturbation,
        nvml=_nvml(model, beside, selected),
        reconstructed=model.capture.note is not None,
        assumptions=model.capture.assumptions,
        explained=explained,
        not_used=model.not_used,
    )


def analyze(
    path: str | Path,
    window: str | None = None,
    *,
    shown_as: Path | None = None,
    flops: int | None = None,
    peak_flops_per_s: int | None = None,
    phases: PhaseRules = PHASES,
    classes: Sequence[ClassRule] = (),
) -> Analysis:
    """Return the analysis of the export at `path`: `analyse` of what `examine` returns, errors and all."""
    examined = examine(path)
    return analyse(
        examined,
        window,
        shown_as=shown_as,
        flops=flops,
        peak_flops_per_s=peak_flops_per_s,
        phases=phases,
        classes=classes,
    )


def measure(path: str | Path, per: str = AUTO, window: str | None = None, *, shown_as: Path | None = None) -> Measured:
    """Return the export at `path` as what `compare` takes: measured per unit, in a window as for `analyse`.

    Raises:
        TraceError: the file is no complete nsys export.
        WindowError: the trace has no such window, or no window at all.
        ComparisonError: it has no such unit.
    """
    examined = examine(Path(path))
    shown = shown_as or examined.path
    window_of_all = one_window(examined, window)
    recording = Recording(examined.model, examined.activities, window_of_all, recorded_run(shown).manifest)
    return measured(recording, str(shown), per)


def ranks_of(path: str | Path, window: str | None = None, *, shown_as: Path | None = None) -> tuple[RankTrace, ...]:
    """Return the export at `path` as what `compare_ranks` takes: the ranks in it, called as the file.

    Raises:
        TraceError: the file is no complete nsys export.
        WindowError: the trace has no such window, or no window at all.
    """
    examined = examine(Path(path))
    label = (shown_as or examined.path).stem
    return rank_traces(examined.model, examined.activities, one_window(examined, window), label)


def one_window(examined: Examined, window: str | None) -> Window:
    """Return the window asked for, or the default one; of a range that occurs often, from first start to last end.

    Raises:
        WindowError: the trace has no such window, or no window at all.
    """
    parts = _parts(examined, window, PHASES)
    if parts:
        return whole(parts)
    raise WindowError(f"{examined.path}: holds no CUDA call and no NVTX range, and its length is not told: no window")


def _parts(examined: Examined, window: str | None, rules: PhaseRules) -> tuple[Window, ...]:
    """Return the window asked for, or the default one; several where it names a range that occurs often; or none."""
    default = default_window(examined.model)
    if window == STEADY and default:
        ledgers = _ledgers(examined.activities, (default,))
        return (steady_window(explain(examined.model, examined.activities, ledgers, default, rules)),)
    if window:
        return windows(examined.model, window)
    return (default,) if default else ()


def _booked(
    examined: Examined,
    parts: Sequence[Window],
    selected: Window | None,
    question: Question,
    rules: PhaseRules,
    classes: Sequence[ClassRule],
    each: Each,
) -> tuple[tuple[Ledger, ...], Explained | None, tuple[LedgerArithmetic, ...] | None, tuple[Note, ...]]:
    """Return the ledgers, why they are so, their arithmetic, and notes on what was refused."""
    ledgers = _ledgers(examined.activities, parts)
    if not parts:
        return ledgers, None, *against_overhead(examined.model, examined.activities, ledgers, selected, question)
    if len(parts) > 1:
        explained = None
        split = split_host(examined.model, examined.activities, ledgers, whole(parts), rules)
    else:
        explained = explain(examined.model, examined.activities, ledgers, parts[0], rules, classes, each)
        split = tuple(why.idle.host_parts for why in explained.ledgers)
    ledgers = tuple(replace(ledger, host_parts=its) for ledger, its in zip(ledgers, split, strict=True))
    return ledgers, explained, *against_overhead(examined.model, examined.activities, ledgers, selected, question)


def _ledgers(every: Sequence[Activity], parts: Sequence[Window]) -> tuple[Ledger, ...]:
    """Return the ledgers of every activity in every window, window by window; of one NVTX range, only its process's."""
    booked = [(activity.pid, book(activity, parts)) for activity in every]
    pids = {pid for pid, _ in booked}
    return tuple(
        ledgers[number]
        for number, window in enumerate(parts)
        for pid, ledgers in booked
        if window.pid == pid or window.pid not in pids
    )


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
