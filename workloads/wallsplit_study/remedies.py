"""R3's causes of slowness with and without their remedy, and word2vec by its number of workers: the same comparison."""

from collections.abc import Sequence

from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary
from wallsplit_study.results import number

_CAUSES = (
    "Causes are compared by samples per second, since a bigger batch changes what a step is. On a CPU no copy crosses "
    "a bus and no launch is waited for: what a remedy gains here says nothing of its gain on a GPU."
)
_WORDS = (
    "Gensim trains in threads without locks, each example looking up random rows of memory: the same pattern in "
    "production, bound by memory."
)


def causes(outcomes: Sequence[Outcome]) -> Section | None:
    """Return samples per second of each cause as it is and remedied; None where nothing of it was run."""
    frame = summary(outcomes, "causes")
    if frame.is_empty():
        return None
    plain: dict[tuple[str, str], float | None] = {}
    rows = []
    for row in frame.iter_rows(named=True):
        group = row["approach"].rpartition(", ")[0]  # "width 128, autocast" is compared with "width 128, fp32"
        before = plain.setdefault((row["workload"], group), row["samples_per_s"])
        gain = row["samples_per_s"] / before if row["samples_per_s"] and before else None
        spread = row["spread_ratio"]
        rows.append(
            (
                row["workload"],
                row["approach"],
                row["samples_per_s"],
                gain,
                row["median_ns"],
                spread,
                row["n"],
                row["status"],
            )
        )
    columns = (
        Column("cause"),
        Column("variant"),
        Column("samples per s", "number", "not measured"),
        Column("times as fast as without the remedy", "number"),
        Column("time per epoch", "ns", "not measured"),
        Column("(max − min) ÷ median", "ratio"),
        Column("repeats", "count"),
        Column("status"),
    )
    table = Table("Each cause and its remedy", columns, tuple(rows), len(rows))
    return Section("causes", "Causes of slowness", (Paragraph(_CAUSES), table))


def word2vec(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the training time of word2vec by its workers; None where nothing of it was run."""
    frame = summary(outcomes, "word2vec")
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
    return Section("word2vec", "word2vec", (Paragraph(_WORDS), table))


def _words_per_s(outcomes: Sequence[Outcome], approach: str) -> float | None:
    """Return words per second of the fastest repeat, vocabulary included."""
    own = [one.run for one in outcomes if one.cell.part == "word2vec" and one.cell.approach == approach and one.run]
    return max((rate for run in own if (rate := number(run.results, "words_per_second"))), default=None)
