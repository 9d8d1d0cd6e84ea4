"""How much of the GPU do the kernels fill, by their grids and what each block takes?

nvidia-smi calls a GPU fully used while one block of one kernel runs. Coverage asks how many of its streaming
multiprocessors (SMs) have work, fill how many of their block slots are taken, occupancy how many of their warps could
be resident.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.breakdowns.statistics import overlapping
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times, clip, total_ns
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import mask, summed, where
from wallsplit.schema import SM, Gpus
from wallsplit.why.sm_limits import LIMITS, SHAPE, WARP, Multiprocessors

Floats = npt.NDArray[np.float64]

_WHOLE = 1 << 40
"""A weight of 1 as an integer: sums of weights that come and go are exact, and 0 again when nothing runs."""
_KERNEL_SHAPE = ["blocks", *SHAPE]


@dataclass(frozen=True)
class Sm:
    """How kernels use the SMs of a device in a window. None = not known, for the `reason`."""

    kernel_active_ratio: float
    """Time with a kernel or graph replay ÷ window: what nvidia-smi calls utilisation."""
    sm_count: int | None = None
    sm_coverage: float | None = None
    """Share of the SMs with work, averaged over the window."""
    sm_coverage_upper: float | None = None
    """The same if every graph replay recorded as a whole covered all of them; None without such replays."""
    reason: str | None = None
    sm_coverage_while_active: float | None = None
    """Averaged over the time with a kernel."""
    slot_fill: float | None = None
    """Share of the block slots that are taken, averaged over the window."""
    warp_occupancy: float | None = None
    """Share of the warps that are resident, averaged over the window."""
    time_in_small_grids_ratio: float | None = None
    """Share of the kernel time in grids of fewer blocks than there are SMs."""
    time_in_tail_ratio: float | None = None
    """Share of the kernel time lost to SMs without work in the last round of grids of several rounds."""
    theoretical_occupancy_mean: float | None = None
    """Resident ÷ maximum warps of an SM, weighted by kernel time."""
    limits: dict[str, int] | None = None
    """Kernels by what limits their blocks on an SM (sm_limits.LIMITS); only what occurs, by name."""
    impossible_count: int | None = None
    """Kernels of which, by these figures, no block fits on an SM; taken as one block."""


@dataclass(frozen=True)
class _Use:
    """What kernels of each distinct shape do to the SMs; arrays in the order of the shapes."""

    rounds: npt.NDArray[np.int64]
    coverage: Floats
    fill: Floats
    warps_fill: Floats
    occupancy: Floats
    limit: npt.NDArray[np.intp]
    is_impossible: npt.NDArray[np.bool_]


def sm(activity: Activity, window: Window, gpus: Gpus) -> Sm | None:
    """Return the use of the SMs in the window, None without a device.

    Kernels are cut at the window's ends; `limits` and `impossible_count` count all that overlap it.
    """
    if activity.device is None or activity.rows is None or activity.layers is None:
        return None
    wall, kernels_run, graphs_run = window.wall_ns, mask("gpu.kernel", "gpu.comm"), mask("gpu.graph")
    running_ns = _ns(activity, window, kernels_run)
    opaque = 0 if activity.rows.replays.is_empty() else _ns(activity, window, graphs_run, never=kernels_run)
    active_ratio = (running_ns + opaque) / wall
    row = gpus.filter(pl.col("gpu") == activity.gpu)
    multiprocessors = Multiprocessors.of(row.row(0, named=True)) if row.height else None
    count = multiprocessors.count if multiprocessors else None
    if activity.rows.kernels.is_empty() and activity.rows.replays.is_empty():
        return Sm(active_ratio, count, reason="no kernel was recorded")
    if multiprocessors is None:
        return Sm(active_ratio, reason="the export does not describe the GPU")
    kernels = _Kernels.within(activity.rows.kernels, window)
    use = _use(multiprocessors, kernels.shapes)
    covered = kernels.integral(use.coverage)
    is_tail = use.rounds > 1
    return Sm(
        kernel_active_ratio=active_ratio,
        sm_count=multiprocessors.count,
        sm_coverage=covered / wall,
        sm_coverage_upper=(covered + opaque) / wall if opaque else None,
        sm_coverage_while_active=covered / running_ns if running_ns else None,
        slot_fill=kernels.integral(use.fill) / wall,
        warp_occupancy=kernels.integral(use.warps_fill) / wall,
        time_in_small_grids_ratio=kernels.mean(kernels.shapes["blocks"].to_numpy() < multiprocessors.count),
        time_in_tail_ratio=kernels.mean(np.where(is_tail, 1 - use.coverage, 0.0)),
        theoretical_occupancy_mean=kernels.mean(use.occupancy),
        limits=kernels.counted(use.limit),
        impossible_count=int(kernels.count[use.is_impossible].sum()),
    )


def _ns(activity: Activity, window: Window, layers: int, *, never: int = 0) -> int:
    """Return for how long any layer of a mask is active in the window, and none of `never`."""
    return total_ns(clip(where(activity.timeline, layers, never=never), window.start_ns, window.end_ns))


def covered_ns(activity: Activity, window: Window, gpus: Gpus) -> float:
    """Return the integral of the SM coverage over the window, in ns; 0 where the GPU is not described."""
    if activity.rows is None or activity.rows.kernels.is_empty():
        return 0.0
    row = gpus.filter(pl.col("gpu") == activity.gpu)
    multiprocessors = Multiprocessors.of(row.row(0, named=True)) if row.height else None
    if multiprocessors is None:
        return 0.0
    kernels = _Kernels.within(activity.rows.kernels, window)
    return kernels.integral(_use(multiprocessors, kernels.shapes).coverage)


@dataclass(frozen=True)
class _Kernels:
    """The kernels of a window, by their distinct shapes: a trace has millions of kernels and hundreds of shapes."""

    shapes: pl.DataFrame
    count: npt.NDArray[np.int64]
    """Kernels per shape."""
    time_ns: Times
    """Sum of their lengths inside the window, per shape."""
    edges: Times
    """When kernels begin and end inside the window, ascending."""
    toggled: npt.NDArray[np.int64]
    """At each edge the shape, plus one: positive where such a kernel begins, negative where it ends."""

    @classmethod
    def within(cls, kernels: pl.DataFrame, window: Window) -> "_Kernels":
        met = overlapping(kernels.select("start", "end", *_KERNEL_SHAPE), window)
        shapes = (
            met.group_by(_KERNEL_SHAPE, maintain_order=True)
            .agg(pl.len().cast(pl.Int64).alias("count"))
            .with_row_index("shape")
        )
        joined = met.join(shapes, on=_KERNEL_SHAPE, how="left", nulls_equal=True, maintain_order="left")
        shape = joined["shape"].to_numpy().astype(np.int64)
        starts, ends = (np.clip(met[edge].to_numpy(), window.start_ns, window.end_ns) for edge in ("start", "end"))
        edges = np.concatenate([starts, ends])
        order = np.argsort(edges, kind="stable")
        return cls(
            shapes=shapes,
            count=shapes["count"].to_numpy(),
            time_ns=summed(shape, ends - starts, shapes.height),
            edges=edges[order],
            toggled=np.concatenate([shape + 1, -shape - 1])[order],
        )

    def integral(self, weights: Floats) -> float:
        """Return the integral, in ns, of the sum of the weights of the running kernels, at most 1 at each instant."""
        whole = np.rint(weights * _WHOLE).astype(np.int64)
        signed = np.concatenate([-whole[::-1], [0], whole])  # by shape + 1, counted from the middle
        running = np.cumsum(signed[self.toggled + len(whole)])[:-1]
        covered = np.minimum(running, _WHOLE) * np.diff(self.edges).astype(np.float64)
        return float(covered.sum()) / _WHOLE  # not `@`: BLAS adds up in an order that depends on its threads

    def mean(self, values: npt.NDArray[np.floating | np.bool_]) -> float | None:
        """Return the mean of a figure of the shapes, weighted by kernel time; None without any time."""
        total = int(self.time_ns.sum())
        return float(values @ self.time_ns) / total if total else None

    def counted(self, limit: npt.NDArray[np.intp]) -> dict[str, int]:
        """Return the kernels by what limits them."""
        counts = np.bincount(limit, weights=self.count, minlength=len(LIMITS)).astype(np.int64)
        return {name: int(count) for name, count in sorted(zip(LIMITS, counts, strict=True)) if count}


def _use(multiprocessors: Multiprocessors, shapes: pl.DataFrame) -> _Use:
    """Return what kernels of each shape do to the SMs. Blocks go to SMs without one before they stack."""
    sms, most_warps = multiprocessors.count, multiprocessors.limits.warps
    fitting, limit = multiprocessors.resident(shapes)
    resident = np.maximum(fitting, 1)
    blocks = shapes["blocks"].to_numpy()
    warps = -(-shapes["threads"].cast(pl.Int64).to_numpy() // WARP)
    slots = sms * resident
    rounds = -(-blocks // slots)
    last = blocks - (rounds - 1) * slots
    return _Use(
        rounds=rounds,
        coverage=(rounds - 1 + np.minimum(1.0, last / sms)) / rounds,
        fill=blocks / rounds / slots,
        warps_fill=np.minimum(1.0, blocks / rounds / sms * warps / most_warps),
        occupancy=resident * warps / most_warps,
        limit=limit,
        is_impossible=fitting < 1,
    )


def table(found: Iterable[tuple[int, int | None, Sm | None]]) -> pl.DataFrame:
    """Return `schema.SM`: a row per (process, device) of which something is known."""
    rows = [{"pid": pid, "device": device, **_columns(use)} for pid, device, use in found if use]
    return pl.DataFrame(rows, schema=SM)


def _columns(use: Sm) -> dict[str, object]:
    counts = {} if use.limits is None else {name: use.limits.get(name, 0) for name in LIMITS}
    limited = {f"limited_by_{name.replace(' ', '_')}_count": counts.get(name) for name in LIMITS}
    return {**{name: value for name, value in vars(use).items() if name != "limits"}, **limited}
