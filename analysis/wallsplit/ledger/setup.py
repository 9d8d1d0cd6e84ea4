"""Set-up by cause: which calls create a context or load code, whatever they are called (docs/ledger.md, Set-up).

CUDA does both lazily, inside whatever call needs them first.
"""

import re
from collections import defaultdict

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.model import Names
from wallsplit.ranks import ranked
from wallsplit.schema import API_CLASSES

LONG_NS = 1_000_000
"""Shorter calls did not wait for a context or for code."""

CREATES_CONTEXT = re.compile(r"(CtxCreate|PrimaryCtxRetain|^cudaSetDevice$|^cudaInitDevice$)")
SWITCHES_CONTEXT = re.compile(r"^(cudaSetDevice|cudaInitDevice|cuCtxSetCurrent|cuCtxPushCurrent)$")
NEEDS_CONTEXT = re.compile(r"^cuda(?!GetDevice|DeviceGet|DriverGet|RuntimeGet|GetLast|DeviceReset)")
"""Runtime calls that make a context where there is none; driver calls need one already and never make it."""
STARTS_PROFILER = re.compile(r"ProfilerStart$")

_SETUP = API_CLASSES.index("setup")
_LAUNCH = API_CLASSES.index("launch")
_SYNC = API_CLASSES.index("sync")
_NOWHERE = np.empty(0, np.intp)


def set_up_by_cause(
    calls: pl.DataFrame, kernels: pl.DataFrame, replays: pl.DataFrame, memory_ops: pl.DataFrame, names: Names
) -> npt.NDArray[np.uint8]:
    """Return the position in API_CLASSES that each call of a process is booked under.

    All frames are of one process, in file order, with the correlation `number` of each row.
    """
    codes = calls["booked_class"].to_physical().to_numpy().astype(np.uint8)
    is_long = (calls["end"] - calls["start"]).to_numpy() >= LONG_NS
    if not is_long.any():
        return codes
    starts = calls["start"].to_numpy()
    order = np.argsort(starts, kind="stable")
    contexts = _context_creation(calls, codes, is_long, order, (kernels, replays, memory_ops), names)
    loading = _loading(calls, codes, is_long, order, kernels, replays)
    codes[contexts] = _SETUP
    codes[loading] = _SETUP
    return codes


def _context_creation(
    calls: pl.DataFrame,
    codes: npt.NDArray[np.uint8],
    is_long: npt.NDArray[np.bool_],
    order: npt.NDArray[np.intp],
    operations: tuple[pl.DataFrame, ...],
    names: Names,
) -> list[int]:
    """Return the rows of the calls that create a context on the way."""
    first_operation = min((int(str(f["start"].min())) for f in operations if f.height), default=None)
    missing = max(1, len({device for frame in operations for device in frame["device"].unique()}))
    name = calls["name"]
    creates, switches, needs, starts_profiler = (
        _named(name, names, pattern) for pattern in (CREATES_CONTEXT, SWITCHES_CONTEXT, NEEDS_CONTEXT, STARTS_PROFILER)
    )
    makes = is_long & needs & ~switches & (codes != _SYNC)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    candidates = np.flatnonzero(makes | starts_profiler | (is_long & creates))
    starts, threads = calls["start"].to_numpy(), calls["thread"].to_numpy()
    switched = _by_thread(threads[switches], place[switches])
    last_making: dict[int, int] = defaultdict(lambda: -1)  # per thread: how many switches came before its last one
    result = []
    for row in candidates[np.argsort(place[candidates])]:
        if (first_operation is not None and starts[row] >= first_operation) or missing <= 0:
            break
        if starts_profiler[row]:
            break  # the recording began later: whatever contexts there are exist already
        if is_long[row] and creates[row]:
            missing -= 1
        if makes[row]:
            thread = int(threads[row])
            before = int(np.searchsorted(switched.get(thread, _NOWHERE), place[row]))
            if not creates[row] and last_making[thread] != before:
                result.append(int(row))
                missing -= 1
            last_making[thread] = before
    return result


def _by_thread(threads: npt.NDArray[np.int64], places: npt.NDArray[np.intp]) -> dict[int, npt.NDArray[np.intp]]:
    """Return the places of each thread, ascending."""
    order = np.lexsort((places, threads))
    bounds = np.flatnonzero(np.diff(threads[order])) + 1
    return {int(threads[rows[0]]): places[rows] for rows in np.split(order, bounds) if len(rows)}


def _named(name: pl.Series, names: Names, pattern: re.Pattern[str]) -> npt.NDArray[np.bool_]:
    distinct = name.unique()
    texts = names.text(distinct).to_list()
    wanted = [row for row, text in zip(distinct, texts, strict=True) if pattern.search(text)]
    return name.is_in(wanted).to_numpy()


def _loading(
    calls: pl.DataFrame,
    codes: npt.NDArray[np.uint8],
    is_long: npt.NDArray[np.bool_],
    order: npt.NDArray[np.intp],
    kernels: pl.DataFrame,
    replays: pl.DataFrame,
) -> npt.NDArray[np.intp]:
    """Return the rows of the long calls that launch a kernel, or a graph, which the process never launched before."""
    numbers = calls["number"].to_numpy()
    what = np.full(int(max(_top(f["number"]) for f in (calls, kernels, replays))) + 1, -1, np.int64)
    executables, graph = ranked(replays["executable"].fill_null(-1).to_numpy())
    graph_base = _top(kernels["name"]) + 1
    for frame, key in ((replays, graph_base + graph), (kernels, kernels["name"].to_numpy())):
        earliest_last = np.argsort(frame["start"].to_numpy(), kind="stable")[::-1]
        what[frame["number"].to_numpy()[earliest_last]] = key[earliest_last]  # of several, the earliest stays
    launches = order[codes[order] == _LAUNCH]
    keys = what[numbers[launches]]
    launches, keys = launches[keys >= 0], keys[keys >= 0]
    first = np.full(graph_base + len(executables), -1, np.intp)
    first[keys[::-1]] = launches[::-1]
    first = first[first >= 0]
    return first[is_long[first]]


def _top(values: pl.Series) -> int:
    return -1 if values.is_empty() else int(str(values.max()))
