"""Kernels, graph-node kernels included."""

from wallsplit.model.names import NameTable
from wallsplit.model.rows import GPU_OPERATION, RawRows, gpu_operation
from wallsplit.schema import KERNELS, Kernels, conform

TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
COMMUNICATION = "nccl"
"""A kernel whose short name starts with this moves data between GPUs (docs/ledger.md, Accounts)."""


def kernels(raw: RawRows, names: NameTable) -> Kernels:
    """Return the kernels of a trace (schema.KERNELS), in file order."""
    rows = raw.read(TABLE, [*GPU_OPERATION, "demangledName", "shortName"])
    name = names.rows_of_ids(rows["demangledName"].fill_null(rows["shortName"]))
    short = rows["shortName"]
    texts = names.lookup(short.unique().drop_nulls())
    communicating = [row for row, text in texts.items() if text.startswith(COMMUNICATION)]
    frame = rows.select(
        *gpu_operation(),
        name.alias("name"),
        short.is_in(communicating).fill_null(value=False).alias("is_comm"),
    )
    return Kernels(conform(frame, KERNELS, "kernels"))
