"""word2vec by its number of workers: how fast, and whether arithmetic or memory can be what holds it up."""

from collections.abc import Sequence
from statistics import median
from typing import Final

from wallsplit.report.document import Cell, Column, Paragraph, Section, Table
from wallsplit.run.manifest import RunManifest
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary
from wallsplit_study.results import number

KEY: Final = "word2vec"
_WORDS = (
    "Gensim trains in threads without locks, each example looking up random rows of memory: R1's pattern in production."
)
_BOUND = (
    "What the training of a word computes and touches follows from the model: its expected pairs of words, five "
    "negative samples each, vectors of 100 numbers. The last three columns are what part of the measured time each "
    "would take by itself, spread over the workers: the arithmetic at this processor's peak; copying as many rows of "
    "such matrices, in the words' order, out and back; and copying rows that lie in the first-level cache. Where rows "
    "take most of the time, and far more of it than rows from the cache, memory is what it waits for. "
    "Medians over the repeats."
)


def word2vec(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the training time of word2vec by its workers, and its bounds; None where nothing of it was run."""
    frame = summary(outcomes, KEY)
    if frame.is_empty():
        return None
    first = frame["median_ns"][0]
    rows = tuple(
        (
            row["approach"],
            row["median_ns"],
            row["min_ns"],
            row["max_ns"],
            first / row["median_ns"] if first and row["median_ns"] else None,
            _words_per_s(outcomes, row["approach"]),
            row["n"],
            row["status"],
        )
        for row in frame.iter_rows(named=True)
    )
    columns = (
        Column("workers"),
        Column("training", "ns", "not measured"),
        Column("min", "ns"),
        Column("max", "ns"),
        Column("times the first row's speed", "number"),
        Column("words per s", "number"),
        Column("repeats", "count"),
        Column("status"),
    )
    table = Table("word2vec on a generated corpus", columns, rows, len(rows))
    return Section(KEY, "word2vec", (Paragraph(_WORDS), table, Paragraph(_BOUND), bounds(outcomes)))


def bounds(outcomes: Sequence[Outcome]) -> Table:
    """Return what a word computes and touches by the model, and what arithmetic and memory alone would take of it."""
    runs: dict[str, list[RunManifest]] = {}
    for outcome in outcomes:
        if outcome.cell.part == KEY and outcome.run:
            runs.setdefault(outcome.cell.approach, []).append(outcome.run)
    rows = tuple(
        (approach, *(_median(column) for column in zip(*map(_bounds, own), strict=True)))
        for approach, own in runs.items()
    )
    columns = (
        Column("workers"),
        Column("FLOP per word", "number", "not modelled"),
        Column("bytes touched per word", "number", "not modelled"),
        Column("FLOP per byte", "number", "not modelled"),
        Column("GFLOP/s reached", "number", "not measured"),
        Column("GB/s touched", "number", "not measured"),
        Column("arithmetic at peak, of the time", "ratio", "peak not known"),
        Column("copying these rows, of the time", "ratio", "not measured"),
        Column("copying rows in the cache, of the time", "ratio", "not measured"),
    )
    return Table("What a word computes and touches, and what each alone would take", columns, rows, len(rows))


def _bounds(run: RunManifest) -> tuple[float | None, ...]:
    """Return the figures of one run, in the order of the columns of `bounds`."""
    words = run.data.train_samples if run.data else None
    flops = run.arithmetic.flops_per_epoch if run.arithmetic else None
    touched = number(run.results, "bytes_touched_per_epoch")
    epoch_s = median(epoch.wall_ns for epoch in run.epochs) / 1e9 if run.epochs else None
    workers = run.threads.get("word2vec_workers", 1)
    cores = run.cpu.physical_cores if run.cpu else None
    peak = run.cpu.peak_flops / cores * min(workers, cores) if run.cpu and run.cpu.peak_flops and cores else None
    rows, cached = (number(run.results, name) for name in ("row_bytes_per_second", "cached_row_bytes_per_second"))
    at_once = min(workers, cores or workers)
    reached, rate = _quotient(flops, epoch_s), _quotient(touched, epoch_s)
    return (
        _quotient(flops, words),
        _quotient(touched, words),
        _quotient(flops, touched),
        _quotient(reached, 1e9),
        _quotient(rate, 1e9),
        _quotient(reached, peak),
        _quotient(_quotient(rate, at_once), rows),
        _quotient(_quotient(rate, at_once), cached),
    )


def _quotient(dividend: float | None, divisor: float | None) -> float | None:
    return dividend / divisor if dividend is not None and divisor else None


def _median(values: Sequence[float | None]) -> Cell:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _words_per_s(outcomes: Sequence[Outcome], approach: str) -> float | None:
    """Return words per second of the fastest repeat, vocabulary included."""
    own = [
        outcome.run
        for outcome in outcomes
        if outcome.cell.part == KEY and outcome.cell.approach == approach and outcome.run
    ]
    return max((rate for run in own if (rate := number(run.results, "words_per_second"))), default=None)
