"""Does a ledger booked slice by slice come out the same, in the same memory however long the trace?

python -m bench.slices TRACE.sqlite [ROWS]: booked so many rows of a table at a time, or all at once
"""

import json
import sys
from pathlib import Path
from typing import Any

from bench.measure import part, peak_mb, run_python
from bench.options import Options
from bench.table import Table

SIZES = (100_000, 1_000_000, 10_000_000)
CHUNKS = (100_000, 10_000, 1_000_000)
"""Rows of a table that are read at a time; the longest trace is read in all of these ways."""
MOST_OFF = 1e-12
"""Of a standard deviation, which is summed in another order."""


def run(options: Options) -> Table:
    """Book the sample, repeated, both ways; raise AssertionError where the two do not agree."""
    lines: list[tuple[str, ...]] = []
    sizes = [size for size in SIZES if size <= options.most_rows]
    for size in sizes:
        trace = options.folder / "slices.sqlite"
        rows = int(run_python("-m", "bench.tile", options.sample, trace, str(size)))
        whole = json.loads(run_python("-m", "bench.slices", trace))
        lines.append(_line(rows, "all at once", whole))
        for chunk_rows in CHUNKS if size == sizes[-1] else CHUNKS[:1]:
            slices = json.loads(run_python("-m", "bench.slices", trace, str(chunk_rows)))
            held, error = f"{slices['held']:,}", f"{median_error(slices, whole):.2%}"
            lines.append(_line(rows, f"{chunk_rows:,} at a time", slices, held, error))
        trace.unlink()
    header = ("rows", "read", "wall s", "CPU s", "peak MB", "CPU µs a row", "rows held", "medians off")
    return Table("A ledger by slices", header, tuple(lines))


def _line(rows: int, how: str, cost: dict[str, Any], held: str = "", error: str = "") -> tuple[str, ...]:
    wall, cpu, peak = f"{cost['wall_s']:.2f}", f"{cost['cpu_s']:.2f}", f"{cost['peak_mb']:,.0f}"
    return f"{rows:,}", how, wall, cpu, peak, f"{cost['cpu_s'] / rows * 1e6:.2f}", held, error


def median_error(slices: dict[str, Any], whole: dict[str, Any]) -> float:
    """Return by which share of itself a median is off at most, everything else being the same."""
    assert slices["masks"] == whole["masks"]
    assert slices["statistics"].keys() == whole["statistics"].keys()
    error = 0.0
    for name, (*exact, deviation, median) in whole["statistics"].items():
        *merged, of_slices, middle = slices["statistics"][name]
        assert merged == exact
        assert abs(of_slices - deviation) <= MOST_OFF * deviation
        error = max(error, abs(middle - median) / max(median, 1))
    return error


def by_slices(path: Path, rows: int) -> dict[str, Any]:
    """Return masks and statistics of the export at `path`, booked `rows` rows of a table at a time."""
    from bench.chunks import Chunks
    from bench.streamed import book, survey

    chunks = Chunks(path, rows)
    found = survey(chunks.each())
    result = book(found, chunks.gpus)
    statistics = {
        str(name): (s.count, s.total, s.least, s.greatest, s.deviation, s.median)
        for name, s in found.statistics.items()
        if name > 0
    }
    return {"masks": _printed(result.masks), "statistics": statistics, "held": result.most_rows}


def at_once(path: Path) -> dict[str, Any]:
    """Return the masks of the export at `path`, of all its rows at once, as the analysis reads them."""
    from bench.streamed import of_layers
    from wallsplit.accounts import GPU_ACCOUNTS, LAYERS
    from wallsplit.intervals import EMPTY, union
    from wallsplit.pipeline import examine
    from wallsplit.schema import API_CLASSES

    examined = examine(path)
    span = examined.model.cuda_span
    masks = {}
    for activity in examined.activities:
        if activity.rows is None or activity.layers is None or span is None:
            continue
        calls = activity.rows.calls.filter("is_driving")
        by_name = {f"cuda.{name}": calls.filter(api_class=name) for name in API_CLASSES}
        own = {name: union(frame["start"].to_numpy(), frame["end"].to_numpy()) for name, frame in by_name.items()}
        as_they_are = (*GPU_ACCOUNTS, "gpu.other", "cuda.profiler")
        layers = [activity.layers[name] if name in as_they_are else own.get(name, EMPTY) for name in LAYERS]
        masks[activity.pid, activity.device] = of_layers(layers, *span)
    return {"masks": _printed(masks)}


def statistics(path: Path) -> dict[str, Any]:
    """Return count, total, least, greatest, deviation and median of the lengths of kernels and calls, by name's id."""
    import polars as pl

    from wallsplit.trace import Trace

    trace = Trace.open(path)
    length = pl.col("end") - pl.col("start")
    figures = (length.len(), length.sum(), length.min(), length.max(), length.std().fill_null(0.0), length.median())
    result: dict[str, Any] = {}
    for table, name in (("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"), ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId")):
        rows = trace.scan(table, ["start", "end", name]).filter(length >= 0).group_by(name)
        found = rows.agg(*(figure.alias(str(place)) for place, figure in enumerate(figures))).collect()
        result |= {str(key): its for key, *its in found.iter_rows()}
    return result


def _printed(masks: dict[Any, Any]) -> dict[str, dict[str, int]]:
    """Return the ns of each set of layers, by ledger, as JSON has them."""
    return {
        f"{pid} {device}": {str(kind): ns for kind, ns in sorted(its.items())} for (pid, device), its in masks.items()
    }


def measure(path: Path, rows: int | None) -> None:
    """Print what was booked and what it cost, peak memory being the whole process's."""
    found: dict[str, Any] = {}
    cost = part(lambda: found.update(at_once(path) if rows is None else by_slices(path, rows)))
    spent = {"wall_s": cost.wall_s, "cpu_s": cost.cpu_s, "peak_mb": peak_mb()}
    print(json.dumps({**({"statistics": statistics(path)} if rows is None else {}), **found, **spent}))


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
