"""What the samples of a trace say, in one call."""

from pathlib import Path

from builders import TraceBuilder
from wallsplit.ledger.activity import activities
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.trace import Trace
from wallsplit.why.samples.host_samples import host_samples
from wallsplit.why.samples.sampling import Sampling, sampling
from wallsplit.why.samples.values import HostSamples

PYTHON = ("/usr/bin/python3.11", "_PyEval_EvalFrameDefault")
SGEMM = ("/lib/libopenblas.so.0", "sgemm_kernel")
MEMCPY = ("/lib/libc.so.6", "__memcpy_avx_unaligned")


def opened(path: Path) -> tuple[Model, Sampling]:
    """Return the model of a trace that has samples, and these."""
    model = load(Trace.open(path))
    found = sampling(model)
    assert found is not None
    return model, found


def every(model: Model, found: Sampling | None, window: Window | None = None) -> list[HostSamples | None]:
    """Return what the samples say about each ledger, in the default window or in this one."""
    chosen = window or default_window(model)
    assert chosen is not None
    return [host_samples(found, model, activity, chosen) for activity in activities(model)]


def only(build: TraceBuilder, window: tuple[int, int] | None = None) -> HostSamples:
    """Return what the samples of a built trace say about its one ledger."""
    model, found = opened(build.write())
    (said,) = every(model, found, Window("test", *window) if window else None)
    assert said is not None
    return said


def counts(samples: HostSamples) -> dict[str, int]:
    """Return how many samples of each class the main thread has in host."""
    return {each.sample_class: each.count for each in samples.main.classes}
