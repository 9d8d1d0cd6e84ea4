"""The units of work of a process on one device, in the order in which the host issued them; and those of a CPU run.

Each kernel, whole graph and copy is a unit; the nodes that one graph launch ran are one; so is a run of waits. Sets and
migrations of managed memory are left out: allocators and page faults make them, not the program's loop.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.phases import words
from wallsplit.ledger.rows import Rows
from wallsplit.model import Model
from wallsplit.model.annotations import Annotations
from wallsplit.model.names import Names
from wallsplit.ranks import ranked
from wallsplit.schema import MEMORY_OPERATIONS
from wallsplit.why.steps.ranges import shapes
from wallsplit.why.steps.units import COPY, GRAPH, HOST_COPY, KERNEL, SYNC, Ints, Units

_KERNEL, _REPLAY, _COPY = range(3)
"""Kinds of operations in Rows.operations; sets, 3, make no unit."""
_MIGRATIONS = [i for i, name in enumerate(MEMORY_OPERATIONS) if "Unified" in name]
_HOST_COPIES = [MEMORY_OPERATIONS.index(f"[CUDA memcpy {kind}]") for kind in ("Host-to-Device", "Device-to-Host")]


def launch_sequence(model: Model, rows: Rows) -> Units:
    """Return the units of work of one process on one device."""
    calls = _Calls.of(rows.calls, model.correlation.size)
    operations = _operations(rows)
    number = operations.number
    call = calls.earliest[number]
    first, nodes = _one_per_graph(number, operations.is_node & (call >= 0))
    token = _tokens(operations, rows, first, nodes)
    kind = np.array([KERNEL, GRAPH, COPY], np.uint8)[operations.kind[first]]
    kind[np.isin(operations.copy[first], _HOST_COPIES)] = HOST_COPY
    kind[nodes > 0] = GRAPH
    call, number, gpu = call[first], number[first], operations.start[first]
    has_call = call >= 0
    host = np.where(has_call, _at(calls.start, call), gpu)
    every = rows.operations
    last_end = model.correlation.latest(every["number"].to_numpy(), every["end"].to_numpy())
    units = Units(
        token=token,
        kind=kind,
        host=host,
        returned=np.where(has_call, _at(calls.end, call), host),
        gpu=gpu,
        end=np.where(has_call, last_end[number], host),
    )
    return _in_host_order(units, _waits(rows.calls, model.names, token.max(initial=-1) + 1))


def range_sequence(ranges: Annotations, names: Names) -> Units:
    """Return the ranges of the thread with most of them as units: the launch sequence of a run without a GPU."""
    threads, of_range = ranked(ranges.thread)
    mine = ranges.at(np.flatnonzero(of_range == np.argmax(np.bincount(of_range, minlength=len(threads)))))
    shape, texts = shapes(mine, names)
    token = pl.Series([words(text) for text in texts]).rank("dense").to_numpy().astype(np.int64)[shape[mine.text]] - 1
    by_text = names.places.to_numpy()[mine.text]
    order = np.lexsort((by_text, mine.end, mine.start))
    start, end = mine.start[order], mine.end[order]
    return Units(token[order], np.full(len(order), KERNEL, np.uint8), start, end, start, end)


@dataclass(frozen=True)
class _Calls:
    start: Times
    end: Times
    earliest: npt.NDArray[np.int32]
    """The row of the call with each correlation number that begins first; -1 where there is none."""

    @classmethod
    def of(cls, calls: pl.DataFrame, numbers: int) -> "_Calls":
        start, number = calls["start"].to_numpy(), calls["number"].to_numpy()
        order = np.argsort(start, kind="stable")[::-1]
        earliest = np.full(numbers, -1, np.int32)
        earliest[number[order]] = order  # of equal numbers the last one stays: that which begins first
        return cls(start, calls["end"].to_numpy(), earliest)


def _at(times: Times, rows: npt.NDArray[np.int32]) -> Times:
    """Return the times at some rows; anything for row -1, of no call."""
    return times.take(rows, mode="clip") if len(times) else np.zeros(len(rows), np.int64)


@dataclass(frozen=True)
class _Operations:
    """Kernels, whole graphs and copies by start on the GPU, one entry each."""

    start: Times
    number: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    row: npt.NDArray[np.uint32]
    """Row in the frame of its kind."""
    copy: npt.NDArray[np.int8]
    """What a copy copies: position in MEMORY_OPERATIONS; -1 of a kernel or graph."""
    is_node: npt.NDArray[np.bool_]


def _operations(rows: Rows) -> _Operations:
    every = rows.operations
    kind, row = every["kind"].to_numpy(), every["row"].to_numpy()
    copies = np.flatnonzero(kind == _COPY)
    copy = np.full(len(kind), -1, np.int8)
    copy[copies] = rows.memory_ops["operation"].to_physical().to_numpy()[row[copies]]
    is_node = np.zeros(len(kind), np.bool_)
    for which, frame in ((_KERNEL, rows.kernels), (_COPY, rows.memory_ops)):
        if frame["is_node"].any():
            is_node[kind == which] = frame["is_node"].to_numpy()[row[kind == which]]
    is_kept = kind <= _COPY
    is_kept[copies[np.isin(copy[copies], _MIGRATIONS)]] = False
    kept = slice(None) if is_kept.all() else np.flatnonzero(is_kept)
    start, number = every["start"].to_numpy(), every["number"].to_numpy()
    return _Operations(start[kept], number[kept], kind[kept], row[kept], copy[kept], is_node[kept])


def _one_per_graph(number: npt.NDArray[np.int32], is_node: npt.NDArray[np.bool_]) -> tuple[Ints | slice, Ints]:
    """Return (operations, nodes): one operation per unit, the first of a graph's, and how many nodes it stands for."""
    nodes = np.flatnonzero(is_node)
    if not len(nodes):
        return slice(None), np.zeros(len(number), np.int64)
    numbers, graph = ranked(number[nodes])
    first = np.empty(len(numbers), np.int64)
    first[graph[::-1]] = nodes[::-1]  # of equal numbers the last one stays: the first node
    stands_for = np.zeros(len(number), np.int64)
    stands_for[first] = np.bincount(graph, minlength=len(numbers))
    kept = np.flatnonzero(~is_node | (stands_for > 0))
    return kept, stands_for[kept]


def _tokens(operations: _Operations, rows: Rows, first: Ints | slice, nodes: Ints) -> Ints:
    """Return a number for what each unit does: a kernel's name, a copy's kind, a graph's executable.

    A graph recorded by node is told by its first node and the number of its nodes.
    """
    kind, row, copy = operations.kind[first], operations.row[first], operations.copy[first]
    is_kernel, is_node = kind == _KERNEL, nodes > 0
    names = 1 + max(int(str(rows.kernels[column].max() or 0)) for column in ("name", "short_name"))
    token = names + copy.astype(np.int64)
    token[is_kernel] = rows.kernels["name"].to_numpy()[row[is_kernel]]
    by_node = is_kernel & is_node
    token[by_node] = rows.kernels["short_name"].to_numpy()[row[by_node]]
    executable = pl.when(pl.col("executable") != 0).then("executable").otherwise("graph").fill_null(0)
    graphs = rows.replays.select(executable).to_series().to_numpy()[row[kind == _REPLAY]]
    beyond = names + len(MEMORY_OPERATIONS)
    token[kind == _REPLAY] = beyond + ranked(graphs)[1]
    token[is_node] = beyond + len(graphs) + ranked(token[is_node] * (len(operations.row) + 1) + nodes[is_node])[1]
    return ranked(token)[1]


def _waits(calls: pl.DataFrame, names: Names, token: int) -> Units:
    """Return the driving threads' calls that wait for the device."""
    waits = calls.filter("is_driving", api_class="sync", booked_class="sync")
    distinct = waits["name"].unique()
    blocking = distinct.filter(names.text(distinct).str.ends_with("Synchronize"))
    waits = waits.filter(pl.col("name").is_in(blocking.implode()))
    start, end = waits["start"].to_numpy(), waits["end"].to_numpy()
    return Units(np.full(len(start), token), np.full(len(start), SYNC, np.uint8), start, end, start, end)


def _in_host_order(units: Units, waits: Units) -> Units:
    """Return units, given by their start on the GPU, and waits in host order, of waits in a row the first one only."""
    both = waits.followed_by(units)  # a wait comes before an operation issued at once
    order = np.argsort(both.host, kind="stable")
    is_wait = order < len(waits)
    is_wait[1:] &= is_wait[:-1]
    is_wait[:1] = False
    return both.of(order[~is_wait])
