"""How do time and memory grow with the trace, from 10⁴ to 10⁷ rows?"""

from functools import partial
from itertools import pairwise
from math import log2
from pathlib import Path

from bench.measure import ROOT, command, run_python, wallsplit
from bench.options import Options
from bench.rounds import Readings, in_turns
from bench.table import PEAK_MB, WALL_S, Table, medians

SIZES = tuple(round(10 ** (exponent / 2)) for exponent in range(8, 15))
FIGURE = ROOT / "docs" / "growth.svg"


def run(options: Options) -> Table:
    readings: dict[int, Readings] = {}
    for size in (size for size in SIZES if size <= options.most_rows):
        trace = options.folder / "tiled.sqlite"
        rows = int(run_python("-m", "bench.tile", options.sample, trace, str(size)))
        analyse = {"analyze": partial(command, wallsplit("analyze", trace, "--json"))}
        (readings[rows],) = in_turns(options.rounds, analyse).values()
        trace.unlink()
    if options.for_docs:
        draw(readings, FIGURE)
    smallest = min(readings)
    lines: list[tuple[str, ...]] = [(f"{smallest:,}", *medians(readings[smallest]), "", "")]
    for before, after in pairwise(readings):
        doublings = log2(after / before)
        times = (readings[after].median(quantity) / readings[before].median(quantity) for quantity in (WALL_S, PEAK_MB))
        lines.append(
            (f"{after:,}", *medians(readings[after]), *(f"{factor ** (1 / doublings):.2f} ×" for factor in times))
        )
    header = ("rows", "wall s", "CPU s", "peak MB", "time per doubling", "memory per doubling")
    return Table("Growth: analyze --json of the sample, repeated", header, tuple(lines))


def draw(readings: dict[int, Readings], path: Path) -> None:
    """Draw time and memory over rows on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    time = figure.subplots()
    memory = time.twinx()
    time.loglog(list(readings), [each.median(WALL_S) for each in readings.values()], "o-", color="tab:blue")
    memory.loglog(list(readings), [each.median(PEAK_MB) for each in readings.values()], "s--", color="tab:orange")
    time.set(xlabel="rows", ylabel="● wall time (s)")
    memory.set(ylabel="■ peak memory (MB)")
    figure.savefig(path, metadata={"Date": None})
