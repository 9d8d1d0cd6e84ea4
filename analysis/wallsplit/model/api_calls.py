"""CUDA API calls, runtime and driver, each with its class by name and the class the ledger books it under."""

import polars as pl

from wallsplit.model.api_classes import api_class, normalised
from wallsplit.model.names import NameTable
from wallsplit.model.rows import INT32_MAX, RawRows, pid
from wallsplit.schema import API_CALLS, API_CLASSES, ApiCalls, ApiClass, conform

TABLE = "CUPTI_ACTIVITY_KIND_RUNTIME"


def api_calls(raw: RawRows, names: NameTable) -> ApiCalls:
    """Return the API calls of a trace (schema.API_CALLS), by process, each's in file order."""
    rows = raw.read_kinds(TABLE, ["correlationId"], ["globalTid", "nameId", "returnValue"]).in_use()
    kinds = rows.kinds
    name = names.rows_of_ids(kinds["nameId"], normalised)
    distinct = name.unique()
    texts = names.freeze().text(distinct).to_list()
    kind = _by_name(name, distinct, [API_CLASSES.index(api_class(text)) for text in texts])
    edge = _by_name(name, distinct, [_capture_edge(text) for text in texts])
    classes = pl.Series(API_CLASSES, dtype=ApiClass)
    of_kinds = kinds.select(
        pid("globalTid"),
        pl.col("globalTid").fill_null(0).alias("thread"),
        name.alias("name"),
        classes.gather(kind).alias("api_class"),
        classes.gather(kind).alias("booked_class"),
        pl.col("returnValue").clip(-INT32_MAX, INT32_MAX).cast(pl.Int32).alias("return_value"),
    )
    captures = bool((edge == 1).any())
    of_kinds = of_kinds.with_columns(edge.alias("edge")) if captures else of_kinds
    frame = rows.together(of_kinds, "pid").rename({"correlationId": "correlation_id"})
    if captures:
        captured = _captured(frame["thread"], frame["start"], frame["edge"])
        recorded = classes.gather(_constant(API_CLASSES.index("graph_build"), captured))
        frame = frame.with_columns(frame["booked_class"].zip_with(~captured, recorded).alias("booked_class"))
    return ApiCalls(conform(frame, API_CALLS, "api_calls"))


def _by_name(name: pl.Series, distinct: pl.Series, values: list[int]) -> pl.Series:
    if name.is_empty():
        return pl.Series([], dtype=pl.UInt32)
    table = [0] * (int(str(distinct.max())) + 1)
    for row, value in zip(distinct, values, strict=True):
        table[row] = value
    return pl.Series(table, dtype=pl.UInt32).gather(name)


def _constant(value: int, like: pl.Series) -> pl.Series:
    return pl.repeat(value, len(like), dtype=pl.UInt32, eager=True)


def _capture_edge(name: str) -> int:
    return 1 if name.endswith("StreamBeginCapture") else 2 if name.endswith("StreamEndCapture") else 0


def _captured(thread: pl.Series, start: pl.Series, edge: pl.Series) -> pl.Series:
    """Return which calls a thread made between its begin and the next end of a stream capture.

    Such a call runs nothing: it records a node of a graph (docs/ledger.md, Capture).
    """
    calls = pl.LazyFrame({"thread": thread, "start": start, "edge": edge}).with_row_index("row")
    last_edge = pl.when(pl.col("edge") > 0).then("edge").forward_fill().over("thread")
    inside = calls.sort("thread", "start", maintain_order=True).with_columns(captured=last_edge == 1)
    return inside.sort("row").select(pl.col("captured").fill_null(value=False)).collect().to_series()
