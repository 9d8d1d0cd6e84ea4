"""The generated blocks on R1: epochs, what they cost in fixed parts, their phases, single steps, the search."""

from typing import Final

import polars as pl

from wallsplit import units
from wallsplit.report.document import Cell, Column, Table
from wallsplit.report.markdown import escape
from wallsplit.run.manifest import RunManifest
from wallsplit_study import grid, operations, published
from wallsplit_study.fitting import Line
from wallsplit_study.frames import summary
from wallsplit_study.page.text import ABSENT, Study, paragraph, table, with_error
from wallsplit_study.search import search
from wallsplit_study.tables import median_or_status

NAMES: Final = {
    "keras-gpu": "Keras on a GPU",
    "keras-cpu": "Keras on the CPU",
    "numpy-sample": "NumPy, sample by sample",
    "numpy": "NumPy",
    "jax-cpu": "JAX on the CPU",
    "jax-gpu": "JAX on a GPU",
    "jax-vmap": "JAX, five models at once",
    "cupy": "CuPy",
    "cupy-sample": "CuPy, sample by sample",
}


def epochs_by_batch(study: Study) -> str:
    """Return time per epoch by approach and batch, the published times beside it."""
    frame = summary(study.outcomes, "grid").filter(pl.col("approach").is_in(list(NAMES)))
    batches = frame["batch"].drop_nulls().unique().sort().to_list()
    found = {(row["approach"], row["batch"]): row for row in frame.iter_rows(named=True)}
    rows = tuple(
        (title, *(median_or_status(found.get((name, batch))) for batch in batches), _published(name))
        for name, title in NAMES.items()
    )
    columns = (
        Column("approach"),
        *(Column(f"batch {batch:,}", "ns", ABSENT) for batch in batches),
        Column("published", null="–"),
    )
    return table(columns, rows)


def taxes(study: Study) -> str:
    """Return what an epoch and a step cost in every approach, and in the published one."""
    measured = summary(study.outcomes, "grid").filter(pl.col("n") > 0)
    rows = []
    for name, title in NAMES.items():
        own = grid.fitted(measured.filter(pl.col("approach") == name))
        theirs = grid.published_line(name) if name in published.FLOORS else None
        if own or theirs:
            rows.append((title, *_two(own), *_two(theirs)))
    columns = (
        Column("approach"),
        Column("a, per epoch", null=ABSENT),
        Column("b, per step", null=ABSENT),
        Column("a, published"),
        Column("b, published"),
    )
    return table(columns, tuple(rows))


def first_epochs(study: Study) -> str:
    """Return what is paid once at batch 32: first epochs beside the later ones."""
    measured = summary(study.outcomes, "grid").filter(pl.col("n") > 0, batch=grid.BASELINE_BATCH)
    whole_table = grid.first_epochs(measured)
    rows = tuple((NAMES.get(str(row[0]), row[0]), *row[2:]) for row in whole_table.rows)
    columns = (whole_table.columns[0], *whole_table.columns[2:])
    return table(columns, rows)


def shape(study: Study) -> str:
    """Return in words how far the framework is from the arithmetic."""
    frame = summary(study.outcomes, "grid").filter(pl.col("n") > 0)
    cpu = next((run.cpu for run in reversed(study.runs) if run.cpu and run.cpu.peak_flops), None)
    flops = next(
        (run.arithmetic.flops_per_epoch for run in study.runs if run.arithmetic and _is_whole_epoch(run)), None
    )
    said = grid.headline(frame)
    words = [escape(f"{said[0].upper()}{said[1:]}.")] if said else []
    keras, numpy = _at(frame, "keras-cpu", 32), frame.filter(approach="numpy")["median_ns"].min()
    if cpu and cpu.peak_flops and flops and keras and isinstance(numpy, int):
        peak_ns = flops / cpu.peak_flops * 1e9
        near, far = numpy / peak_ns, keras / peak_ns
        words.append(
            f"The whole arithmetic of an epoch would take {units.ns(peak_ns)} at this machine's peak of "
            f"{cpu.peak_flops / 1e9:,.0f} GFLOP/s ({escape(cpu.peak_source or ABSENT)}), so NumPy at its best runs "
            f"within a factor of {near:.1f} of the arithmetic, and Keras at batch 32 within a factor of {far:.0f}."
        )
    return paragraph(" ".join(words) or f"Keras at batch 32: {ABSENT}.")


def phases(study: Study) -> str:
    """Return the phases of profiled epochs; a phase that cannot be told apart is not marked."""
    if study.epochs.is_empty():
        return "No epoch was profiled."
    columns = (Column("run"), Column("pass"), Column("epoch", "ns"))
    names = study.epochs.columns[3:]
    rest = tuple(Column(name.removesuffix("_ratio").replace("_", " "), "ratio") for name in names)
    return table((*columns, *rest), tuple(study.epochs.rows()))


def steps(study: Study) -> str:
    """Return operations, product and step by library, the published times beside them."""
    sums = operations.operation_times(study.outcomes)
    section = operations.steps(study.outcomes)
    ladder = next((block for block in section.blocks if isinstance(block, Table)), None) if section else None
    ladders = {str(row[0]): row for row in ladder.rows} if ladder else {}
    libraries = ("numpy", "tensorflow", "jax")

    def each(index: int) -> tuple[Cell, ...]:
        return tuple(ladders[name][index] if name in ladders else None for name in libraries)

    def timed(operation: str | None) -> tuple[Cell, ...]:
        wanted = sums if operation is None else sums.filter(name=operation)
        totals = {name: wanted.filter(approach=name)["mean_ns"].sum() for name in libraries}
        return tuple(totals[name] or None for name in libraries)

    every, first, product = published.OPERATIONS[1], published.OPERATIONS[0], published.MATMUL
    rows = (
        ("all operations of a step, each timed alone", *timed(None), every.cpu_us * 1e3, every.gpu_us * 1e3),
        ("of them X @ W1 + b1", *timed(first.name), first.cpu_us * 1e3, first.gpu_us * 1e3),
        ("(32, 784) @ (784, 128) alone", *each(1), product.cpu_us * 1e3, product.gpu_us * 1e3),
        ("an eager step, everything included", *each(2), None, None),
        ("a compiled step, waited for", *each(3), "about equal", "about equal"),
        ("compiled steps back to back, each", *each(4), None, None),
        ("a step inside the epoch", *each(5), "not derived", "not derived"),
    )
    columns = (
        Column("batch 32"),
        *(Column(title, "ns", ABSENT) for title in ("NumPy", "TensorFlow", "JAX")),
        Column("published, CPU", "ns"),
        Column("published, GPU (launch included)", "ns"),
    )
    whys = ((name, str(row[-1])) for name, row in ladders.items() if row[-1] and name in libraries)
    notes = "".join(
        "\n\n"
        + paragraph(f"In {name} a step of an epoch is shorter than the step alone. {escape(why[0].upper() + why[1:])}.")
        for name, why in whys
    )
    alone, compiled = timed(None)[1], each(3)[1]
    if isinstance(alone, int | float) and isinstance(compiled, int | float) and compiled:
        said = (
            f"In TensorFlow the operations one by one take {alone / compiled:.1f} times as long as the compiled step."
        )
        notes = f"\n\n{paragraph(said)}{notes}"
    return table(columns, rows) + notes


def searches(study: Study) -> str:
    """Return what five learning rates cost each way, the fastest first."""
    section = search(study.outcomes)
    found = next((block for block in section.blocks if isinstance(block, Table)), None) if section else None
    if found is None:
        return f"The search: {ABSENT}."
    titles = ("approach", "whole search", "training", "CPU time")
    places = [[column.title for column in found.columns].index(title) for title in titles]
    rows = sorted((tuple(row[i] for i in places) for row in found.rows), key=_by_time)
    return table(tuple(found.columns[i] for i in places), tuple(rows))


_WHERE: Final = {"best": "at best", "smallest": "at its smallest batch"}


def _published(approach: str) -> str | None:
    """Return the published epochs of an approach in words."""
    found = [epoch for epoch in published.EPOCHS if epoch.approach == approach]
    where = [f"at {epoch.batch:,}" if isinstance(epoch.batch, int) else _WHERE[epoch.batch] for epoch in found]
    return "; ".join(f"{epoch.seconds:g} s {place}" for epoch, place in zip(found, where, strict=True)) or None


def _two(line: Line | None) -> tuple[str | None, str | None]:
    if line is None:
        return None, None
    return with_error(line.floor, line.floor_error), with_error(line.per, line.per_error)


def _at(frame: pl.DataFrame, approach: str, batch: int) -> int | None:
    found = frame.filter(approach=approach, batch=batch)["median_ns"]
    return None if found.is_empty() else found[0]


def _is_whole_epoch(run: RunManifest) -> bool:
    return bool(run.model and run.model.parameter_count == 101_770 and run.data and run.data.train_samples == 48_000)


def _by_time(row: tuple[Cell, ...]) -> tuple[bool, float]:
    return not isinstance(row[1], int), float(row[1]) if isinstance(row[1], int) else 0.0
