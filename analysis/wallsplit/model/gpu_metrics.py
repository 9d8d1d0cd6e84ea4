"""Hardware counters of the GPUs, where nsys sampled them (`--gpu-metrics-devices`)."""

import re

import polars as pl

from wallsplit.schema import GPU_METRIC_SAMPLES, GpuMetric, GpuMetricSamples, conform
from wallsplit.trace import Trace

TABLE = "GPU_METRICS"
NAMES = (  # ours, and what the metric sets of nsys 2021 to 2026 call it, less "[Throughput %]"
    ("gr_active", r"gr active"),
    ("sm_active", r"sms? active"),
    ("sm_issue", r"sm issue"),
    ("tensor_active", r"tensor active( / fp16 active)?"),
    ("dram_read", r"dram read (throughput|bandwidth)"),
    ("dram_write", r"dram write (throughput|bandwidth)"),
)
GPU_OF_TYPE = 0xFF  # the bits of a typeId that hold the GPU's id


def gpu_metrics(trace: Trace) -> GpuMetricSamples:
    """Return the samples of GPU_METRICS (schema.GPU_METRIC_SAMPLES), in file order; values beyond 0 to 100 left out."""
    named = trace.read("TARGET_INFO_GPU_METRICS", ["typeId", "metricId", "metricName"])
    ours = [metric(str(name)) for name in named["metricName"]]
    known = named.select("typeId", "metricId", metric=pl.Series(ours, dtype=GpuMetric)).drop_nulls().unique()
    samples = trace.scan(TABLE, ["timestamp", "typeId", "metricId", "value"]).drop_nulls()
    if known.is_empty():
        return GpuMetricSamples(pl.DataFrame(schema=GPU_METRIC_SAMPLES))
    frame = (
        samples.join(known.lazy(), on=["typeId", "metricId"], maintain_order="left")
        .filter(pl.col("value").is_between(0, 100))
        .select(
            pl.col("timestamp").alias("time"),
            (pl.col("typeId") & GPU_OF_TYPE).cast(pl.Int32).alias("gpu"),
            "metric",
            pl.col("value").alias("per_cent"),
        )
        .collect()
    )
    return GpuMetricSamples(conform(frame, GPU_METRIC_SAMPLES, "gpu_metrics"))


def metric(name: str) -> str | None:
    """Return our name of a metric that nsys calls `name`; None for one that is not read."""
    plain = name.strip().lower().removesuffix("[throughput %]").strip()
    return next((ours for ours, pattern in NAMES if re.fullmatch(pattern, plain)), None)
