"""How much each physical GPU did in the window, whichever process it worked for."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from wallsplit.intervals import Intervals, clip, merge, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.schema import GPU_USE, Gpus, conform

KERNELS_ACTIVE = ("gpu.kernel", "gpu.graph", "gpu.comm")


def gpu_use(gpus: Gpus, activities: Sequence[Activity], windows: Sequence[Window]) -> pl.DataFrame:
    """Return schema.GPU_USE, a row per row of `gpus`; of several windows, the time in any of them.

    Where a ledger on a GPU is incomplete, the times of that GPU are lower bounds.
    """
    inside = union(*(np.array(ends, np.int64) for ends in _ends(windows)))
    wall_ns = total_ns(inside)
    rows = []
    for gpu in gpus["gpu"]:
        own = [activity for activity in activities if activity.gpu == gpu]
        kernels = [activity.layers[name] for activity in own if activity.layers for name in KERNELS_ACTIVE]
        busy, active = (_within(sets, inside) for sets in ([activity.busy for activity in own], kernels))
        ratios = (busy / wall_ns, active / wall_ns) if wall_ns else (None, None)
        times = (busy, ratios[0], active, ratios[1]) if windows else (None,) * 4
        rows.append((gpu, *times, sorted({activity.pid for activity in own})))
    added = {name: kind for name, kind in GPU_USE.items() if name not in gpus.columns or name == "gpu"}
    use = pl.DataFrame(rows, schema=pl.Schema(added), orient="row")
    return conform(gpus.join(use, on="gpu", how="left", maintain_order="left"), GPU_USE, "gpu_use")


def _ends(windows: Sequence[Window]) -> tuple[list[int], list[int]]:
    return [window.start_ns for window in windows], [window.end_ns for window in windows]


def _within(sets: Sequence[Intervals], inside: Intervals) -> int:
    whole = merge(sets)
    return sum(total_ns(clip(whole, *ends)) for ends in zip(inside.starts.tolist(), inside.ends.tolist(), strict=True))
