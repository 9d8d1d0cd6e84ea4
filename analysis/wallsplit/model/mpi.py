"""MPI calls, as far as nsys traced them."""

import polars as pl

from wallsplit.model.names import NameTable
from wallsplit.model.rows import RawRows, pid
from wallsplit.schema import MPI_CALLS, MpiCalls, conform

TABLES = ("MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_OTHER_EVENTS")


def mpi(raw: RawRows, names: NameTable) -> MpiCalls:
    """Return the MPI calls of a trace (schema.MPI_CALLS), in the order of TABLES, each in file order."""
    rows = pl.concat([raw.read(table, ["globalTid", "textId"]) for table in TABLES])
    frame = rows.select(
        "start",
        "end",
        pid("globalTid"),
        pl.col("globalTid").fill_null(0).alias("thread"),
        names.rows_of_ids(rows["textId"]).alias("name"),
    )
    return MpiCalls(conform(frame, MPI_CALLS, "mpi"))
