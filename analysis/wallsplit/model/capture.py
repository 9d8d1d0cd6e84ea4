"""What the export says about its own recording."""

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.model.rows import pid
from wallsplit.schema import DIAGNOSTICS, Diagnostics, conform
from wallsplit.trace import Trace

NOTE = "WALLSPLIT_NOTE"
ASSUMPTION = "WALLSPLIT_ASSUMPTION_"


@dataclass(frozen=True)
class Capture:
    """The recording's metadata. None = the export does not say."""

    nsys_version: str | None
    schema_version: str | None
    duration_ns: int | None
    """ANALYSIS_DETAILS.duration: the `capture` window is [0, duration)."""
    note: str | None = None
    """Set in files this project reconstructed from published figures; every output shows it."""
    assumptions: tuple[str, ...] = ()
    start_utc_ns: int | None = None
    """UTC in ns at 0 of the trace clock."""


def capture(trace: Trace) -> Capture:
    """Return the metadata of the export."""
    pairs = trace.read("META_DATA_EXPORT", ["name", "value"]).select(pl.col("name", "value").cast(pl.String))
    values = dict(pairs.drop_nulls().iter_rows())
    durations = trace.read("ANALYSIS_DETAILS", ["duration"])["duration"].drop_nulls()
    starts = trace.read("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"])["utcEpochNs"].drop_nulls()
    return Capture(
        nsys_version=values.get("EXPORT_PRODUCT_VERSION") or values.get("EXPORT_VERSION"),
        schema_version=values.get("EXPORT_SCHEMA_VERSION"),
        duration_ns=int(durations[0]) if len(durations) else None,
        note=values.get(NOTE),
        assumptions=tuple(values[name] for name in sorted(values) if name.startswith(ASSUMPTION)),
        start_utc_ns=int(starts[0]) if len(starts) else None,
    )


def diagnostics(trace: Trace) -> Diagnostics:
    """Return the profiler's own messages (schema.DIAGNOSTICS), in file order."""
    raw = trace.read("DIAGNOSTIC_EVENT", ["severity", "text", "globalPid"])
    own = pid("globalPid")
    frame = raw.select("severity", pl.when(own > 0).then(own).alias("pid"), pl.col("text").cast(pl.String)).drop_nulls(
        ["severity", "text"]
    )
    return Diagnostics(conform(frame, DIAGNOSTICS, "diagnostics"))
