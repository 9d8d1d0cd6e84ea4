"""What do the GPU's own counters say, beside what follows from its kernels?"""

import numpy as np
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Window
from wallsplit.schema import GPU_METRICS, GpuMetricSamples


@dataclass(frozen=True)
class GpuMetricMeans:
    """Means of sampled counters over a window, as ratios. None = not sampled, or not a counter of this GPU.

    nsys records whole per cents, and 1 for anything above none: a mean of one per cent may stand for far less.
    """

    sample_count: int
    """Per counter, the fewest."""
    period_ns: int
    gr_active: float | None
    """Time with any engine at work."""
    sm_active: float | None
    """SMs with at least one warp: what `sm_coverage` models."""
    sm_issue: float | None
    """Cycles in which an SM issues an instruction."""
    tensor_active: float | None
    """Cycles in which tensor cores work."""
    dram_read: float | None
    """Share of the memory's bandwidth."""
    dram_write: float | None


def gpu_metrics(samples: GpuMetricSamples, gpu: int | None, window: Window) -> GpuMetricMeans | None:
    """Return the means of the counters of a physical GPU in the window; None where it has no samples there.

    A sample stamped t stands for the time from t on, as long as samples are apart.
    """
    if gpu is None:
        return None
    own = samples.filter(pl.col("gpu") == gpu).sort("metric", "time", maintain_order=True)
    means, counts, periods = {}, [], []
    for metric in GPU_METRICS:
        of_metric = own.filter(pl.col("metric") == metric)
        times = of_metric["time"].to_numpy()
        period = int(np.median(np.diff(times))) if len(times) > 1 else 0
        starts, ends = np.maximum(times, window.start_ns), np.minimum(times + period, window.end_ns)
        weights = np.maximum(ends - starts, 0).astype(np.float64)
        if weights.any():
            means[metric] = float(weights @ of_metric["per_cent"].to_numpy()) / float(weights.sum()) / 100
            counts.append(int((weights > 0).sum()))
            periods.append(period)
    if not means:
        return None
    return GpuMetricMeans(min(counts), min(periods), *(means.get(metric) for metric in GPU_METRICS))
