"""Kernels, graph-node kernels included."""

import polars as pl

from wallsplit.model.communication import communication_library
from wallsplit.model.names import NameTable
from wallsplit.model.rows import INT32_MAX, PLACE, RawRows, is_node, place_of_operation
from wallsplit.schema import KERNELS, Kernels, conform

TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
GRID = ("gridX", "gridY", "gridZ")
BLOCK = ("blockX", "blockY", "blockZ")
SHAPE = (*GRID, *BLOCK, "registersPerThread", "staticSharedMemory", "dynamicSharedMemory")


def kernels(raw: RawRows, names: NameTable) -> Kernels:
    """Return the kernels of a trace (schema.KERNELS), by process and device, each's in file order."""
    rows = raw.read_kinds(
        TABLE,
        ["correlationId"],
        [*PLACE, "demangledName", "shortName", "graphNodeId", *SHAPE],
        expanded=True,
    ).in_use()
    ids = rows.kinds.select(pl.col("demangledName", "shortName"))
    texts = names.lookup(pl.concat([ids["demangledName"], ids["shortName"]]).unique().drop_nulls())
    communicating = [row for row, text in texts.items() if communication_library(text)]
    is_comm = pl.any_horizontal(pl.col("demangledName", "shortName").is_in(communicating).fill_null(value=False))
    of_kinds = rows.kinds.select(
        *place_of_operation(),
        names.rows_of_ids(ids["demangledName"].fill_null(ids["shortName"])).alias("name"),
        names.rows_of_ids(ids["shortName"].fill_null(ids["demangledName"])).alias("short_name"),
        is_comm.alias("is_comm"),
        is_node(),
        _volume(GRID).alias("blocks"),
        _volume(BLOCK).clip(1, INT32_MAX).cast(pl.Int32).alias("threads"),
        _small("registersPerThread").alias("registers"),
        _small("staticSharedMemory").alias("static_shared_bytes"),
        _small("dynamicSharedMemory").alias("dynamic_shared_bytes"),
    )
    frame = rows.together(of_kinds, "pid", "device").rename({"correlationId": "correlation_id"})
    return Kernels(conform(frame, KERNELS, "kernels"))


def _volume(axes: tuple[str, str, str]) -> pl.Expr:
    """Return the product of three extents; one that is not recorded, or 0, is 1. CUDA's own limits bound them."""
    limits = (INT32_MAX, 0xFFFF, 0xFFFF)
    x, y, z = (pl.col(axis).fill_null(1).clip(1, limit) for axis, limit in zip(axes, limits, strict=True))
    return x * y * z


def _small(column: str) -> pl.Expr:
    return pl.col(column).clip(0, INT32_MAX).cast(pl.Int32)
