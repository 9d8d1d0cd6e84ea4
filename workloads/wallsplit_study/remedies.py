"""R3's causes of slowness with and without their remedy."""

from collections.abc import Sequence
from statistics import median

from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit.run.manifest import RunManifest
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary

_CAUSES = (
    "Causes are compared by samples per second, since a bigger batch changes what a step is. On a CPU no copy crosses "
    "a bus and no launch is waited for: what a remedy gains there says nothing of its gain on a GPU. Loss and accuracy "
    "are those after the last epoch, on the validation samples where the workload validates. Peak memory is what "
    "PyTorch's tensors took of the GPU, or all that the process took of the host: capacity beside speed."
)


def causes(outcomes: Sequence[Outcome]) -> Section | None:
    """Return samples per second of each cause as it is and remedied; None where nothing of it was run."""
    frame = summary(outcomes, "causes")
    if frame.is_empty():
        return None
    plain: dict[tuple[str, str], float | None] = {}
    rows = []
    for row in frame.iter_rows(named=True):
        group = compared_within(row["approach"])
        own = [outcome.run for outcome in outcomes if outcome.run and _is_of(outcome, row["workload"], row["approach"])]
        before = plain.setdefault((row["workload"], group), row["samples_per_s"])
        gain = row["samples_per_s"] / before if row["samples_per_s"] and before else None
        spread = row["spread_ratio"]
        rows.append(
            (
                row["workload"],
                row["approach"],
                row["samples_per_s"],
                gain,
                *_scores(own),
                _peak_memory_bytes(own),
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
        Column("loss", "number", "not measured"),
        Column("accuracy", "ratio", "not measured"),
        Column("peak memory", "bytes", "not measured"),
        Column("time per epoch", "ns", "not measured"),
        Column("(max − min) ÷ median", "ratio"),
        Column("repeats", "count"),
        Column("status"),
    )
    table = Table("Each cause and its remedy", columns, tuple(rows), len(rows))
    return Section("causes", "Causes of slowness", (Paragraph(_CAUSES), table))


def compared_within(approach: str) -> str:
    """Return what a remedy shares with what it is compared with: "GPU, width 128" of "GPU, width 128: bf16"."""
    return approach.rpartition(": " if ": " in approach else ", ")[0]


def _is_of(outcome: Outcome, workload: str, approach: str) -> bool:
    cell = outcome.cell
    return (cell.part, cell.workload, cell.approach) == ("causes", workload, approach)


def _scores(runs: Sequence[RunManifest]) -> tuple[float | None, float | None]:
    """Return the medians over the runs of loss and accuracy after the last epoch."""
    last = [run.epochs[-1] for run in runs if run.epochs]
    losses = [epoch.loss if epoch.validation_loss is None else epoch.validation_loss for epoch in last]
    accuracies = [epoch.accuracy if epoch.validation_accuracy is None else epoch.validation_accuracy for epoch in last]
    return _median(losses), _median(accuracies)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _peak_memory_bytes(runs: Sequence[RunManifest]) -> int | None:
    """Return the most memory of any run: of the GPU as PyTorch counts it, else of the host."""
    counts = [run.peak_memory_bytes for run in runs]
    peaks = [count.get("torch_allocated", count.get("process")) for count in counts]
    return max((peak for peak in peaks if peak is not None), default=None)
