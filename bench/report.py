"""How does our whole report compare with `nsys stats` for the same tables?"""

import shutil
from functools import partial
from pathlib import Path

from bench.measure import Cost, command, in_turns, nsys_here, wallsplit
from bench.options import Options
from bench.table import Table, compared

SUMMARIES = ("cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "nvtx_sum")
SLOW = ("cuda_kern_exec_sum", "nvtx_gpu_proj_sum")


def run(options: Options) -> Table:
    whole = wallsplit("analyze", options.trace, "--json")
    ours = {
        "wallsplit: ledger, causes, all tables": whole,
        "the same without the compiled core": ["env", "WALLSPLIT_NATIVE=0", *whole],
        "with it, and the HTML report": wallsplit("analyze", options.trace, "--report-dir", options.folder / "reports"),
    }
    contenders = {name: partial(command, argv) for name, argv in ours.items()}
    nsys, copy = nsys_here(), options.folder / "for-nsys.sqlite"  # nsys writes indexes into the file it reads
    if nsys is not None:
        shutil.copyfile(options.trace, copy)
        contenders[f"nsys stats: {SUMMARIES[0]}"] = partial(_stats, nsys, copy, SUMMARIES[:1])
        contenders["nsys stats: five summaries"] = partial(_stats, nsys, copy, SUMMARIES)
    costs = in_turns(options.repeat, contenders)
    if nsys is not None and options.all_of_nsys:
        costs |= {f"nsys stats: {name}": _stats(nsys, copy, (name,)) for name in SLOW}  # once
    copy.unlink(missing_ok=True)
    return compared(f"Whole report, {options.trace.stat().st_size / 1e6:,.0f} MB", costs, "command")


def _stats(nsys: Path, trace: Path, reports: tuple[str, ...]) -> Cost:
    return command([nsys, "stats", "--quiet", "--format", "csv", "--report", ",".join(reports), trace])
