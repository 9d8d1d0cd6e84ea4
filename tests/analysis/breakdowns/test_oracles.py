"""Every table of every shared trace against NVIDIA's own `nsys stats`: integers exactly, the rest as it rounds."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import polars as pl
import pytest

from shared_traces import ORACLES, TRACES, needs_shared_traces
from wallsplit.breakdowns import tables
from wallsplit.model import load
from wallsplit.model.api_classes import normalised
from wallsplit.trace import Trace

Cell = str | float | int | None


@dataclass(frozen=True)
class Report:
    """One of nsys' reports: the table it is here, and its columns by ours, keys first."""

    table: str
    keys: dict[str, str]
    figures: dict[str, str]
    scale: float = 1
    decimals: int = 1


def titles(title: str, column: str, unit: str = "ns", shown: str = "ns") -> dict[str, str]:
    """Return nsys' five titles of the statistics of one quantity, by our columns."""
    kinds = {"avg": "Avg", "med": "Med", "min": "Min", "max": "Max", "stddev": "StdDev"}
    return {f"{column}{kind}_{unit}": f"{title}{name} ({shown})" for kind, name in kinds.items()}


def times(table: str, keys: dict[str, str], count: str) -> Report:
    figures = {"total_ns": "Total Time (ns)", "count": count, **titles("", "")}
    return Report(table, keys, figures)


REPORTS = {
    "cuda_api_sum": times("api_summary", {"name": "Name"}, "Num Calls"),
    "cuda_gpu_kern_sum": times("kernel_summary", {"name": "Name"}, "Instances"),
    "cuda_gpu_mem_time_sum": times("memory_time_summary", {"operation": "Operation"}, "Count"),
    "cuda_gpu_mem_size_sum": Report(
        "memory_size_summary",
        {"operation": "Operation"},
        {"total_bytes": "Total (MB)", "count": "Count", **titles("", "", "bytes", "MB")},
        scale=1e-6,
        decimals=3,
    ),
    "cuda_kern_exec_sum": Report(
        "launches",
        {"api_name": "API Name", "pid": "PID", "tid": "TID", "device": "DevId", "kernel_name": "Kernel Name"},
        {
            "count": "Count",
            "queue_count": "QCount",
            **titles("T", "total_"),
            **titles("A", "api_"),
            **titles("Q", "queue_"),
            **titles("K", "kernel_"),
        },
    ),
    "nvtx_sum": times("nvtx_summary", {"range": "Range", "style": "Style"}, "Instances"),
    "nvtx_gpu_proj_sum": Report(
        "nvtx_gpu_projection",
        {"range": "Range", "style": "Style"},
        {
            "projected_total_ns": "Total Proj Time (ns)",
            "range_total_ns": "Total Range Time (ns)",
            "count": "Range Instances",
            "gpu_op_count": "Total GPU Ops",
            "gpu_op_avg": "Avg GPU Ops",
            "level_avg": "Avg Range Lvl",
            "child_avg": "Avg Num Child",
            **titles("Proj ", "projected_"),
        },
    ),
    "osrt_sum": times("osrt_summary", {"name": "Name"}, "Num Calls"),
}
CASES = [
    (trace, report)
    for trace in TRACES
    for report in REPORTS
    if ORACLES is not None and (ORACLES / trace / f"{report}.csv").exists()
]


@cache
def our_tables(trace: str) -> dict[str, pl.DataFrame | None]:
    return tables(load(Trace.open(TRACES[trace])), None)


def oracle_rows(trace: str, name: str) -> list[dict[str, str]]:
    assert ORACLES is not None
    with (ORACLES / trace / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key_of(row: dict[str, str], report: Report) -> tuple[str, ...]:
    """Return the key of an oracle's row; names of API functions as we normalise them, which nsys does in part only."""
    texts = [row[title] for title in report.keys.values()]
    return (normalised(texts[0]), *texts[1:]) if report.table in ("api_summary", "launches") else tuple(texts)


def grouped(trace: str, name: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in oracle_rows(trace, name):
        groups.setdefault(key_of(row, REPORTS[name]), []).append(row)
    return groups


def as_printed(value: Cell, theirs: str, report: Report) -> bool:
    """Return whether a figure of ours is what nsys prints, up to the half of its last digit."""
    if value is None:  # nothing to count: nsys leaves it empty, its standard deviation is 0.0
        return theirs in ("", "0.0")
    if isinstance(value, int) and "." not in theirs:
        return value == int(theirs)
    half: float = 0.5 * 10**-report.decimals
    return abs(float(value) * report.scale - float(theirs)) <= half * 1.001  # their last digit of a large float


def merged(rows: Sequence[dict[str, str]], column: str, title: str) -> int | None:
    """Return a figure of several oracle rows that are one row of ours, if it follows from theirs."""
    how = sum if "count" in column or "_total_" in f"_{column}" else min if "min_" in column else max
    figures = [int(row[title]) for row in rows if row[title]]
    return how(figures) if figures else None


@needs_shared_traces
@pytest.mark.parametrize(("trace", "name"), CASES)
def test_every_row_equals_nsys_stats(trace: str, name: str) -> None:
    report = REPORTS[name]
    table = our_tables(trace)[report.table]
    assert table is not None
    theirs = grouped(trace, name)
    ours = {tuple(str(row[key]) for key in report.keys): row for row in table.iter_rows(named=True)}
    assert ours.keys() == theirs.keys()
    for key, rows in theirs.items():
        for column, title in report.figures.items():
            value = ours[key][column]
            if len(rows) == 1:
                assert as_printed(value, rows[0][title], report), (key, column, value, rows[0][title])
            elif table.schema[column] == pl.Int64:
                assert value == merged(rows, column, title), (key, column, value, rows)


@needs_shared_traces
@pytest.mark.parametrize("trace", TRACES)
def test_shares_are_percentages_of_what_is_listed(trace: str) -> None:
    for name, report in REPORTS.items():
        table = our_tables(trace)[report.table]
        if (trace, name) not in CASES or table is None or "share_ratio" not in table.columns:
            continue
        shares = {tuple(str(row[k]) for k in report.keys): row["share_ratio"] for row in table.iter_rows(named=True)}
        for key, rows in grouped(trace, name).items():
            percent = sum(float(row["Time (%)"]) for row in rows)
            assert abs(100 * shares[key] - percent) <= 0.0501 * len(rows), key


@needs_shared_traces
def test_the_oracles_cover_every_summary() -> None:
    assert {name for _, name in CASES} == set(REPORTS)
    assert len(CASES) > 100
