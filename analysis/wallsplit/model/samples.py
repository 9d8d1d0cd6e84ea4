"""Samples of what the CPUs executed, as far as nsys took any: where, called by whom, and how they were taken.

A long recording has millions of callers but few distinct places in code: frames hold the places' row numbers.
"""

import re

import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.model.names import NameTable
from wallsplit.model.processes import processes
from wallsplit.model.rows import RawRows, pid
from wallsplit.model.sched import thread_switches
from wallsplit.schema import CODE_PLACES, CPU_SAMPLES, SAMPLE_CALLERS, THREAD_NAMES, Processes, conform
from wallsplit.trace import Trace

TABLE = "COMPOSITE_EVENTS"
CHAINS = "SAMPLING_CALLCHAINS"

SETTINGS = {  # of META_DATA_CAPTURE, and what their values look like; the other rows, environment included, stay unread
    "SAMPLING_PERIOD": re.compile(r"[1-9]\d{0,17}"),
    "CPU_IP_TRIGGER_TYPE": re.compile(r"[a-z][a-z _-]{0,39}"),
    "SAMPLES_PER_BACKTRACE": re.compile(r"[1-9]\d{0,8}"),
}
_PREFIX = "LINUX_PERF_OPTIONS:"
_PLACE = ("symbol", "module", "unresolved", "kernelMode")


@dataclass(frozen=True)
class SamplingSettings:
    """How nsys was told to sample. None = not recorded."""

    period: int | None  # ns of CPU time where the trigger is a clock, else a number of events
    trigger: str | None  # in lower case: software (a clock), hardware (a counter)
    backtrace_every: int | None  # one sample in so many has callers


@dataclass(frozen=True)
class CpuSamples:
    """The samples of a trace and what is needed to weigh and name them."""

    samples: pl.DataFrame  # schema.CPU_SAMPLES, at least one row
    places: pl.DataFrame  # schema.CODE_PLACES
    callers: pl.DataFrame  # schema.SAMPLE_CALLERS
    switches: pl.DataFrame  # schema.THREAD_SWITCHES
    settings: SamplingSettings
    thread_names: pl.DataFrame  # schema.THREAD_NAMES, of sampled threads
    programs: Processes  # of sampled processes
    os_calls_traced: bool


def cpu_samples(raw: RawRows, names: NameTable) -> CpuSamples | None:
    """Return the CPU samples of a trace; None, and nothing else is read, where it has none."""
    if not raw.trace.has(TABLE):
        return None
    rows = raw.read_instants(TABLE, ["id", "globalTid"]).filter(pl.col("globalTid").is_not_null())
    if rows.is_empty():
        return None
    rows = rows.sort("start", maintain_order=True).with_row_index("sample")
    numbers = rows.select("id", "sample").unique("id", keep="first", maintain_order=True)  # else n samples × m frames
    chains, places = _chains(raw.trace, numbers, names)
    leaves = chains.filter(pl.col("stackDepth") == 0).drop("stackDepth")
    leaves = leaves.unique("sample", keep="last", maintain_order=True)
    callers = chains.filter(pl.col("stackDepth") > 0).sort("sample", "stackDepth").select("sample", "place")
    called = callers.select(pl.col("sample").unique(), has_callers=pl.lit(value=True))
    frame = rows.join(leaves, on="sample", how="left").join(called, on="sample", how="left").sort("sample")
    frame = frame.select(
        "start",
        pid("globalTid"),
        pl.col("globalTid").alias("thread"),
        "place",
        pl.col("has_callers").fill_null(value=False),
    )
    pids = frame["pid"].unique().to_list()
    return CpuSamples(
        samples=conform(frame, CPU_SAMPLES, "cpu_samples"),
        places=places,
        callers=conform(callers, SAMPLE_CALLERS, "sample_callers"),
        switches=thread_switches(raw),
        settings=_settings(raw.trace),
        thread_names=_thread_names(raw.trace, frame["thread"], names),
        programs=processes(raw.trace, pids),
        os_calls_traced=raw.trace.has("OSRT_API"),
    )


def _chains(trace: Trace, numbers: pl.DataFrame, names: NameTable) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return every frame of the call chains (sample, stackDepth, place), and the distinct places."""
    raw = trace.scan(CHAINS, ["id", "stackDepth", *_PLACE])
    small = raw.with_columns(pl.col("stackDepth").cast(pl.Int32, strict=False), *(_flag(name) for name in _PLACE[2:]))
    rows = small.collect().join(numbers, on="id", maintain_order="left").select("sample", "stackDepth", *_PLACE)
    distinct = rows.select(_PLACE).unique(maintain_order=True).with_row_index("place")
    keyed = rows.join(distinct, on=_PLACE, how="left", nulls_equal=True, maintain_order="left")
    places = distinct.select(
        _texts(distinct["module"], names).alias("module"),
        _texts(distinct["symbol"], names).alias("symbol"),
        pl.col("unresolved").alias("is_unresolved"),
        pl.col("kernelMode").alias("is_kernel"),
    )
    chains = keyed.select("sample", "stackDepth", pl.col("place").cast(pl.Int32))
    return chains, conform(places, CODE_PLACES, "code_places")


def _flag(column: str) -> pl.Expr:
    return (pl.col(column) != 0).fill_null(value=False)


def _texts(ids: pl.Series, names: NameTable) -> pl.Series:
    """Return the rows of Names of the StringIds at `ids`; null where there is no such text."""
    known = names.strings.drop_nulls()["id"]
    return names.rows_of_ids(ids).zip_with(ids.is_in(known.implode()).fill_null(value=False), _nothing(len(ids)))


def _nothing(length: int) -> pl.Series:
    return pl.Series([None], dtype=pl.Int32).new_from_index(0, length)


def _settings(trace: Trace) -> SamplingSettings:
    wanted = [_PREFIX + name for name in SETTINGS]
    rows = trace.scan("META_DATA_CAPTURE", ["name", "value"]).select(pl.col("name", "value").cast(pl.String))
    read = dict(rows.filter(pl.col("name").is_in(wanted)).drop_nulls().collect().iter_rows())
    values = [(shape, read.get(_PREFIX + name, "").lower()) for name, shape in SETTINGS.items()]
    period, trigger, every = (text if shape.fullmatch(text) else None for shape, text in values)
    return SamplingSettings(int(period) if period else None, trigger, int(every) if every else None)


def _thread_names(trace: Trace, threads: pl.Series, names: NameTable) -> pl.DataFrame:
    rows = trace.read("ThreadNames", ["globalTid", "nameId"]).drop_nulls()
    mine = rows.filter(pl.col("globalTid").is_in(threads.unique().implode()))
    mine = mine.unique("globalTid", keep="last", maintain_order=True)
    frame = mine.select(pl.col("globalTid").alias("thread"), _texts(mine["nameId"], names).alias("name"))
    return conform(frame, THREAD_NAMES, "thread_names")
