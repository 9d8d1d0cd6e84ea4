"""How much of the GPU is used while it is used: nvidia-smi's kind of figure beside SM coverage, fill and occupancy."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import AtLeast, Block, Cell, Column, Paragraph, Section
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.units import count
from wallsplit.why.gpu_metrics import GpuMetricMeans
from wallsplit.why.sm import Sm

_COLUMNS = (Column("figure"), Column("of the window", "fine_ratio", "not known"), Column("what it says"))
_COUNTERS = (
    ("gr_active", "some engine at work", "What nvidia-smi shows, measured."),
    ("sm_active", "SMs active", "SMs with at least one warp: what SM coverage models."),
    ("sm_issue", "SMs issuing", "Cycles in which an SM issues an instruction."),
    ("tensor_active", "tensor cores active", "Cycles in which tensor cores work."),
    ("dram_read", "memory bandwidth, reads", "Share of what the memory can do."),
    ("dram_write", "memory bandwidth, writes", "Share of what the memory can do."),
)


def gpu_use(analysis: Analysis, _top: int) -> Section | None:
    """Return how kernels fill the GPU of each ledger; None without a device."""
    every = [subject for subject in subjects(analysis) if subject.why.sm]
    blocks = [block for subject in shown(every) if subject.why.sm for block in _of(subject, subject.why.sm)]
    return Section("gpu_use", "How much of the GPU is used", (*blocks, *left_out(every))) if blocks else None


def _of(subject: Subject, use: Sm) -> list[Block]:
    blocks: list[Block] = [facts(f"Use of {subject.label}, by the kernels' grids", _COLUMNS, _figures(use))]
    if use.reason:
        blocks.append(Paragraph(f"SM coverage is not known: {use.reason}."))
    if use.limits:
        listed = ", ".join(f"{what} {count(kernels)}" for what, kernels in use.limits.items())
        blocks.append(Paragraph(f"What limits the blocks on an SM, in kernels: {listed}."))
    if use.impossible_count:
        said = f"Of {count(use.impossible_count)} kernels no block fits on an SM by these figures; one was assumed."
        blocks.append(Paragraph(said))
    metrics = subject.why.gpu_metrics
    return [*blocks, *(_counters(subject, metrics) if metrics else [])]


def _figures(use: Sm) -> list[tuple[Cell, ...]]:
    sms = f"the {use.sm_count} multiprocessors (SMs)" if use.sm_count else "the multiprocessors (SMs)"
    coverage: Cell = use.sm_coverage
    if use.sm_coverage is not None and use.sm_coverage_upper is not None:
        coverage = AtLeast(use.sm_coverage)  # what runs inside graphs is not known
    rows: list[tuple[Cell, ...]] = [
        ("kernels active", use.kernel_active_ratio, "Any kernel or graph runs: nvidia-smi's kind of figure."),
        ("SM coverage", coverage, f"Share of {sms} that have work, averaged over the window."),
        ("SM coverage while active", use.sm_coverage_while_active, "The same, averaged over the time with a kernel."),
        ("slot fill", use.slot_fill, "Share of the places for blocks that are taken."),
        ("warp occupancy", use.warp_occupancy, "Share of the warps that could be resident and are."),
    ]
    if use.sm_coverage_upper is not None:
        said = "SM coverage if the graphs, whose inside was not recorded, covered every SM."
        rows.insert(2, ("SM coverage, at most", use.sm_coverage_upper, said))
    if use.theoretical_occupancy_mean is None:
        return rows
    return [
        *rows,
        (
            "theoretical occupancy",
            use.theoretical_occupancy_mean,
            "Of an SM full of the kernel's blocks; of kernel time.",
        ),
        ("in small grids", use.time_in_small_grids_ratio, "Of kernel time: grids of fewer blocks than there are SMs."),
        ("in tails", use.time_in_tail_ratio, "Of kernel time: lost while the last blocks of large grids end."),
    ]


def _counters(subject: Subject, metrics: GpuMetricMeans) -> list[Block]:
    rows = [(title, getattr(metrics, name), said) for name, title, said in _COUNTERS]
    scope = subject.why.diagnosis.scope
    where = "the steady steps" if scope and scope.name == "steady steps" else "first to last GPU operation"
    columns = (Column("counter"), Column("mean", "fine_ratio", "not sampled"), Column("what it says"))
    return [
        facts(f"Counters of {subject.label}, {where}", columns, rows),
        Paragraph(
            f"Measured by the GPU, {count(metrics.sample_count)} samples. nsys records whole per cents, and 1 for "
            "anything above none: a mean of one per cent may stand for far less."
        ),
    ]
