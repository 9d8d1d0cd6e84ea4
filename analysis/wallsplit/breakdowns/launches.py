"""What lies between a launch call and its kernel's end? As nsys' cuda_kern_exec_sum."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.breakdown import Breakdown
from wallsplit.breakdowns.kernel_labels import label_of
from wallsplit.breakdowns.statistics import largest_first, overlapping, summarise_groups
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.ledger import Window
from wallsplit.model.model import Model
from wallsplit.schema import LAUNCHES
from wallsplit.trace.kinds import numbered

QUEUE = "queue"
"""The time a kernel waits: not counted where it starts before its call returns."""
KEYS = ("pid", "tid", "device", "api_name", "kernel_name")
Pairs = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Launches:
    """Kernels and the calls that launched them, one entry per pair (Correlation.pairs)."""

    model: Model
    kernel: Pairs
    call: Pairs

    def of_kernels(self, column: str) -> pl.Series:
        """Return a column of the kernels, pair by pair."""
        return self.model.kernels[column].gather(self.kernel)

    def of_calls(self, column: str) -> pl.Series:
        """Return a column of the calls, pair by pair."""
        return self.model.api_calls[column].gather(self.call)

    def keys(self) -> pl.DataFrame:
        """Return what each pair is counted under: KEYS, names as rows of Names."""
        calls = self.of_calls("pid"), self.of_calls("thread") & 0xFFFFFF, self.of_calls("name")
        kernels = self.of_kernels("device"), self.of_kernels("name")
        return pl.DataFrame(dict(zip(KEYS, (*calls[:2], kernels[0], calls[2], kernels[1]), strict=True)))

    def times(self) -> Iterator[tuple[str, Times]]:
        """Give four times of each pair in ns, one at a time: of millions of pairs, each is megabytes."""
        call_end, kernel_start = self.of_calls("end").to_numpy(), self.of_kernels("start").to_numpy()
        yield QUEUE, kernel_start - call_end
        kernel_end = self.of_kernels("end").to_numpy()
        yield "kernel", kernel_end - kernel_start
        del kernel_start
        call_start = self.of_calls("start").to_numpy()
        yield "api", call_end - call_start
        yield "total", np.maximum(call_end, kernel_end) - call_start


def compute(model: Model, window: Window | None) -> pl.DataFrame:
    """Return `schema.LAUNCHES` in ns: one row per thread, device, API name and kernel name.

    A launch lasts from its call's start to the later end of call and kernel; that span decides whether it overlaps the
    window. Kernels without a call in the trace are left out. Where two calls carry one correlation id, the kernel
    counts under each, as `nsys stats` counts it.

    Raises:
        TraceError: the launches add up to more than 64 bits hold, as those of no real trace do.
    """
    launches = launched_kernels(model, window)
    keys = launches.keys()
    kinds, first = numbered(keys)
    size, group = len(first), kinds.astype(np.uint32)
    del kinds
    count = np.bincount(group, minlength=size)
    summary = keys[first].with_columns(
        pl.Series("group", np.arange(size, dtype=np.uint32)),
        pl.Series("count", count),
        pl.Series("shared_call", _calls_per_group(launches.call, group, size) < count),
    )
    del keys
    for name, lengths in launches.times():
        some = np.flatnonzero(lengths >= 0) if name == QUEUE else slice(None)
        figures = summarise_groups(group[some], lengths[some], size, name, "ns")
        summary = summary.join(figures.rename({"count": f"{name}_count"}), on="group", how="left")
    named = summary.with_columns(
        model.names.text(summary["api_name"]),
        model.names.text(summary["kernel_name"]),
        label_of(model, summary["kernel_name"]).alias("kernel_label"),
        pl.col("pid", "tid", "device").cast(pl.Int64),
        pl.col("queue_count").fill_null(0),
    )
    return largest_first(named, "total_avg_ns", *KEYS)


def launched_kernels(model: Model, window: Window | None) -> Launches:
    """Return the kernels whose call is in the trace, where the launch overlaps the window."""
    launches = Launches(model, *model.correlation.pairs(model.correlation.operations[0]))
    if window is None:
        return launches
    ends = pl.Series("end", np.maximum(launches.of_calls("end").to_numpy(), launches.of_kernels("end").to_numpy()))
    spans = pl.DataFrame([launches.of_calls("start"), ends]).with_row_index("pair")
    inside = overlapping(spans, window)["pair"].to_numpy()
    return Launches(model, launches.kernel[inside], launches.call[inside])


def _calls_per_group(call: Pairs, group: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.int64]:
    """Return how many distinct calls the pairs of each group have."""
    if not len(call) or np.bincount(call).max() == 1:
        return np.bincount(group, minlength=size)
    pairs = pl.DataFrame({"call": call, "group": group}).unique()
    return np.bincount(pairs["group"].to_numpy(), minlength=size)


TABLE = Breakdown(
    "launches",
    "Launches",
    LAUNCHES,
    compute,
    needs=("kernels.correlation_id", "api_calls.correlation_id"),
)
