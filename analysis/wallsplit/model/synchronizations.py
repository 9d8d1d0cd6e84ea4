"""Which stream, or device, API calls wait for."""

import polars as pl

from wallsplit.model.rows import RawRows, device, pid, stream
from wallsplit.schema import SYNCHRONIZATIONS, Synchronizations, conform

TABLE = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"


def synchronizations(raw: RawRows) -> Synchronizations:
    """Return the synchronizations of a trace (schema.SYNCHRONIZATIONS), in file order.

    `syncType` is not read: versions of nsys number the types differently. The call's name says what it waits for.
    """
    rows = raw.read(TABLE, ["globalPid", "deviceId", "streamId", "correlationId"])
    frame = rows.select(pid("globalPid"), device(), stream(), pl.col("correlationId").alias("correlation_id"))
    return Synchronizations(conform(frame, SYNCHRONIZATIONS, "synchronizations"))
