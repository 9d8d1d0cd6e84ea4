"""What was recorded as tracks: CUDA calls and ranges by thread, operations by stream, arrows between them."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.kernel_labels import label_of
from wallsplit.export.slices import Process, Track, named_slices
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.model.nvtx import NO_THREAD
from wallsplit.text import for_people

STREAMS = 32
"""Of more streams than these on one GPU, all share lanes."""
LONGEST_NAME = 500
_THREAD = 0xFFFFFF
_CORRELATION = (1 << 40) - 1


@dataclass(frozen=True, eq=False)
class Recorded:
    """The rows of a trace that are shown, each frame sorted by start."""

    calls: pl.DataFrame
    """start, end, pid, thread, text, arrow: the id of the arrow that begins here, 0 where none does."""
    operations: pl.DataFrame
    """start, end, pid, device, stream, text, arrow: the id of the arrow that ends here."""
    ranges: pl.DataFrame
    """start, end, pid, thread, style, text."""

    @property
    def pids(self) -> set[int]:
        """Return the processes that have rows."""
        return {int(pid) for frame in (self.calls, self.operations, self.ranges) for pid in frame["pid"].unique()}

    @property
    def first_ns(self) -> int:
        """Return the earliest time of any row, 0 without rows."""
        starts = [int(f["start"][0]) for f in (self.calls, self.operations, self.ranges) if f.height]
        return min(starts, default=0)


def recorded(model: Model, window: Window | None) -> Recorded:
    """Return the rows of a trace, whole, that overlap a window; None = all rows."""
    overlaps = pl.lit(value=True)
    if window is not None:
        overlaps = (pl.col("end") >= window.start_ns) & (pl.col("start") < window.end_ns)
    calls = _timed(model.api_calls).with_columns(
        pl.Series("number", model.correlation.calls), text=_shown(model.api_calls["name"], model)
    )
    operations = _operations(model)
    ranges = _timed(model.nvtx, "style").with_columns(text=_shown(model.nvtx["range"], model))
    calls, operations, ranges = (
        f.filter(overlaps).sort("start", maintain_order=True) for f in (calls, operations, ranges)
    )
    first_call, first_operation = _first(calls["number"]), _first(operations["number"])
    linked = np.intersect1d(calls["number"].to_numpy()[first_call], operations["number"].to_numpy()[first_operation])
    return Recorded(
        calls.with_columns(arrow=_arrows(calls, first_call, linked)).drop("number"),
        operations.with_columns(arrow=_arrows(operations, first_operation, linked)).drop("number"),
        ranges,
    )


def recorded_tracks(rows: Recorded, model: Model, process: Process) -> Iterator[Track]:
    """Yield the tracks of one process: calls and ranges by thread, operations by GPU and stream."""
    own = pl.col("pid") == process.pid
    for (thread,), part in rows.calls.filter(own).group_by("thread", maintain_order=True):
        yield Track(process, "CUDA calls", f"CUDA calls, {_thread(thread)}", named_slices(part, arrows="out"))
    for (thread, style), part in rows.ranges.filter(own).group_by("thread", "style", maintain_order=True):
        kind = "" if style == "PushPop" else ", started and ended"
        yield Track(process, "NVTX", f"NVTX, {_thread(thread)}{kind}", named_slices(part))
    for (device,), part in (
        rows.operations.filter(own).sort("device", "start", maintain_order=True).group_by("device", maintain_order=True)
    ):
        gpu = f"GPU {model.physical_gpu(process.pid, int(str(device)))}"
        for name, own_rows in _by_stream(part):
            yield Track(process, gpu, f"{gpu}, {name}", named_slices(own_rows, arrows="in"), nests=False)


def _by_stream(operations: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    streams = operations["stream"].unique().sort().to_list()
    if len(streams) > STREAMS:
        yield f"{len(streams)} streams", operations
        return
    for stream in streams:
        name = "stream not recorded" if stream is None else f"stream {stream}"
        yield name, operations.filter(pl.col("stream").eq_missing(pl.lit(stream)))


def _thread(thread: object) -> str:
    return "across threads" if thread == NO_THREAD else f"thread {int(str(thread)) & _THREAD}"


def _timed(frame: pl.DataFrame, *more: str) -> pl.DataFrame:
    ids = [column for column in ("correlation_id",) if column in frame.columns]
    return frame.select("start", "end", "pid", "thread", *more, *ids)


def _operations(model: Model) -> pl.DataFrame:
    """Return all GPU operations with what they are called and the number that links them to their calls."""
    graph = pl.concat_str(pl.lit("CUDA graph "), pl.col("graph").fill_null(0).cast(pl.String))
    texts = (
        label_of(model, model.kernels["name"]),
        model.graph_replays.select(graph).to_series(),
        model.memory_ops["operation"].cast(pl.String),
    )
    columns = ("start", "end", "pid", "device", "stream", "correlation_id")
    frames = [
        frame.select(columns).with_columns(pl.Series("number", numbers), text.alias("text"))
        for frame, numbers, text in zip(model.gpu_operations, model.correlation.operations, texts, strict=True)
    ]
    return pl.concat(frames)


def _shown(rows: pl.Series, model: Model) -> pl.Series:
    """Return the texts of rows of Names as people see them."""
    distinct = rows.unique().sort()
    texts = [for_people(text, LONGEST_NAME) for text in model.names.text(distinct)]
    return pl.Series(texts, dtype=pl.String).gather(distinct.search_sorted(rows))


def _first(numbers: pl.Series) -> npt.NDArray[np.intp]:
    """Return the first row of each number."""
    return np.unique(numbers.to_numpy(), return_index=True)[1]


def _arrows(rows: pl.DataFrame, first: npt.NDArray[np.intp], linked: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """Return the id of the arrow of each row: of the first one of each number that has both ends, else 0."""
    ends = first[np.isin(rows["number"].to_numpy()[first], linked)]
    process = rows["pid"].to_numpy().astype(np.uint64)[ends]
    correlation = (rows["correlation_id"].fill_null(0).to_numpy()[ends] & _CORRELATION).astype(np.uint64)
    result = np.zeros(rows.height, np.uint64)
    result[ends] = process << np.uint64(40) | correlation
    return result
