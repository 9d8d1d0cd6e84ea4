"""One trace as what can be compared: its mean ledger and its tables per unit, exact."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.breakdowns import (
    Breakdown,
    api_summary,
    graph_replays,
    kernel_summary,
    memory_time_summary,
    nvtx_summary,
)
from wallsplit.comparison.units import (
    AUTO,
    AUTOMATIC,
    KERNEL,
    RUN,
    SAMPLE,
    STEP,
    Recording,
    Units,
    launches,
    samples,
    units,
)
from wallsplit.errors import ComparisonError, LedgerError
from wallsplit.frozen import dataclass
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.run.manifest import RunManifest

Tables = Mapping[str, pl.DataFrame | None]

_OPERATION_NUMBER = r"(op_id|seq) = [0-9]+"
_STEP_NUMBER = r"(?i)((?:^|[^a-z]|profiler)(?:steps?|iter|iteration|batch|epoch)[ _#:=]*)[0-9]+"


@dataclass(frozen=True)
class Kind:
    """Rows that are matched by name across traces."""

    key: str
    """In JSON."""
    title: str
    breakdown: Breakdown
    column: str | None
    """The column of names; None: all rows are of one name."""


GRAPHS = "CUDA graphs recorded as a whole"
KINDS = (
    Kind("kernels", "Kernels", kernel_summary.TABLE, "name"),
    Kind("graph_replays", "Graph replays", graph_replays.TABLE, None),
    Kind("memory", "Copies and sets", memory_time_summary.TABLE, "operation"),
    Kind("api", "CUDA calls", api_summary.TABLE, "name"),
    Kind("nvtx", "NVTX ranges", nvtx_summary.TABLE, "range"),
)


@dataclass(frozen=True)
class Total:
    """Rows of one name, per unit and ledger."""

    count: Fraction = Fraction(0)
    ns: Fraction = Fraction(0)

    def __add__(self, other: "Total") -> "Total":
        return Total(self.count + other.count, self.ns + other.ns)

    def __truediv__(self, divisor: Fraction | int) -> "Total":
        return Total(self.count / divisor, self.ns / divisor)


Totals = dict[str, Total]
"""By name."""


@dataclass(frozen=True)
class Machine:
    """What a trace was recorded on, as far as it is known."""

    gpus: tuple[str, ...] = ()
    cpu: str | None = None


@dataclass(frozen=True, eq=False)
class Repeat:
    """One trace, per unit. Times are exact fractions of ns; None = not measured."""

    path: str
    units: Units
    wall: Fraction
    accounts: dict[str, Fraction | None]
    """All of them, in order: the mean over the ledgers, so that they sum to `wall`."""
    totals: dict[str, Totals]
    """By the keys of KINDS."""
    gpu_complete: bool = True
    """False: what the GPU did is a lower bound."""
    machine: Machine = Machine()


_MEANT = {
    STEP: "step that ranges or launches tell (a saved analysis has none)",
    SAMPLE: "manifest that tells on how many samples it was trained",
}

Measured = dict[str, Repeat]
"""One trace by what it can be compared per."""


def measured(recording: Recording, path: str, per: str) -> Measured:
    """Return a trace measured per unit; for `auto`, per each that it has.

    Raises:
        ComparisonError: the trace has no such unit.
        LedgerError: a ledger does not add up.
    """
    by_unit: Measured = {}
    for unit in AUTOMATIC if per == AUTO else (per,):
        its = units(recording, unit)
        if its is not None:
            ledgers = [ledger for activity in recording.compared for ledger in book(activity, (its.window,))]
            tables = {kind.breakdown.name: kind.breakdown.of(recording.model, its.window) for kind in KINDS}
            machine = _machine(recording.model.gpus, recording.manifest)
            by_unit[unit] = _repeat(path, its, ledgers, tables, machine)
    return _not_empty(by_unit, path, per)


def measured_before(analysis: Analysis, per: str) -> Measured:
    """Return an analysis that was saved, measured per unit: it has no ranges to cut at, so per run, sample and kernel.

    Its tables are of the window that was asked for then; of a default window, of the whole trace.

    Raises:
        ComparisonError: it has no such unit, no ledger, or one for each range of its window.
        LedgerError: a ledger does not add up.
    """
    ledgers = [x for x in analysis.ledgers if x.device is not None] or list(analysis.ledgers)
    if not ledgers or analysis.window is None or any(ledger.window for ledger in ledgers):
        raise ComparisonError(f"{analysis.path}: holds no ledger of one window; analyse the trace in another --window")
    by_unit: Measured = {}
    for unit in AUTOMATIC if per == AUTO else (per,):
        its = _units_before(analysis, unit, len(ledgers), analysis.window)
        if its is not None:
            machine = _machine(analysis.gpus, analysis.run)
            by_unit[unit] = _repeat(analysis.path, its, ledgers, analysis.tables, machine)
    return _not_empty(by_unit, analysis.path, per)


def _not_empty(by_unit: Measured, path: str, per: str) -> Measured:
    if not by_unit:
        raise ComparisonError(
            f"{path}: has no {_MEANT.get(per, f'{per} that matches')}, so it cannot be compared per that"
        )
    return by_unit


def _units_before(analysis: Analysis, per: str, ledgers: int, window: Window) -> Units | None:
    if per == RUN:
        return Units(Fraction(1), window)
    if per == SAMPLE:
        count = samples(analysis.run, None)
        return Units(Fraction(count), window) if count else None
    kernels = analysis.tables.get(kernel_summary.TABLE.name)
    if kernels is None or not per.startswith(KERNEL):
        return None
    return launches(kernels["name"], kernels["count"], per.removeprefix(KERNEL), ledgers, window)


def _repeat(path: str, its: Units, ledgers: Sequence[Ledger], tables: Tables, machine: Machine) -> Repeat:
    accounts = {account: _mean(ledgers, account, its.count) for account in ACCOUNTS}
    wall = Fraction(its.window.wall_ns) / its.count
    if sum(ns or 0 for ns in accounts.values()) != wall:
        raise LedgerError(f"{path}: its mean ledger misses the wall time; a defect of wallsplit, please report it")
    return Repeat(
        path=path,
        units=its,
        wall=wall,
        accounts=accounts,
        totals={kind.key: _totals(kind, tables, its.count * len(ledgers)) for kind in KINDS},
        gpu_complete=all(ledger.gpu_complete is not False for ledger in ledgers),
        machine=machine,
    )


def _machine(gpus: pl.DataFrame, manifest: RunManifest | None) -> Machine:
    names = tuple(sorted(gpus["name"].drop_nulls().unique()))
    return Machine(names, manifest.cpu.model if manifest and manifest.cpu else None)


def _mean(ledgers: Sequence[Ledger], account: str, count: Fraction) -> Fraction | None:
    times = [ledger.accounts[account] for ledger in ledgers]
    if all(time is None for time in times):
        return None
    return Fraction(sum(time or 0 for time in times), len(times)) / count


def _totals(kind: Kind, tables: Tables, divisor: Fraction) -> Totals:
    frame = tables.get(kind.breakdown.name)
    if frame is None or frame.is_empty():
        return {}
    name = pl.lit(GRAPHS) if kind.column is None else _unnumbered(pl.col(kind.column), is_range=kind.key == "nvtx")
    sums = frame.group_by(name.alias("name")).agg(pl.col("count").sum(), pl.col("total_ns").sum())
    return dict(_divided(sums, divisor))


def _divided(sums: pl.DataFrame, divisor: Fraction) -> Iterator[tuple[str, Total]]:
    for name, count, ns in sums.iter_rows():
        yield name, Total(Fraction(count), Fraction(ns)) / divisor


def _unnumbered(name: pl.Expr, *, is_range: bool) -> pl.Expr:
    """Return names of ranges with `*` for what only counts them, so that they match: `Step 12`, `seq = 5`."""
    if not is_range:
        return name
    return name.str.replace_all(_OPERATION_NUMBER, "${1} = *").str.replace_all(_STEP_NUMBER, "${1}*")
