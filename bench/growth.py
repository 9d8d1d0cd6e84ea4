"""How do time and memory grow with the trace, from 10⁴ to 10⁷ rows?"""

import subprocess
import sys
from functools import partial
from itertools import pairwise
from math import log2
from pathlib import Path

from bench.measure import ROOT, Cost, command, in_turns, wallsplit
from bench.options import Options
from bench.table import Table

SIZES = tuple(round(10 ** (exponent / 2)) for exponent in range(8, 15))
FIGURE = ROOT / "docs" / "growth.svg"


def run(options: Options) -> Table:
    costs: dict[int, Cost] = {}
    for size in (size for size in SIZES if size <= options.most_rows):
        trace = options.folder / "tiled.sqlite"
        argv: list[str | Path] = [sys.executable, "-m", "bench.tile", options.sample, trace, str(size)]
        rows = int(subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        (costs[rows],) = in_turns(
            options.repeat, {"": partial(command, wallsplit("analyze", trace, "--json"))}
        ).values()
        trace.unlink()
    if options.for_docs:
        draw(costs, FIGURE)
    smallest = min(costs)
    lines = [_row(smallest, costs[smallest], "", "")]
    for before, after in pairwise(costs):
        doublings = log2(after / before)
        time, memory = (
            f"{(getattr(costs[after], name) / getattr(costs[before], name)) ** (1 / doublings):.2f} ×"
            for name in ("wall_s", "peak_mb")
        )
        lines.append(_row(after, costs[after], time, memory))
    header = ("rows", "wall s", "CPU s", "peak MB", "time per doubling", "memory per doubling")
    return Table("Growth: analyze --json of the sample, repeated", header, tuple(lines))


def _row(rows: int, cost: Cost, time: str, memory: str) -> tuple[str, ...]:
    return f"{rows:,}", f"{cost.wall_s:.2f}", f"{cost.cpu_s:.2f}", f"{cost.peak_mb:,.0f}", time, memory


def draw(costs: dict[int, Cost], path: Path) -> None:
    """Draw time and memory over rows on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    time = figure.subplots()
    memory = time.twinx()
    time.loglog(list(costs), [cost.wall_s for cost in costs.values()], "o-", color="tab:blue")
    memory.loglog(list(costs), [cost.peak_mb for cost in costs.values()], "s--", color="tab:orange")
    time.set(xlabel="rows", ylabel="● wall time (s)")
    memory.set(ylabel="■ peak memory (MB)")
    figure.savefig(path, metadata={"Date": None})
