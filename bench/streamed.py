"""Ledgers and statistics of a trace of which a slice is in memory at a time: what docs/beyond-memory.md designs.

Rows are read twice, a chunk of a table at a time. The first reading tells what is decided on the whole trace, and when
each chunk begins. The second one takes the chunks in that order, books time up to the beginning of the next one, and
drops what has ended. Left out are latency, set-up by its cause and captures, for which more has to be carried along.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.merged import Statistics, added, of_names
from wallsplit.accounts import GPU_ACCOUNTS, LAYERS, OTHER_PROCESS
from wallsplit.intervals import Intervals, merge, union
from wallsplit.ledger.rows import DRIVING
from wallsplit.ledger.timeline import booked, distinct, timeline

Ints = npt.NDArray[np.int64]
Ledger = tuple[int, int | None]
"""Process and device."""
Masks = dict[Ledger, Counter[int]]
"""The ns of each set of active layers, bit k being layer k: accounts and exposed times are sums of these."""
DEVICES = 256
NO_DEVICE = DEVICES - 1
_PID_BITS = 24
_PROFILER = LAYERS.index("cuda.profiler")


class Rows(NamedTuple):
    """Some rows of a table: a column each."""

    start: Ints
    end: Ints
    key: Ints
    """Whose time it is, and which layer's: `key_of`."""
    name: Ints
    in_span: bool = True
    """Whether such rows begin and end the window."""

    def where(self, wanted: npt.NDArray[np.bool_]) -> "Rows":
        """Return the rows wanted."""
        return Rows(self.start[wanted], self.end[wanted], self.key[wanted], self.name[wanted])


Chunk = Callable[[], Rows]
"""Reads some rows of a table that stand one after another."""


def key_of(owner: Ints, device: Ints | int, layer: Ints | int) -> Ints:
    """Return process or thread, device and layer as one number; `owner` is nsys' global id."""
    return ((owner & ((1 << 48) - 1)) * DEVICES + device) * len(LAYERS) + layer


@dataclass
class Survey:
    """What the first reading tells: little, however many rows there are."""

    chunks: list[tuple[int, Chunk]] = field(default_factory=list)
    """When the first row of each chunk begins; empty ones are left out."""
    start_ns: int = np.iinfo(np.int64).max
    end_ns: int = np.iinfo(np.int64).min
    keys: set[int] = field(default_factory=set)
    statistics: dict[int, Statistics] = field(default_factory=dict)
    """Of the lengths of the rows of each name."""


def survey(chunks: Iterable[Chunk]) -> Survey:
    """Return what is decided on the whole trace."""
    found = Survey()
    for chunk in chunks:
        rows = chunk()
        if not len(rows.start):
            continue
        begun = int(rows.start.min())
        found.chunks.append((begun, chunk))
        found.keys.update(np.unique(rows.key).tolist())
        found.statistics = added(found.statistics, of_names(rows.name, rows.end - rows.start))
        if rows.in_span:
            found.start_ns = min(found.start_ns, begun)
            found.end_ns = max(found.end_ns, int(rows.end.max()))
    return found


def layers_of_keys(keys: set[int], gpus: Mapping[tuple[int, int], int]) -> dict[int, list[tuple[Ledger, int]]]:
    """Return the (ledger, layer) that rows of each key are booked in; `gpus` as `Model.physical_gpus` has them."""
    parts = {key: _parts(key) for key in sorted(keys)}
    on_gpu = {LAYERS.index(name) for name in GPU_ACCOUNTS}
    drives = {LAYERS.index(f"cuda.{name}") for name in DRIVING}
    devices: dict[int, set[int]] = defaultdict(set)
    callers: dict[int, set[int]] = defaultdict(set)
    driving: dict[int, set[int]] = defaultdict(set)
    for owner, device, layer in parts.values():
        pid = owner >> _PID_BITS
        if layer in on_gpu:
            devices[pid].add(device)
        elif layer != _PROFILER:
            devices[pid].update()  # a process that calls CUDA has a ledger, with or without a device
            callers[pid].add(owner)
            driving[pid].update({owner} if layer in drives else ())
    ledgers: dict[int, list[Ledger]] = {
        pid: [(pid, d) for d in sorted(own)] or [(pid, None)] for pid, own in devices.items()
    }
    every = [ledger for own in ledgers.values() for ledger in own]
    other = LAYERS.index(OTHER_PROCESS)

    def used(owner: int, device: int, layer: int) -> Iterator[tuple[Ledger, int]]:
        pid = owner >> _PID_BITS
        if layer in on_gpu:
            yield (pid, device), layer
            gpu = gpus.get((pid, device), device)
            yield from (((p, d), other) for p, d in every if p != pid and d is not None and gpus.get((p, d), d) == gpu)
        elif owner in (driving[pid] or callers[pid]):
            yield from ((ledger, layer) for ledger in ledgers[pid])

    return {key: list(used(*its)) for key, its in parts.items()}


def _parts(key: int) -> tuple[int, int, int]:
    rest, layer = divmod(key, len(LAYERS))
    owner, device = divmod(rest, DEVICES)
    return owner, device, layer


@dataclass
class Booked:
    """The merged result, and how many rows were in memory at most."""

    masks: Masks
    most_rows: int = 0


def book(found: Survey, gpus: Mapping[tuple[int, int], int]) -> Booked:
    """Return the ledgers of the whole trace, booked slice by slice and added up."""
    used = layers_of_keys(found.keys, gpus)
    result = Booked({ledger: Counter() for uses in used.values() for ledger, _ in uses})
    chunks = sorted(found.chunks, key=lambda chunk: chunk[0])
    nexts = [*(begun for begun, _ in chunks), found.end_ns][1:]
    held, settled = _joined([]), found.start_ns
    for (_, chunk), begins in zip(chunks, nexts, strict=True):
        held = _joined([held, chunk()])
        result.most_rows = max(result.most_rows, len(held.start))
        until = min(begins, found.end_ns)  # every row that begins before it is here
        if until > settled:
            _add(result.masks, held.where(held.start < until), used, settled, until)
            held, settled = held.where(held.end > until), until
    return result


def _joined(parts: Sequence[Rows]) -> Rows:
    nothing = np.empty(0, np.int64)
    start, end, key, name = (np.concatenate([nothing, *(part[place] for part in parts)]) for place in range(4))
    return Rows(start, end, key, name)


def _add(masks: Masks, rows: Rows, used: Mapping[int, Sequence[tuple[Ledger, int]]], start: int, end: int) -> None:
    """Add to `masks` what the rows are active in `[start, end)`."""
    order = np.argsort(rows.key, kind="stable")
    layers: dict[Ledger, list[list[Intervals]]] = {ledger: [[] for _ in LAYERS] for ledger in masks}
    for part in np.split(order, np.flatnonzero(np.diff(rows.key[order])) + 1) if len(order) else ():
        active = union(np.maximum(rows.start[part], start), np.minimum(rows.end[part], end))
        for ledger, layer in used[int(rows.key[part[0]])]:
            layers[ledger][layer].append(active)
    for ledger, sets in layers.items():
        masks[ledger] += of_layers([merge(each) for each in sets], start, end)


def of_layers(layers: Sequence[Intervals], start: int, end: int) -> Counter[int]:
    """Return the ns of each set of layers in `[start, end)`."""
    whole = timeline(layers)
    kinds, codes = distinct(whole.active)
    (times,) = booked(whole.times, codes, len(kinds), np.array([start, end]), outside=0)
    return Counter({int(kind): int(ns) for kind, ns in zip(kinds, times, strict=True) if ns})
