"""Which of a machine's GPUs a program sees, by NVML's numbers: CUDA_VISIBLE_DEVICES names them by number or UUID."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

VISIBLE, ORDER, BY_BUS = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PCI_BUS_ID"


def in_nvml_order(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with GPUs numbered as NVML numbers them, by bus, unless it says otherwise.

    CUDA's own default is the fastest first, under which number 0 is another GPU to CUDA than to NVML.
    """
    return {ORDER: BY_BUS, **environment}


def visible(nvml: Any, environment: Mapping[str, str] = os.environ) -> list[int]:
    """Return the NVML numbers of the GPUs that a program with this environment sees, in its own order.

    As CUDA reads the variable (CUDA C++ Programming Guide, "CUDA Environment Variables"): numbers or beginnings of
    UUIDs, up to the first that names no GPU; unset, all. A slice of a GPU (MIG) counts as nothing here.
    """
    every = list(range(nvml.nvmlDeviceGetCount()))
    listed = environment.get(VISIBLE)
    if listed is None:
        return every
    uuids = {index: _uuid(nvml, index) for index in every}
    found: list[int] = []
    for name in (part.strip() for part in listed.split(",")):
        if name.isdecimal():
            named = [int(name)] if int(name) in every else []
        else:
            named = [index for index, uuid in uuids.items() if name.startswith("GPU-") and uuid.startswith(name)]
        if len(named) != 1 or named[0] in found:
            break
        found += named
    return found


def _uuid(nvml: Any, index: int) -> str:
    with suppress(nvml.NVMLError):
        uuid = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(index))
        return uuid.decode(errors="replace") if isinstance(uuid, bytes) else str(uuid)
    return ""
