"""What the machine is: processor and peak, graphics processor, library versions, threads. No host or user names."""

import importlib
import os
import platform
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from wallsplit.arithmetic.work import LANES_PER_SM
from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Cpu, Gpu
from wallsplit_workloads import devices

_CPUINFO = Path("/proc/cpuinfo")
_MAX_CLOCK = Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
_DRIVER = Path("/proc/driver/nvidia/version")
CUDA_13_DRIVER = 580
_GPU_NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-gpu")  # dxg: WSL; nvhost: Jetson

_SIMD = (("avx512f", "avx512", 16), ("avx2", "avx2", 8), ("avx", "avx", 8), ("sse2", "sse2", 4), ("asimd", "neon", 4))
_ZEN_BEFORE_5 = ("23", "25")  # CPU families
_FMA_UNITS = 2  # of every core with FMA that this study meets: Haswell, Zen 2, Neoverse N1 and later


def cpu() -> Cpu:
    """Return the processor of this machine."""
    try:
        text = _CPUINFO.read_text(errors="replace")
    except OSError:
        return Cpu(model=platform.processor() or None, logical_cores=os.cpu_count())
    try:
        max_khz = int(_MAX_CLOCK.read_text())
    except (OSError, ValueError):
        max_khz = None
    return describe_cpu(text, max_khz)


def describe_cpu(cpuinfo: str, max_khz: int | None) -> Cpu:
    """Return the processor the text of /proc/cpuinfo describes, with the FP32 peak of all its cores.

    Peak = cores × SIMD lanes × 2 FMA units × 2 operations × clock. Zen before Zen 5 runs 512-bit instructions on
    256-bit units, so counts 8 lanes. Without FMA, or if a factor is not to be had, the peak is None.
    """
    blocks = _blocks(cpuinfo)
    if not blocks:
        return Cpu(logical_cores=os.cpu_count())
    first = blocks[0]
    flags = set(first.get("flags", first.get("Features", "")).split())
    simd, lanes = next(((name, width) for flag, name, width in _SIMD if flag in flags), (None, None))
    if simd == "avx512" and first.get("vendor_id") == "AuthenticAMD" and first.get("cpu family") in _ZEN_BEFORE_5:
        lanes = 8
    fma = bool({"fma", "fma4", "asimd"} & flags)
    cores = {(block.get("physical id"), block.get("core id")) for block in blocks}
    physical = len(cores) if (None, None) not in cores else None
    clock_hz, clock_source = _clock(blocks, max_khz)
    peak, source = None, None
    if fma and lanes and clock_hz and physical:
        peak = physical * lanes * _FMA_UNITS * 2 * clock_hz
        source = (
            f"{physical} cores × {lanes} fp32 lanes × {_FMA_UNITS} FMA units (assumed) × 2 × "
            f"{clock_hz / 1e9:.3f} GHz ({clock_source})"
        )
    return Cpu(first.get("model name"), physical, len(blocks), simd, fma, clock_hz, peak, source)


def _blocks(cpuinfo: str) -> list[dict[str, str]]:
    """Return one dictionary a logical processor."""
    pairs = re.compile(r"^(.+?)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
    blocks = [{str(key): str(value) for key, value in pairs.findall(block)} for block in cpuinfo.split("\n\n")]
    return [block for block in blocks if "processor" in block]


def _clock(blocks: list[dict[str, str]], max_khz: int | None) -> tuple[int | None, str | None]:
    if max_khz:
        return max_khz * 1000, "maximum, from cpufreq"
    now = [float(block["cpu MHz"]) for block in blocks if re.fullmatch(r"[\d.]+", block.get("cpu MHz", ""))]
    return (int(max(now) * 1e6), "at the time, from /proc/cpuinfo") if now else (None, None)


def gpu_lack() -> str | None:
    """Return what keeps a program from an NVIDIA GPU, found out in microseconds; None where there seems to be one."""
    if any(Path(node).exists() for node in _GPU_NODES) or shutil.which("nvidia-smi"):
        return None
    return "no NVIDIA GPU or driver (none of /dev/nvidia*, /dev/dxg)"


def gpu(nvml: Any = None) -> Gpu | None:
    """Return the first GPU that a program sees, as NVML (nvidia-ml-py) describes it; None without either."""
    try:
        nvml = nvml or importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:
        return None
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(next(iter(devices.visible(nvml)), 0))
        name = nvml.nvmlDeviceGetName(handle)
        lanes = sms = clock_hz = memory = None
        with suppress(nvml.NVMLError):
            major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
            lanes = LANES_PER_SM.get(f"{major}.{minor}")
            sms = nvml.nvmlDeviceGetNumGpuCores(handle) // lanes if lanes else None
        with suppress(nvml.NVMLError):
            clock_hz = nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM) * 10**6
        with suppress(nvml.NVMLError):
            memory = int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
        return Gpu(name.decode(errors="replace") if isinstance(name, bytes) else name, sms, lanes, clock_hz, memory)
    except nvml.NVMLError:
        return None
    finally:
        nvml.nvmlShutdown()


def identity() -> dict[str, str]:
    """Return what tells this machine from another, by the names of `IDENTITY`; what cannot be found out is left out."""
    processor, card = cpu(), gpu()
    found = {
        "processor": processor.model or platform.machine(),
        "cores": f"{processor.physical_cores or '?'} physical, {processor.logical_cores or '?'} logical",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "gpu": card.name if card else None,
        "driver": driver() if card else None,
        "system": f"{_distribution()}, {platform.system()} {platform.release()}",
    }
    return {name: text for name, text in found.items() if text}


IDENTITY = ("processor", "cores", "memory", "gpu", "driver", "system")
"""What two measurements must have in common to be of one machine."""


def driver(nvml: Any = None) -> str | None:
    """Return the version of the NVIDIA driver, as NVML or the kernel tells; None without one."""
    try:
        nvml = nvml or importlib.import_module("pynvml")
        nvml.nvmlInit()
        version = nvml.nvmlSystemGetDriverVersion()
        nvml.nvmlShutdown()
    except Exception:
        return _kernel_driver()
    return version.decode(errors="replace") if isinstance(version, bytes) else str(version)


def _kernel_driver() -> str | None:
    """Return the version of the kernel's module: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  …"."""
    try:
        found = re.search(r"Module.*?\s(\d+\.[\d.]+)", _DRIVER.read_text(errors="replace"))
    except OSError:
        return None
    return found[1] if found else None


def cuda_major(version: str | None = None) -> int:
    """Return the newest CUDA release, 12 or 13, that a driver runs; 12 where its version is not known.

    CUDA 13 needs driver 580 or later (CUDA release notes, "CUDA Toolkit and Minimum Required Driver Version").
    """
    told = version or driver() or ""
    number = told.partition(".")[0]
    return 13 if number.isdecimal() and int(number) >= CUDA_13_DRIVER else 12


def _distribution() -> str:
    """Return the name of the operating system's distribution, else what kind of system it is."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except (OSError, AttributeError):
        return platform.system()


def limit_native_threads(threads: int | None) -> None:
    """Have every loaded BLAS and OpenMP library use so many threads from now on; None leaves them as they are.

    Raises:
        WallsplitError: threadpoolctl, which can do that after import, is not installed.
    """
    if threads is None:
        return
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError as error:
        raise WallsplitError(
            f"threads={threads}: threadpoolctl is not installed; install it, or set OPENBLAS_NUM_THREADS={threads}"
        ) from error
    threadpoolctl.threadpool_limits(threads)


def schedulable_cpus() -> int:
    """Return how many processors this process may run on: the size of thread pools without a setting, like XLA's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def native_threads() -> dict[str, int]:
    """Return the threads of each loaded BLAS and OpenMP library, by its name; empty without threadpoolctl."""
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return {}
    return {str(pool["internal_api"]): int(pool["num_threads"]) for pool in threadpoolctl.threadpool_info()}
