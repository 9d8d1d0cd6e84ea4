"""The tables a ledger is made of, some rows at a time: runs of their leaves, decoded by wallsplit's page reader."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from bench.streamed import NO_DEVICE, Chunk, Ints, Rows, key_of
from wallsplit.accounts import LAYERS
from wallsplit.model.api_classes import api_class, normalised
from wallsplit.model.communication import communication_library
from wallsplit.trace.btree import PageFile
from wallsplit.trace.cells import cells_of
from wallsplit.trace.interning import PADDING
from wallsplit.trace.records import Column, RecordReader
from wallsplit.trace.tables import TableInfo, table_info

OF_OPERATIONS = ("globalPid", "deviceId")
GPU_LAYERS = {
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "gpu.graph",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "gpu.memcpy",
    "CUPTI_ACTIVITY_KIND_MEMSET": "gpu.memset",
}
Leaves = tuple[Ints, Ints]
"""Pages, and the number of rows on each."""


@dataclass(frozen=True)
class Chunks:
    """One export, read `rows` rows of a table at a time."""

    path: Path
    rows: int
    _kernel_layers: dict[int, int] = field(default_factory=dict)
    _call_layers: dict[int, int] = field(default_factory=dict)

    @cached_property
    def _db(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)

    def each(self) -> Iterator[Chunk]:
        """Yield how to read each chunk, table by table."""
        readers: dict[str, Callable[[str, Leaves], Rows]] = {
            "CUPTI_ACTIVITY_KIND_KERNEL": self._kernels,
            "CUPTI_ACTIVITY_KIND_RUNTIME": self._calls,
            "PROFILER_OVERHEAD": self._overhead,
            **dict.fromkeys(GPU_LAYERS, self._operations),
        }
        for table, reader in readers.items():
            if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ? AND rootpage > 0", (table,)).fetchone():
                yield from (partial(reader, table, leaves) for leaves in self._leaves(table))

    @property
    def gpus(self) -> dict[tuple[int, int], int]:
        """Return the physical GPU behind (process, device)."""
        try:
            found = self._db.execute("SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE").fetchall()
        except sqlite3.OperationalError:
            return {}
        return {(pid, device): gpu for pid, device, gpu in found if None not in (pid, device, gpu)}

    def _kernels(self, table: str, leaves: Leaves) -> Rows:
        start, end, pid, device, *ids = self._usable(table, leaves, *OF_OPERATIONS, "demangledName", "shortName")
        layers = (self._by_name(names, self._kernel_layers, _layer_of_kernel) for names in ids)
        return Rows(start, end, key_of(pid, device, np.maximum(*layers)), ids[0])

    def _calls(self, table: str, leaves: Leaves) -> Rows:
        start, end, thread, name = self._usable(table, leaves, "globalTid", "nameId")
        return Rows(start, end, key_of(thread, NO_DEVICE, self._by_name(name, self._call_layers, _layer_of_call)), name)

    def _overhead(self, table: str, leaves: Leaves) -> Rows:
        layer = LAYERS.index("cuda.profiler")
        start, end, thread = self._usable(table, leaves, "globalTid")
        return Rows(start, end, key_of(thread, NO_DEVICE, layer), np.full(len(start), -layer), in_span=False)

    def _operations(self, table: str, leaves: Leaves) -> Rows:
        layer = LAYERS.index(GPU_LAYERS[table])
        start, end, pid, device = self._usable(table, leaves, *OF_OPERATIONS)
        return Rows(start, end, key_of(pid, device, layer), np.full(len(start), -layer))

    def _by_name(self, ids: Ints, known: dict[int, int], of: Callable[[str], int]) -> Ints:
        """Return what `of` says of the texts of these ids; each text is looked at once."""
        distinct, place = np.unique(ids, return_inverse=True)
        for number in set(distinct.tolist()) - known.keys():
            found = self._db.execute("SELECT value FROM StringIds WHERE id = ?", (number,)).fetchone()
            known[number] = of(found[0] if found else "")
        return np.array([known[number] for number in distinct.tolist()], np.int64)[place]

    def _leaves(self, table: str) -> Iterator[Leaves]:
        """Yield runs of a table's leaves, each with about as many rows as a chunk is to have."""
        with PageFile(self.path) as file:
            leaves, counts = file.leaves(table_info(self._db, table).root_page)
        until = np.cumsum(counts)
        firsts = np.searchsorted(until, np.arange(0, until[-1], self.rows), side="right")
        for first, last in pairwise(np.unique(np.append(firsts, len(leaves))).tolist()):
            yield leaves[first:last], counts[first:last]

    def _usable(self, table: str, leaves: Leaves, *columns: str) -> list[Ints]:
        """Return start, end and these columns, 0 for null, of the rows that end, and not before they start."""
        start, end, *rest = _decoded(self.path, table_info(self._db, table), ("start", "end", *columns), *leaves)
        usable = ~start.nulls & ~end.nulls & (start.values <= end.values)
        others = [np.where(column.nulls, 0, column.values)[usable] for column in rest]
        return [start.values[usable], end.values[usable], *others]


def _layer_of_kernel(name: str) -> int:
    return LAYERS.index("gpu.comm" if communication_library(name) else "gpu.kernel")


def _layer_of_call(name: str) -> int:
    return LAYERS.index(f"cuda.{api_class(normalised(name))}")


def _decoded(path: Path, info: TableInfo, names: Sequence[str], leaves: Ints, counts: Ints) -> list[Column]:
    size, columns = int(counts.sum()), []
    for name in names:
        position = info.columns.index(name)
        values, nulls = np.empty(size, np.int64), np.zeros(size, np.bool_)
        columns.append(Column(name, position, "INTEGER", None, position == info.rowid_column, values, nulls))
    with PageFile(path) as file:
        reader, row = RecordReader(file, columns), 0
        buffer = np.zeros(min(file.block_pages, len(leaves)) * file.page_size + PADDING, np.uint8)
        for first in range(0, len(leaves), file.block_pages):
            block = slice(first, first + file.block_pages)
            file.read(leaves[block], buffer)
            rows = int(counts[block].sum())
            reader.decode(cells_of(file, buffer, counts[block]), slice(row, row + rows))
            row += rows
    return columns
