"""Arithmetic against overhead: wall time, GPU work measured, arithmetic modelled, and what is left of the wall."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.arithmetic.work import LedgerArithmetic, Work
from wallsplit.figures.arithmetic import NAMES
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.document import AtLeast, Block, Cell, Column, Paragraph, Section, Table
from wallsplit.run.nvml import NvmlSummary
from wallsplit.words.labels import ledger_label

MOST = 8
"""Ledgers shown: more say less."""

_MEASURED = "GPU work, measured"
_COLUMNS = (
    Column("of one", brief=True),
    Column("count", "count"),
    Column("wall", "ns", brief=True),
    Column(_MEASURED, "ns", "not measured", brief=True),
    Column("arithmetic, modelled", "ns", "not known", brief=True),
    Column("overhead", null="not known"),
    Column("FLOPs", "flops", "not known"),
    Column("FLOP utilisation", "fine_ratio", "not known"),
)


def arithmetic(analysis: Analysis, _top: int) -> Section | None:
    """Return wall, measured and modelled arithmetic of each ledger; None where nobody states any FLOPs."""
    if analysis.arithmetic is None:
        return None
    blocks: list[Block] = []
    every = list(zip(analysis.ledgers, analysis.arithmetic, strict=True))
    # A process that only starts others has no FLOPs of its own: it is shown where none has any.
    pairs = [pair for pair in every if pair[1].works[0].flops is not None] or every
    for ledger, arithmetic in pairs[:MOST]:
        blocks += [
            _table(ledger, arithmetic, ledger_label(analysis, ledger)),
            Paragraph(in_words(ledger, arithmetic), essential=True),
            Paragraph(_sources(ledger, arithmetic), essential=True),
        ]
    if len(pairs) > MOST:
        left_out = f"The first {MOST} of {len(pairs)} ledgers; the JSON output has all."
        blocks.append(Paragraph(left_out, essential=True))
    if analysis.nvml and (said := nvidia_smi(analysis.nvml, analysis)):
        blocks.append(Paragraph(said, essential=True))
    return Section("arithmetic", "Arithmetic against overhead", tuple(blocks))


def in_words(ledger: Ledger, arithmetic: LedgerArithmetic) -> str:
    """Return the window's overhead in short sentences that say which figure is of which kind."""
    work = arithmetic.works[0]
    parts = []
    if work.modelled_ns is not None and work.flops is not None and arithmetic.peak is not None:
        parts.append(
            f"its arithmetic alone would take {units.ns(work.modelled_ns)} (modelled: {units.flops(work.flops)} at "
            f"{units.flops(arithmetic.peak.flops_per_s)}/s)"
        )
    if work.measured_at_most_ns is not None:
        whole = "" if work.measured_is_whole else "≥ "
        parts.append(f"the GPU worked for {whole}{units.ns(work.measured_at_most_ns)} (measured)")
    if not parts:
        return f"Arithmetic is not known, nor how much is overhead.{_utilisation(ledger, work)}"
    said = f"The run took {units.ns(work.wall_ns)}; {'; '.join(parts)}"
    return f"{said}. So {_overhead_in_words(work)}.{_utilisation(ledger, work)}"


def nvidia_smi(nvml: NvmlSummary, analysis: Analysis) -> str | None:
    """Return what nvidia-smi would have said beside what the trace says; None without a sample in the window."""
    sentences = []
    if nvml.gpu_ratio is not None:
        active = analysis.gpus["kernel_active_ratio"].drop_nulls().to_list()
        least = "≥ " if any(x.gpu_complete is False for x in analysis.ledgers if x.gpu is not None) else ""
        gpus = f" of {nvml.device_count} GPUs" if nvml.device_count > 1 else ""
        trace = f"; kernel_active_ratio {least}{units.ratio(sum(active) / len(active))}" if active else ""
        samples = f"mean of {units.count(nvml.sample_count)} sample{'s' if nvml.sample_count != 1 else ''}{gpus}"
        sentences.append(f"nvidia-smi would have said {units.ratio(nvml.gpu_ratio)} ({samples}){trace}.")
    if nvml.epoch_energy_joules is not None:
        sentences.append(f"Energy per epoch: {nvml.epoch_energy_joules:,.1f} J (mean of {nvml.epoch_count}).")
    elif nvml.energy_joules is not None:
        sentences.append(f"Energy in the window: {nvml.energy_joules:,.1f} J.")
    return " ".join(sentences) or None


def _table(ledger: Ledger, arithmetic: LedgerArithmetic, label: str) -> Table:
    """Return a row per window, epoch and step; on a CPU, where no kernel can be measured, without that column."""
    kept = [i for i, column in enumerate(_COLUMNS) if column.title != _MEASURED or _has_cuda(ledger)]
    rows = tuple(tuple(_row(work)[i] for i in kept) for work in arithmetic.works)
    return Table(
        f"Wall time and arithmetic of {label}", tuple(_COLUMNS[i] for i in kept), rows, len(rows), essential=True
    )


def _has_cuda(ledger: Ledger) -> bool:
    return ledger.accounts["cuda.launch"] is not None


def _row(work: Work) -> tuple[Cell, ...]:
    measured: Cell = work.measured_at_most_ns
    if work.measured_at_most_ns is not None and not work.measured_is_whole:
        measured = AtLeast(work.measured_at_most_ns)
    figures = (measured, work.modelled_ns, _interval(work), work.flops, work.flop_utilisation)
    return (NAMES[work.per], work.count, work.wall_ns, *figures)


def _interval(work: Work) -> str | None:
    least, most = work.overhead_at_least_ns, work.overhead_at_most_ns
    if most is None:
        return None if least is None else f"≥ {units.ns(least)}"
    return f"≤ {units.ns(most)}" if least is None else f"{units.ns(least)} – {units.ns(most)}"


def _overhead_in_words(work: Work) -> str:
    interval = _interval(work)
    if interval is None:
        return "how much of it is overhead is not known"
    bounds = [ns for ns in (work.overhead_at_least_ns, work.overhead_at_most_ns) if ns is not None]
    ratios = " – ".join(units.ratio(ns / work.wall_ns) for ns in bounds if work.wall_ns)
    return f"overhead is {interval} ({interval[:2] if len(bounds) == 1 else ''}{ratios} of wall)"


def _utilisation(ledger: Ledger, work: Work) -> str:
    parts = []
    if work.flop_utilisation is not None:
        parts.append(f"FLOP utilisation {units.fine_ratio(work.flop_utilisation)} of peak over the wall time")
    if ledger.kernel_active_ratio is not None:
        alike = "of this process" if ledger.accounts["gpu.other"] else "the analogue of what nvidia-smi shows"
        parts.append(f"kernels active {units.ratio(ledger.kernel_active_ratio)} of it ({alike})")
    if ledger.busy_ratio is not None:
        parts.append(f"GPU busy {units.ratio(ledger.busy_ratio)}")
    return f" {', '.join(parts)}." if parts else ""


def _sources(ledger: Ledger, arithmetic: LedgerArithmetic) -> str:
    peak = (
        f"{units.flops(arithmetic.peak.flops_per_s)}/s = {arithmetic.peak.source}"
        if arithmetic.peak
        else f"not known: {arithmetic.no_peak}"
    )
    graphs, kernels = ledger.accounts["gpu.graph"], ledger.accounts["gpu.kernel"]
    opaque = f" Of the GPU work, {units.ns(kernels or 0)} are kernels, the rest are graphs recorded as a whole."
    return f"FLOPs: {arithmetic.counted}. Peak: {peak}.{opaque if graphs else ''}"
