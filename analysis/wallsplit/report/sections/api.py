"""CUDA calls, grouped by class, with how much of their time the GPU's work hid."""

import polars as pl

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import api_summary
from wallsplit.ledger.ledger import Exposure, Ledger
from wallsplit.report.document import AtLeast, AtMost, Block, Cell, Column, Paragraph, Section, Table
from wallsplit.report.sections.summaries import of_window
from wallsplit.words.labels import ledger_label

_CALL_COLUMNS = (
    Column("class and call", brief=True),
    Column("calls", "count", brief=True),
    Column("nsys total", "ns", brief=True),
    Column("of listed", "ratio", ""),
)
_EXPOSURE_COLUMNS = (
    Column("union", "ns", ""),
    Column("hidden", "ns", "not measured", brief=True),
    Column("exposed", "ns", "not measured", brief=True),
)
_STATISTICS_COLUMNS = tuple(Column(title, "ns", "") for title in ("avg", "median", "min", "max"))
_STATISTICS = ("avg_ns", "med_ns", "min_ns", "max_ns")
_EXPLANATION = (
    "nsys total adds up the calls. Union counts each instant once, on the threads that drive the GPU, inside the "
    "window. Hidden is the part of it during which the GPU worked for the ledger's process; exposed is the rest. "
    "Hidden synchronisation is waiting for useful work."
)
_BOOKED_AS = {
    "setup": (
        "as setup if it lasts 1 ms or more and CUDA creates a context in it, or loads the code of a kernel or graph "
        "that is launched for the first time"
    ),
    "graph_build": "as graph_build if it is made while a CUDA graph is captured",
}
"""Classes to which the ledger also books calls of other classes."""


def api(analysis: Analysis, top: int) -> Section | None:
    """Return the classes of CUDA calls, each with its calls; None without calls."""
    frame = analysis.tables.get(api_summary.TABLE.name)
    if frame is None or frame.is_empty():
        return None
    only = analysis.ledgers[0] if len(analysis.ledgers) == 1 else None
    blocks: list[Block] = [_calls(analysis, frame, only, top), Paragraph(_EXPLANATION)]
    blocks += [] if only or not analysis.ledgers else [_exposures(analysis, top)]
    if elsewhere := _booked_elsewhere(analysis, frame):
        blocks.append(Paragraph(elsewhere, essential=True))
    return Section("api", "CUDA calls", tuple(blocks))


def _calls(analysis: Analysis, frame: pl.DataFrame, only: Ledger | None, top: int) -> Table:
    """Return one table: each class, the longest first, then those of its calls that are among the `top` longest."""
    listed = frame.sort("total_ns", descending=True, maintain_order=True).head(top)
    rows: list[tuple[Cell, ...]] = []
    heads = set()
    for name, calls, total, share in _classes(frame, only):
        heads.add(len(rows))
        rows.append((name, calls, total, share, *_exposure_cells(only, name), *[None] * len(_STATISTICS)))
        for call in listed.filter(pl.col("class") == name).iter_rows(named=True):
            cells = (call["name"], call["count"], call["total_ns"], call["share_ratio"])
            rows.append((*cells, *[""] * len(_EXPOSURE_COLUMNS), *(call[s] for s in _STATISTICS)))
    columns = (*_CALL_COLUMNS, *_EXPOSURE_COLUMNS, *_STATISTICS_COLUMNS)
    if only is None:
        skipped = range(len(_CALL_COLUMNS), len(_CALL_COLUMNS) + len(_EXPOSURE_COLUMNS))
        rows = [tuple(cell for i, cell in enumerate(row) if i not in skipped) for row in rows]
        columns = (*_CALL_COLUMNS, *_STATISTICS_COLUMNS)
    caption = of_window(analysis, "CUDA calls by class")
    return Table(caption, columns, tuple(rows), frame.height, frozenset(heads), essential=True)


def _classes(frame: pl.DataFrame, only: Ledger | None) -> list[tuple[str, int | None, int | None, float | None]]:
    """Return name, calls, total and share of each class; a class that only the ledger books has but its name."""
    summed = (
        frame.group_by("class", maintain_order=True)
        .agg(pl.col("count", "total_ns", "share_ratio").sum())
        .sort("total_ns", descending=True, maintain_order=True)
    )
    by_name = frame["class"].to_list()
    booked = [name.removeprefix("cuda.") for name in (only.api_exposure if only else ())]
    return [*summed.rows(), *((name, None, None, None) for name in booked if name not in by_name)]


def _booked_elsewhere(analysis: Analysis, frame: pl.DataFrame) -> str | None:
    """Return why a class has more time in the ledger than by its calls' names; None where none has."""
    more = []
    for name in _BOOKED_AS:
        exposures = (ledger.api_exposure.get(f"cuda.{name}") for ledger in analysis.ledgers)
        booked_ns = max((exposure.union_ns for exposure in exposures if exposure), default=0)
        if booked_ns > frame.filter(pl.col("class") == name)["total_ns"].sum():
            more.append(name)
    if not more:
        return None
    reasons = ", and ".join(_BOOKED_AS[name] for name in more)
    have = "have" if len(more) > 1 else "has"
    return (
        f"Hidden and exposed time stand where the ledger books a call: {reasons}. So {' and '.join(more)} {have} more "
        "of it than by the names of the calls (nsys total), and the classes that those calls have by name have less."
    )


def _exposures(analysis: Analysis, top: int) -> Table:
    pairs = [(ledger, name.removeprefix("cuda.")) for ledger in analysis.ledgers for name in ledger.api_exposure]
    rows = tuple((ledger_label(analysis, x), name, *_exposure_cells(x, name)) for x, name in pairs[:top])
    columns = (Column("ledger"), Column("class"), *_EXPOSURE_COLUMNS)
    return Table("Hidden and exposed time of each class", columns, rows, len(pairs))


def _exposure_cells(ledger: Ledger | None, api_class: str) -> tuple[Cell, Cell, Cell]:
    if ledger is None:
        return ("", "", "")
    exposure = ledger.api_exposure.get(f"cuda.{api_class}", Exposure(0, 0, 0))
    if ledger.device is None:
        return (exposure.union_ns, None, None)
    if ledger.gpu_complete is False:
        return (exposure.union_ns, AtLeast(exposure.hidden_ns), AtMost(exposure.exposed_ns))
    return (exposure.union_ns, exposure.hidden_ns, exposure.exposed_ns)
