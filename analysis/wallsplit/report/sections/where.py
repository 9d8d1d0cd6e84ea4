"""What ran where: GPUs, the profiler, the window."""

from wallsplit.analysis import Analysis
from wallsplit.report.document import AtLeast, Cell, Column, Fact, Facts, Section, Table
from wallsplit.text import file_name
from wallsplit.words.labels import ledger_label

PIDS_SHOWN = 4

_WINDOWS = {
    "cuda": "from the first to the last CUDA call or GPU operation",
    "nvtx": "from the first to the last NVTX range of the program",
    "capture": "the whole capture",
}


def where(analysis: Analysis, top: int) -> Section | None:
    """Return the facts about the recording, and one row per ledger on how busy its GPU was."""
    facts = [Fact("Trace", file_name(analysis.path)), Fact("Size", analysis.size_bytes, "bytes")]
    facts += [Fact("Profiler", f"Nsight Systems {analysis.nsys_version}" if analysis.nsys_version else None)]
    if analysis.window:
        meaning = _WINDOWS.get(analysis.window.name, "as asked for")
        facts += [
            Fact("Wall time", analysis.window.wall_ns, "ns"),
            Fact("Window", f"{analysis.window.name}: {meaning}"),
        ]
    blocks = (Facts(tuple(facts)), _gpus(analysis, top), _ledgers(analysis, top))
    return Section("where", "What ran where", tuple(block for block in blocks if block))


def _gpus(analysis: Analysis, top: int) -> Table | None:
    if analysis.gpus.is_empty():
        return None
    least = {ledger.gpu for ledger in analysis.ledgers if ledger.gpu_complete is False}
    columns = (
        Column("GPU", "count"),
        Column("busy", "ratio", "not measured"),
        Column("kernels active", "ratio", "not measured"),
        Column("processes"),
        Column("name", null="not recorded"),
        Column("SMs", "count"),
        Column("clock (MHz)", "number"),
        Column("memory", "bytes"),
        Column("bandwidth per s", "bytes"),
        Column("compute capability"),
    )
    rows = tuple(
        (
            gpu["gpu"],
            *(_bounded(gpu[ratio], least=gpu["gpu"] in least) for ratio in ("busy_ratio", "kernel_active_ratio")),
            _processes(gpu["processes"]),
            gpu["name"],
            gpu["sm_count"],
            None if gpu["clock_hz"] is None else gpu["clock_hz"] / 1e6,
            gpu["memory_bytes"],
            gpu["memory_bandwidth_bytes_per_s"],
            gpu["compute_capability"],
        )
        for gpu in analysis.gpus.head(top).iter_rows(named=True)
    )
    return Table("GPUs in use", columns, rows, analysis.gpus.height)


def _bounded(ratio: float | None, *, least: bool) -> Cell:
    return AtLeast(ratio) if least and ratio is not None else ratio


def _processes(pids: list[int]) -> str:
    shown = ", ".join(map(str, pids[:PIDS_SHOWN]))
    return shown if len(pids) <= PIDS_SHOWN else f"{shown} and {len(pids) - PIDS_SHOWN} more"


def _ledgers(analysis: Analysis, top: int) -> Table | None:
    names = dict(analysis.processes.select("pid", "name").iter_rows())
    columns = (
        Column("ledger"),
        Column("program", null="not recorded"),
        Column("wall", "ns"),
        Column("busy with it", "ratio", "not measured"),
        Column("its kernels active", "ratio", "not measured"),
        Column("launches seen on the GPU", "ratio", "no launches"),
        Column("GPU work with its API call", "ratio", "none"),
    )
    rows = []
    for ledger in analysis.ledgers[:top]:
        ratios = (ledger.busy_ratio, ledger.kernel_active_ratio)
        bounded = [_bounded(ratio, least=ledger.gpu_complete is False) for ratio in ratios]
        coverage = (ledger.launch_coverage, ledger.api_coverage)
        rows.append((ledger_label(analysis, ledger), names.get(ledger.pid), ledger.wall_ns, *bounded, *coverage))
    return Table("Processes and their GPUs", columns, tuple(rows), len(analysis.ledgers)) if rows else None
