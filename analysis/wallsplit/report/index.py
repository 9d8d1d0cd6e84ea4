"""Several traces side by side: one row each, their ledgers on one scale."""

from collections.abc import Sequence
from pathlib import PurePath

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bars
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.figures.ledger import MOST, bar
from wallsplit.ledger.ledger import Ledger
from wallsplit.note import Note
from wallsplit.report.document import AtLeast, Cell, Column, Link, Remarks, Report, Section, Table
from wallsplit.text import file_name, for_people, visible
from wallsplit.words.all_notes import BANNER
from wallsplit.words.headline import of_gpus
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import speakers

STEM = "index"


def index(analyses: Sequence[Analysis], stems: Sequence[str], errors: Sequence[tuple[str, str]] = ()) -> Report:
    """Return the report that leads to each trace's own, `stems` being their file names; failed traces are listed."""
    failed = f", {len(errors)} failed" if errors else ""
    sections = [Section("traces", "Traces", (_table(analyses, stems),))] if analyses else []
    if errors:
        notes = tuple(Note("trace_failed", "error", _without_folder(path, message)) for path, message in errors)
        sections.append(Section("failed", "Traces that failed", (Remarks(notes),)))
    figures = _figures(analyses)
    if figures:
        sections.append(Section("ledgers", "Ledgers side by side", figures))
    count = len(analyses) + len(errors)
    return Report(
        title="Index of traces",
        headline=f"{count} trace{'s' if count != 1 else ''}{failed}",
        figure=None,
        sections=tuple(sections),
        source=f"{count} trace{'s' if count != 1 else ''} of NVIDIA Nsight Systems",
        banner=BANNER if analyses and all(analysis.reconstructed for analysis in analyses) else None,
    )


def worst_first(analyses: Sequence[Analysis]) -> list[int]:
    """Return the positions of the analyses: those of which nothing can be said, then by the GPU's share, least first.

    Runs without CUDA come last, as nothing of the GPU is wrong with them; equal ones keep their order.
    """
    return sorted(range(len(analyses)), key=lambda i: _place(analyses[i]))


def _place(analysis: Analysis) -> tuple[int, float]:
    every = speakers(analysis)
    if not analysis.ledgers or all(ledger.accounts["cuda.launch"] is None for ledger in analysis.ledgers):
        return 2, 0.0
    if any(one.diagnosis.primary in ("abstain", "failed_calls") for one in every):
        return 0, 0.0
    told = of_gpus(analysis.ledgers)
    on_gpu = sum(ledger.gpu_busy_ns or 0 for ledger in told)
    return 1, on_gpu / max(1, sum(ledger.wall_ns for ledger in told))


def _table(analyses: Sequence[Analysis], stems: Sequence[str]) -> Table:
    columns = (
        Column("trace"),
        Column("wall", "ns", "–"),
        Column("GPU busy", "ratio", "not measured"),
        Column("where the time went"),
    )
    rows = tuple(_row(analysis, stem) for analysis, stem in zip(analyses, stems, strict=True))
    return Table("One row per trace", columns, rows, len(rows))


def _row(analysis: Analysis, stem: str) -> tuple[Cell, ...]:
    reconstructed = "Reconstructed, not recorded. " if analysis.reconstructed else ""
    return (
        Link(file_name(analysis.path), stem),
        analysis.window.wall_ns if analysis.window else None,
        _mean_busy(analysis),
        reconstructed + analysis.headline,
    )


def _without_folder(path: str, message: str) -> str:
    """Return the message about a trace with the file's name only: reports hold no path of this machine."""
    name = file_name(path)
    text = message.removeprefix(path).removeprefix(visible(path)).removeprefix(": ")
    return f"{name}: {text.replace(path, name)}"


def _mean_busy(analysis: Analysis) -> Cell:
    """Return the mean busy ratio over the physical GPUs in use."""
    ratios = analysis.gpus["busy_ratio"].drop_nulls().to_list()
    if not ratios:
        return None
    mean = sum(ratios) / len(ratios)
    lacking = any(ledger.gpu_complete is False for ledger in analysis.ledgers if ledger.gpu is not None)
    return AtLeast(mean) if lacking else mean


def _figures(analyses: Sequence[Analysis]) -> tuple[Figure, ...]:
    bars = tuple(bar(_label(analysis, ledger), ledger) for analysis in analyses for ledger in analysis.ledgers[:MOST])
    if not bars:
        return ()
    absolute, relative = Bars(bars, max(one.total_ns for one in bars)), Bars(bars)
    alt = "; ".join(one.in_words for one in bars)
    return (
        Figure("time", STEM, "Wall time, on one scale", alt, lambda: stacked(absolute), absolute),
        Figure("share", STEM, "Per cent of each one's wall time", alt, lambda: stacked(relative), relative),
    )


def _label(analysis: Analysis, ledger: Ledger) -> str:
    name = for_people(PurePath(analysis.path).stem, 40)
    return name if len(analysis.ledgers) == 1 else f"{name}, {ledger_label(analysis, ledger)}"
