"""Several traces side by side: one row each, their ledgers on one scale."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.figures.ledger import MOST, bar, courses_of
from wallsplit.ledger.ledger import Ledger
from wallsplit.note import Note
from wallsplit.report.before_after import before_after
from wallsplit.report.document import Cell, Column, Link, Remarks, Report, Section, Split, Table
from wallsplit.report.trace_row import mean_busy, steps_per_s, trace_name
from wallsplit.text import file_name, for_people, visible
from wallsplit.words.all_notes import BANNER
from wallsplit.words.amounts import between, counted, how_many
from wallsplit.words.headline import of_gpus
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import speakers, worst
from wallsplit.words.verdict import verdict

STEM = "index"


def index(analyses: Sequence[Analysis], stems: Sequence[str], errors: Sequence[tuple[str, str]] = ()) -> Report:
    """Return the report that leads to each trace's own, `stems` being their file names; failed traces are listed."""
    pairs = before_after(analyses, stems)
    order = worst_first(analyses)
    analyses, stems = [analyses[i] for i in order], [stems[i] for i in order]
    blocks = (*([pairs] if pairs else []), _table(analyses, stems))
    sections = [Section("traces", "Traces, worst first", blocks)] if analyses else []
    if errors:
        notes = tuple(Note("trace_failed", "error", _without_folder(path, message)) for path, message in errors)
        sections.append(Section("failed", "Traces that failed", (Remarks(notes),)))
    figures = _figures(analyses)
    if figures:
        sections.append(Section("ledgers", "Ledgers side by side", figures))
    count = len(analyses) + len(errors)
    return Report(
        title="Index of traces",
        headline=verdict_of_set(analyses, len(errors)),
        figure=None,
        sections=tuple(sections),
        source=f"{count} trace{'s' if count != 1 else ''} of NVIDIA Nsight Systems",
        banner=BANNER if analyses and all(analysis.reconstructed for analysis in analyses) else None,
    )


def verdict_of_set(analyses: Sequence[Analysis], failed: int = 0) -> str:
    """Return what traces have in common, in one sentence."""
    primary = [worst(every).diagnosis.primary if (every := speakers(a)) else "" for a in analyses]
    said = [
        (primary.count("gpu_bound"), "keep the GPU busy", "keeps the GPU busy"),
        (primary.count("startup"), "are mostly start-up", "is mostly start-up"),
        (sum(map(primary.count, _NOT_JUDGED)), "cannot be judged", "cannot be judged"),
        (failed, "failed", "failed"),
    ]
    parts = [f"{how_many(n)} {alone if n == 1 else several}" for n, several, alone in said if n]
    return f"{counted(len(analyses) + failed, 'trace').capitalize()}{': ' if parts else ''}{', '.join(parts)}."


_NOT_JUDGED = ("abstain", "failed_calls", "no_gpu_use", "no_cuda", "few_operations")


def worst_first(analyses: Sequence[Analysis]) -> list[int]:
    """Return the positions of the analyses: those of which nothing can be said, then by the GPU's share, least first.

    Runs without CUDA come last, as nothing of the GPU is wrong with them; equal ones keep their order.
    """
    return sorted(range(len(analyses)), key=lambda i: _place(analyses[i]))


def _place(analysis: Analysis) -> tuple[int, float]:
    every = speakers(analysis)
    if not analysis.ledgers or all(ledger.accounts["cuda.launch"] is None for ledger in analysis.ledgers):
        return 2, 0.0
    if any(speaker.diagnosis.primary in ("abstain", "failed_calls") for speaker in every):
        return 0, 0.0
    ledgers = of_gpus(analysis.ledgers)
    on_gpu = sum(ledger.gpu_busy_ns or 0 for ledger in ledgers)
    return 1, on_gpu / max(1, sum(ledger.wall_ns for ledger in ledgers))


def _table(analyses: Sequence[Analysis], stems: Sequence[str]) -> Table:
    several = any(len(of_gpus(analysis.ledgers)) > 1 for analysis in analyses)
    columns = (
        Column("trace"),
        Column("GPU, set-up, CUDA, host", null="–"),
        Column("wall", "ns", "–"),
        Column("GPU busy", "ratio", "not measured"),
        Column("steps per s", "number", "–"),
        *([Column("between its GPUs", null="–")] if several else []),
        Column("verdict"),
    )
    rows = tuple(_row(analysis, stem, several=several) for analysis, stem in zip(analyses, stems, strict=True))
    return Table("One row per trace", columns, rows, len(rows), is_stacked=True)


def _row(analysis: Analysis, stem: str, *, several: bool) -> tuple[Cell, ...]:
    reconstructed = "Reconstructed, not recorded. " if analysis.reconstructed else ""
    return (
        Link(trace_name(analysis), stem),
        _split(analysis),
        analysis.window.wall_ns if analysis.window else None,
        mean_busy(analysis),
        steps_per_s(analysis),
        *([_between_gpus(analysis)] if several else []),
        reconstructed + verdict(analysis),
    )


def _split(analysis: Analysis) -> Split | None:
    """Return the bar of the GPU, or of all that speak for the GPUs together."""
    bars = [bar("", ledger) for ledger in of_gpus(analysis.ledgers)] or [
        bar("", ledger, course) for ledger, course in zip(analysis.ledgers[:1], courses_of(analysis), strict=False)
    ]
    if not bars:
        return None
    segments = [segment for part in bars for segment in part.segments]
    first = {segment.key: segment for segment in segments}
    total = {key: sum(s.value_ns for s in segments if s.key == key) for key in first}
    return Split(
        Bar(trace_name(analysis), tuple(replace(segment, value_ns=total[key]) for key, segment in first.items()))
    )


def _between_gpus(analysis: Analysis) -> str | None:
    every = [speaker for speaker in speakers(analysis) if speaker.ledger.device is not None]
    if len(every) < 2:
        return None
    lowest = min(every, key=lambda speaker: speaker.share("work"))
    comm = [speaker.share("comm") for speaker in every]
    exposed = f"; exposed communication {between(comm)}" if max(comm) >= 0.001 else ""
    return (
        f"computing {between([speaker.share('work') for speaker in every])}, least on GPU {lowest.ledger.gpu}{exposed}"
    )


def _without_folder(path: str, message: str) -> str:
    """Return the message about a trace with the file's name only: reports hold no path of this machine."""
    name = file_name(path)
    text = message.removeprefix(path).removeprefix(visible(path)).removeprefix(": ")
    return f"{name}: {text.replace(path, name)}"


def _figures(analyses: Sequence[Analysis]) -> tuple[Figure, ...]:
    bars = tuple(
        bar(_label(analysis, ledger), ledger, course)
        for analysis in analyses
        for ledger, course in zip(analysis.ledgers[:MOST], courses_of(analysis), strict=False)
    )
    if not bars:
        return ()
    absolute, relative = Bars(bars, max(each.total_ns for each in bars)), Bars(bars)
    alt = "; ".join(each.in_words for each in bars)
    return (
        Figure("time", STEM, "Wall time, on one scale", alt, lambda: stacked(absolute), absolute),
        Figure("share", STEM, "Per cent of each one's wall time", alt, lambda: stacked(relative), relative),
    )


def _label(analysis: Analysis, ledger: Ledger) -> str:
    name = for_people(PurePath(analysis.path).stem, 40)
    return name if len(analysis.ledgers) == 1 else f"{name}, {ledger_label(analysis, ledger)}"
