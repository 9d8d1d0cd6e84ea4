"""A `pynvml` for tests."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    pass


class FakeNvml:
    """Two GPUs: the second does not tell its power. Every reading of power is 1 W more than the one before."""

    NVMLError: type[Exception] = NVMLError

    def __init__(self, on_reading: Callable[[], object] = lambda: None) -> None:
        self._watts = itertools.count(100)
        self._on_reading = on_reading

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...

    def nvmlSystemGetDriverVersion(self) -> str:
        return "550.54"

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        return index

    def nvmlDeviceGetUUID(self, handle: Any) -> str:
        return f"GPU-{handle}aaa-bbb"

    def nvmlDeviceGetName(self, handle: Any) -> str:
        return f"GPU {handle}"

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:
        return SimpleNamespace(gpu=90 + handle, memory=10)

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:
        return SimpleNamespace(used=2**30)

    def nvmlDeviceGetPowerUsage(self, handle: Any) -> int:
        if handle == 1:
            raise NVMLError("not supported")
        self._on_reading()
        return next(self._watts) * 1000
