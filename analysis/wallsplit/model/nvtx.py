"""NVTX ranges: what the program, or a library it uses, named."""

import polars as pl

from wallsplit.model.annotations import Annotations
from wallsplit.model.names import UNNAMED, NameTable
from wallsplit.model.rows import RawRows, pid
from wallsplit.schema import NVTX_STYLES, NvtxStyle
from wallsplit.trace.kinds import Kinds

TABLE = "NVTX_EVENTS"
PUSH_POP = (59, 70)
START_END = (60, 71)
RANGES = (*PUSH_POP, *START_END)
DOMAIN_CREATED = 75
NO_THREAD = -1
"""The thread of a range that begins on one thread and ends on another: no thread's calls lie inside it."""

LIBRARY_DOMAINS = frozenset(
    {"CCCL", "CUB", "Thrust", "libcudf", "cuBLAS", "cuBLASLt", "cuDNN", "cuFFT", "cuSOLVER", "cuSPARSE", "cuRAND"}
    | {"NCCL", "MPI", "NVSHMEM", "UCX", "TensorRT", "RAPIDS", "OpenACC", "NPP", "nvJPEG", "DALI", "cuTENSOR", "RMM"}
)
"""Domains that libraries open for themselves; their ranges are not the user's steps. Compared without case."""
_LIBRARIES = frozenset(domain.lower() for domain in LIBRARY_DOMAINS)


def nvtx(raw: RawRows, names: NameTable) -> Annotations:
    """Return the finished ranges of a trace; marks and categories are no ranges."""
    keys = ["eventType", "text", "textId", "globalTid", "endGlobalTid", "domainId"]
    every = raw.trace.kinds(TABLE, ["start", "end"], keys)
    domains = _domains(every.kinds, names)
    is_range = every.kinds["eventType"].is_in(list(RANGES)).fill_null(value=False)
    rows = raw.usable_kinds(TABLE, every.where(every.of_rows(is_range))).in_use()
    del every  # millions of rows: keep no second copy while names are looked up
    kinds = rows.kinds.with_columns(pid("globalTid"), pl.col("domainId").fill_null(0))
    text = _texts(kinds, names)
    crosses = (pl.col("endGlobalTid") != pl.col("globalTid")).fill_null(value=False)
    of_kinds = kinds.select(
        "pid",
        pl.when(crosses).then(NO_THREAD).otherwise(pl.col("globalTid").fill_null(0)).alias("thread"),
        _style(kinds["eventType"]).alias("style"),
        _with_domains(kinds, text, domains, names).alias("range"),
        text.alias("text"),
        _is_library(kinds, domains).alias("is_library"),
        (pl.col("domainId") == 0).alias("is_default_domain"),
    )
    return Annotations.of(Kinds(rows.rows, of_kinds, rows.kind))


def _domains(every: pl.DataFrame, names: NameTable) -> pl.DataFrame:
    """Return the named domains: pid, domainId, domain (text); domain 0 has no name of its own."""
    created = (pl.col("eventType") == DOMAIN_CREATED) & (pl.col("domainId") != 0)
    rows = every.filter(created).select(pid("globalTid"), "domainId", pl.col("text").cast(pl.String), "textId")
    texts = names.lookup(rows["textId"].drop_nulls().unique())
    registered = [texts.get(text_id) for text_id in rows["textId"]]
    named = rows.select(
        "pid", "domainId", pl.coalesce("text", pl.Series(registered, dtype=pl.String)).alias("domain")
    ).drop_nulls()
    return named.unique(["pid", "domainId"], keep="first", maintain_order=True)


def _style(event_type: pl.Series) -> pl.Series:
    return pl.Series(NVTX_STYLES, dtype=NvtxStyle).gather(event_type.is_in(list(START_END)).cast(pl.UInt32))


def _texts(rows: pl.DataFrame, names: NameTable) -> pl.Series:
    inline = names.rows_of_texts(rows["text"])
    if rows["textId"].null_count() == rows.height:
        return inline
    return inline.zip_with(rows["text"].is_not_null(), names.rows_of_ids(rows["textId"]))


def _with_domains(rows: pl.DataFrame, row: pl.Series, domains: pl.DataFrame, names: NameTable) -> pl.Series:
    if domains.is_empty():
        return row
    keyed = rows.select("pid", "domainId", row.alias("row")).join(
        domains, on=["pid", "domainId"], how="left", maintain_order="left"
    )
    pairs = keyed.select("domain", "row").unique(maintain_order=True).drop_nulls("domain")
    text = names.freeze().text(pairs["row"])
    prefixed = pairs["domain"] + ":" + text.set(text == UNNAMED, "")
    pairs = pairs.with_columns(full=names.rows(prefixed))
    return (
        keyed.join(pairs, on=["domain", "row"], how="left", maintain_order="left")
        .select(pl.coalesce("full", "row"))
        .to_series()
    )


def _is_library(rows: pl.DataFrame, domains: pl.DataFrame) -> pl.Series:
    owned = domains.filter(pl.col("domain").str.to_lowercase().is_in(list(_LIBRARIES)))
    if owned.is_empty():
        return pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True)
    marked = owned.select("pid", "domainId", is_library=pl.lit(value=True))
    joined = rows.select("pid", "domainId").join(marked, on=["pid", "domainId"], how="left", maintain_order="left")
    return joined["is_library"].fill_null(value=False)
