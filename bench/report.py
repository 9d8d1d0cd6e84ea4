"""How does our whole report compare with `nsys stats` for the same tables?"""

import shutil
import subprocess
from functools import partial
from pathlib import Path

from bench.measure import Cost, command, in_turns, wallsplit
from bench.options import Options
from bench.table import Table, compared

SUMMARIES = ("cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "nvtx_sum")
SLOW = ("cuda_kern_exec_sum", "nvtx_gpu_proj_sum")


def run(options: Options) -> Table:
    ours = {
        "wallsplit: ledger and all tables": wallsplit("analyze", options.trace, "--json"),
        "the same and the HTML report": wallsplit("analyze", options.trace, "--report-dir", options.folder / "reports"),
    }
    costs = in_turns(options.repeat, {name: partial(command, argv) for name, argv in ours.items()})
    nsys = _nsys()
    if nsys is not None:
        copy = options.folder / "for-nsys.sqlite"  # nsys writes indexes into the file it reads
        shutil.copyfile(options.trace, copy)
        first = partial(_stats, nsys, copy, SUMMARIES[:1])
        several = partial(_stats, nsys, copy, SUMMARIES)
        costs |= in_turns(options.repeat, {f"nsys stats: {SUMMARIES[0]}": first, "nsys stats: five summaries": several})
        if options.all_of_nsys:
            costs |= {f"nsys stats: {name}": _stats(nsys, copy, (name,)) for name in SLOW}  # once
        copy.unlink()
    return compared(f"Whole report, {options.trace.stat().st_size / 1e6:,.0f} MB", costs, "command")


def _stats(nsys: Path, trace: Path, reports: tuple[str, ...]) -> Cost:
    return command([nsys, "stats", "--quiet", "--format", "csv", "--report", ",".join(reports), trace])


def _nsys() -> Path | None:
    from wallsplit.errors import WallsplitError
    from wallsplit_scripts.nsys import locate

    try:
        return locate()
    except (WallsplitError, subprocess.SubprocessError):
        return None
