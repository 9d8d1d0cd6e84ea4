"""The generated blocks of docs/the-study.md on where a GPU pays, what holds word2vec up, and what learning takes."""

from typing import Final

from wallsplit.report.document import Cell, Table
from wallsplit_study.break_even import agreement, crossings, measured_surface, opponents
from wallsplit_study.end_to_end import ways_table
from wallsplit_study.latency import latency_table
from wallsplit_study.page.text import Study, paragraph, table
from wallsplit_study.word2vec import bounds

_NOTHING: Final = "Not measured here yet."
_TRAINED: Final = ("grid", "item", "causes", "word2vec")


def break_even(study: Study) -> str:
    """Return the break-even of each model against each GPU, and how the published rule fares."""
    cpu = measured_surface(study.outcomes, "cpu")
    if not cpu:
        return _NOTHING
    gpus = opponents(cpu, measured_surface(study.outcomes, "gpu"))
    gflops = [step.flops / step.wall_ns for step in cpu.values()]
    words = paragraph(
        f"From this batch on the GPU is as fast as this CPU, which reaches {min(gflops):.1f} to {max(gflops):.1f} "
        "GFLOP/s over the surface:"
    )
    return "\n\n".join((words, _shown(crossings(cpu, gpus)), "And the rule:", _shown(agreement(cpu, gpus))))


def word2vec_bounds(study: Study) -> str:
    """Return what a word computes and touches, and what each alone would take of the measured time."""
    return _or_nothing(bounds(study.outcomes))


def end_to_end(study: Study) -> str:
    """Return the way of each approach from the start of its process to the target."""
    return _or_nothing(ways_table(study.outcomes))


def latency(study: Study) -> str:
    """Return latency, throughput and cost of what trains, each variant at its smallest batch; the report has all."""
    trained = [outcome for outcome in study.outcomes if outcome.cell.part in _TRAINED]
    latencies = latency_table(trained)
    if latencies is None:
        return _NOTHING
    smallest: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
    for row in latencies.rows:  # by batch, in ascending order
        smallest.setdefault(row[:2], row)
    return table(latencies.columns, tuple(smallest.values()))


def _or_nothing(latencies: Table | None) -> str:
    return _shown(latencies) if latencies is not None and latencies.rows else _NOTHING


def _shown(latencies: Table) -> str:
    return table(latencies.columns, latencies.rows)
