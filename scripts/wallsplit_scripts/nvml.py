"""Reading the GPUs while a program runs; the samples go beside its manifest."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self

from wallsplit.run.nvml import NvmlSample
from wallsplit_workloads import devices

PERIOD_S = 0.1  # NVML itself averages utilisation over 1/6 s to 1 s


class Nvml(Protocol):
    """The part of the module `pynvml` (nvidia-ml-py) that is used."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: D102, N802
    def nvmlShutdown(self) -> None: ...  # noqa: D102, N802
    def nvmlSystemGetDriverVersion(self) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetUUID(self, handle: Any) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetName(self, handle: Any) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetPowerUsage(self, handle: Any) -> int: ...  # noqa: D102, N802


def load() -> Nvml | None:
    """Return NVML, initialised; None where nvidia-ml-py, the driver or a GPU is missing."""
    try:
        nvml: Nvml = import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        return nvml if nvml.nvmlDeviceGetCount() > 0 else None
    except nvml.NVMLError:
        return None


def read(nvml: Nvml, handles: Mapping[int, Any], utc_ns: int) -> list[NvmlSample]:
    """Return one sample per GPU, of handles by NVML's number; what a GPU does not tell is None."""
    return [_sample(nvml, index, handle, utc_ns) for index, handle in handles.items()]


def peak_memory_bytes(samples: Sequence[NvmlSample]) -> dict[str, int]:
    """Return the most memory in use at a sample, of the GPU with the most, as `nvml`; empty without a sample."""
    used = [sample.memory_used_bytes for sample in samples if sample.memory_used_bytes is not None]
    return {"nvml": max(used)} if used else {}


def _sample(nvml: Nvml, index: int, handle: Any, utc_ns: int) -> NvmlSample:
    return NvmlSample(
        utc_ns=utc_ns,
        device=index,
        gpu_percent=_told(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu),
        memory_percent=_told(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).memory),
        memory_used_bytes=_told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used),
        power_mw=_told(nvml, lambda: nvml.nvmlDeviceGetPowerUsage(handle)),
    )


def _told(nvml: Nvml, question: Callable[[], int]) -> int | None:
    try:
        return int(question())
    except nvml.NVMLError:
        return None


class Sampler:
    """Samples GPUs periodically while its `with` block runs; `samples` holds them in order of time.

    They are those that a program with the environment sees, or only the `first` of them, where it uses no other.
    """

    def __init__(
        self,
        nvml: Nvml | None,
        period_s: float = PERIOD_S,
        clock: Callable[[], int] = time.time_ns,
        *,
        environment: Mapping[str, str] = os.environ,
        first: bool = False,
    ) -> None:
        self.samples: list[NvmlSample] = []
        self._nvml = nvml
        self._clock = clock
        self._period_s = period_s
        self._environment, self._first = environment, first
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nvml", daemon=True)

    def __enter__(self) -> Self:
        if self._nvml is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        assert self._nvml is not None
        try:
            seen = devices.visible(self._nvml, self._environment)
            chosen = seen[:1] if self._first else seen
            handles = {index: self._nvml.nvmlDeviceGetHandleByIndex(index) for index in chosen}
        except self._nvml.NVMLError:
            return  # a GPU that fell off the bus ends no training run
        while True:
            self.samples += read(self._nvml, handles, self._clock())
            if self._stop.wait(self._period_s):
                self.samples += read(self._nvml, handles, self._clock())
                return
