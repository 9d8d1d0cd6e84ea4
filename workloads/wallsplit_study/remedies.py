"""R3's causes of slowness with and without their remedy."""

from collections.abc import Sequence

from wallsplit.report.document import Column, Paragraph, Section, Table
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary

_CAUSES = (
    "Causes are compared by samples per second, since a bigger batch changes what a step is. On a CPU no copy crosses "
    "a bus and no launch is waited for: what a remedy gains here says nothing of its gain on a GPU."
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
