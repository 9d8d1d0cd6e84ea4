"""What a run took in energy, by the meters that count it: of processor packages and of the GPU."""

import importlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallsplit_workloads import devices
from wallsplit_workloads.workload import Device

_POWERCAP = Path("/sys/class/powercap")  # Linux; an AMD processor's packages have the name intel-rapl, too
CPU, GPU = "cpu_package", "gpu"


@dataclass(frozen=True)
class Meter:
    """A counter of energy in mJ that only grows, up to where it begins anew; None: it does not."""

    millijoules: float
    full: float | None = None


def reading(device: Device, nvml: Any = None) -> dict[str, Meter]:
    """Return the meters as they stand, by name; what nothing counts, or may not be read, is left out."""
    gpu = _gpu(nvml) if device == "gpu" else {}
    return _packages() | gpu


def between(before: Mapping[str, Meter], after: Mapping[str, Meter]) -> dict[str, int]:
    """Return the energy in mJ between two readings: of all processor packages together, and of the GPU."""
    taken: dict[str, float] = {}
    for name, meter in before.items():
        if name in after:
            grown = after[name].millijoules - meter.millijoules
            kind = name.partition(":")[0]
            taken[kind] = taken.get(kind, 0.0) + (grown if grown >= 0 else grown + (meter.full or -grown))
    return {name: round(millijoules) for name, millijoules in taken.items()}


def _packages() -> dict[str, Meter]:
    """Return the meter of each processor package: RAPL's, which most systems let only root read."""
    found = {}
    for zone in sorted(_POWERCAP.glob("intel-rapl:*")):
        with suppress(OSError, ValueError):
            if (zone / "name").read_text().startswith("package-"):
                microjoules, most = (int((zone / name).read_text()) for name in ("energy_uj", "max_energy_range_uj"))
                found[f"{CPU}:{zone.name}"] = Meter(microjoules / 1e3, most / 1e3)
    return found


def _gpu(nvml: Any) -> dict[str, Meter]:
    """Return the meter of the first GPU that a program sees; those from Volta on have one."""
    try:
        nvml = nvml or importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:
        return {}
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(next(iter(devices.visible(nvml)), 0))
        return {GPU: Meter(nvml.nvmlDeviceGetTotalEnergyConsumption(handle))}
    except nvml.NVMLError:
        return {}
    finally:
        nvml.nvmlShutdown()
