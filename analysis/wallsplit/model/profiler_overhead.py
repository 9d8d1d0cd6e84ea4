"""Time the profiler itself took on the program's threads."""

import polars as pl

from wallsplit.model.rows import RawRows, pid
from wallsplit.schema import PROFILER_OVERHEAD, ProfilerOverhead, conform

TABLE = "PROFILER_OVERHEAD"


def profiler_overhead(raw: RawRows) -> ProfilerOverhead:
    """Return the profiler's own intervals (schema.PROFILER_OVERHEAD), in file order."""
    rows = raw.read(TABLE, ["globalTid"])
    frame = rows.select("start", "end", pid("globalTid"), pl.col("globalTid").fill_null(0).alias("thread"))
    return ProfilerOverhead(conform(frame, PROFILER_OVERHEAD, "profiler_overhead"))
