"""What one epoch consists of, from the traces of profiled runs: its phases by NVTX, and its ledger where a GPU ran."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit.text import file_name
from wallsplit.words.headline import of_gpus, shares
from wallsplit_study import published

EPOCH = "epoch"
IN_A_STEP = ("data", "forward", "metrics", "backward", "update")
"""Marks inside a training step, in the order of a step (docs/adding-a-workload.md)."""

_WHERE = (
    "The last epoch of each profiled run, under nsys. Phases are what the workload marks; where a framework compiles "
    "them into one function, only the step can be told. The rest of the step and of the epoch is time between marks: "
    "Python, the framework, callbacks. JAX and CuPy return before they have computed, so that as the program runs a "
    "phase may hold the wait for the one before: data, of jax-cpu, for the last step. In the second pass every phase "
    "ends with a wait of its own: it shows what each phase is for, and not how long an epoch takes."
)


def last_epoch(trace: Path) -> Analysis:
    """Return the analysis of the last `epoch` range of a trace: the first one holds compilation.

    Raises:
        TraceError: the file is no complete export.
        WindowError: no range of the trace is named `epoch`.
    """
    every = analyze(trace, f"nvtx:{EPOCH}")
    last = every.ledgers[-1].window or every.window if every.ledgers else every.window
    assert last is not None  # a window was asked for
    return analyze(trace, f"{last.start_ns}ns:{last.end_ns}ns")


def breakdown(epochs: Sequence[Analysis]) -> Section | None:
    """Return what the epochs consist of, a row each; None without any."""
    if not epochs:
        return None
    columns = (
        Column("run"),
        Column("pass"),
        Column("epoch", "ns"),
        *(Column(name, "ratio") for name in IN_A_STEP),
        Column("rest of the steps", "ratio"),
        Column("validation", "ratio"),
        Column("rest of the epoch", "ratio"),
    )
    rows = tuple(_phases(epoch) for epoch in epochs)
    phases = Table("Phases of an epoch, of its wall time", columns, rows, len(rows))
    on_gpu = [epoch for epoch in epochs if any(ledger.device is not None for ledger in epoch.ledgers)]
    return Section("breakdown", "The epoch, broken down", (Paragraph(_WHERE), phases, _accounts(on_gpu)))


def frame(epochs: Sequence[Analysis]) -> pl.DataFrame:
    """Return what the epochs consist of, a row each: wall time in ns, phases as ratios of it, null = not marked."""
    rest = ("rest_of_the_steps", "validation", "rest_of_the_epoch")
    ratios = {f"{name}_ratio": pl.Float64 for name in (*IN_A_STEP, *rest)}
    schema = {"run": pl.String, "pass": pl.String, "epoch_ns": pl.Int64, **ratios}
    return pl.DataFrame([_phases(epoch) for epoch in epochs], schema=schema, orient="row")


def _phases(epoch: Analysis) -> tuple[Cell, ...]:
    assert epoch.window is not None
    wall = epoch.window.wall_ns
    total = _totals(epoch)
    inside = [total.get(name) for name in IN_A_STEP]
    step, validation = total.get("step"), total.get("validation", total.get("validation_step"))
    parts: list[int | None] = [*inside, None if step is None else step - sum(ns or 0 for ns in inside), validation]
    rest = wall - (step or 0) - (validation or 0)
    return (_name(epoch), _pass(epoch), wall, *(None if ns is None else ns / wall for ns in (*parts, rest)))


def _name(epoch: Analysis) -> str:
    return epoch.run.workload if epoch.run and epoch.run.workload else file_name(epoch.path)


def _pass(epoch: Analysis) -> str:
    waited = epoch.run is not None and epoch.run.parameters.get("wait_phases") is True
    return "each phase waited for" if waited else "as the program runs"


def _totals(epoch: Analysis) -> dict[str, int]:
    ranges = epoch.tables.get("nvtx_summary")
    if ranges is None:
        return {}
    summed = ranges.group_by("range").agg(pl.col("total_ns").sum())
    return dict(summed.iter_rows())


def _accounts(epochs: Sequence[Analysis]) -> Table:
    """Return the ledgers' parts of the epochs that used a GPU, and the published epoch, which has no such split."""
    columns = (
        Column("run"),
        Column("epoch", "ns"),
        Column("part of the ledger"),
        Column("of wall", "percent"),
    )
    rows: list[tuple[Cell, ...]] = []
    for epoch in epochs:
        assert epoch.window is not None
        name = _name(epoch)
        rows += [
            (name, epoch.window.wall_ns, share.part.title, share.percent) for share in shares(of_gpus(epoch.ledgers))
        ]
    seconds = published.epoch_seconds("keras-gpu", 32)
    api = f"CUDA calls in total, exposed or not ({published.EPOCH_API_SECONDS:g} s)"
    percent = round(100 * published.EPOCH_API_SECONDS / seconds, 1)
    rows.append((f"keras-gpu, batch 32 ({published.R1})", round(seconds * 10**9), api, percent))
    return Table("Ledgers of an epoch on a GPU", columns, tuple(rows), len(rows))
