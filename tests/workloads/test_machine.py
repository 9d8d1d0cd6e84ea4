"""Promises about the machine's description: a peak only from factors that were read, nothing for what is not known."""

import platform
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Gpu
from wallsplit_workloads import machine
from wallsplit_workloads.environment import HERE
from wallsplit_workloads.machine import describe_cpu


def cpuinfo(processors: int, **changes: str | None) -> str:
    block = {
        "vendor_id": "GenuineIntel",
        "cpu family": "6",
        "model name": "A CPU @ 2.40GHz",
        "cpu MHz": "2400.000",
        "physical id": "0",
        "flags": "fpu sse2 avx avx2 fma",
        **changes,
    }
    kept = {key: value for key, value in block.items() if value is not None}
    return "\n".join(
        f"processor\t: {n}\ncore id\t\t: {n // 2}\n" + "".join(f"{key}\t: {value}\n" for key, value in kept.items())
        for n in range(processors)
    )


def test_two_hardware_threads_share_one_core() -> None:
    cpu = describe_cpu(cpuinfo(4), None)
    assert (cpu.physical_cores, cpu.logical_cores, cpu.model) == (2, 4, "A CPU @ 2.40GHz")


def test_peak_is_cores_by_lanes_by_two_fma_units_by_two_by_clock() -> None:
    cpu = describe_cpu(cpuinfo(4), None)
    assert cpu.peak_flops == 2 * 8 * 2 * 2 * 2_400_000_000
    assert cpu.peak_source is not None
    assert "2 cores × 8 fp32 lanes × 2 FMA units (assumed) × 2 × 2.400 GHz (at the time" in cpu.peak_source


def test_the_maximal_clock_goes_before_that_of_the_moment() -> None:
    cpu = describe_cpu(cpuinfo(2), 4_000_000)
    assert cpu.clock_hz == 4_000_000_000
    assert "maximum, from cpufreq" in str(cpu.peak_source)


def test_zen_4_runs_avx512_on_256_bit_units() -> None:
    flags = "sse2 avx avx2 fma avx512f"
    intel = describe_cpu(cpuinfo(2, flags=flags), None)
    zen4 = describe_cpu(cpuinfo(2, flags=flags, vendor_id="AuthenticAMD", **{"cpu family": "25"}), None)
    zen5 = describe_cpu(cpuinfo(2, flags=flags, vendor_id="AuthenticAMD", **{"cpu family": "26"}), None)
    assert zen4.peak_flops is not None
    assert intel.peak_flops == zen5.peak_flops == 2 * zen4.peak_flops
    assert zen4.simd == "avx512"


@pytest.mark.parametrize(
    "changes", [{"flags": "sse2 avx avx2"}, {"flags": None}, {"cpu MHz": None}, {"cpu MHz": "fast"}]
)
def test_without_one_of_the_factors_there_is_no_peak(changes: dict[str, str | None]) -> None:
    cpu = describe_cpu(cpuinfo(2, **changes), None)
    assert cpu.peak_flops is None
    assert cpu.peak_source is None


def test_a_text_that_describes_no_processor_is_no_error() -> None:
    assert describe_cpu("garbage\n\nmore: of it", None).peak_flops is None
    assert describe_cpu("", None).model is None


class FakeNvml:
    """As much of NVML as is asked, for a card of 3,072 cores."""

    NVML_CLOCK_SM = 1

    class NVMLError(Exception):
        pass

    def __init__(self, **answers: Any) -> None:
        self.answers = {"name": "Quadro RTX 5000", "capability": (7, 5), **answers}
        self.is_open = False

    def nvmlInit(self) -> None:
        self.is_open = True

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlDeviceGetCount(self) -> int:
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if self.answers["name"] is None:
            raise self.NVMLError
        return index

    def nvmlDeviceGetName(self, handle: int) -> Any:
        return self.answers["name"]

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> Any:
        return self.answers["capability"]

    def nvmlDeviceGetNumGpuCores(self, handle: int) -> int:
        return 3072

    def nvmlDeviceGetMaxClockInfo(self, handle: int, kind: int) -> int:
        raise self.NVMLError

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        return SimpleNamespace(total=16 * 2**30)


def test_a_gpu_is_described_as_far_as_nvml_answers() -> None:
    nvml = FakeNvml()
    assert machine.gpu(nvml) == Gpu("Quadro RTX 5000", 48, 64, None, 16 * 2**30)
    assert not nvml.is_open


def test_of_an_unknown_architecture_the_sms_are_not_guessed() -> None:
    assert machine.gpu(FakeNvml(capability=(99, 0), name=b"New \xff")) == Gpu("New �", None, None, None, 16 * 2**30)


def test_without_a_device_there_is_no_gpu() -> None:
    assert machine.gpu(FakeNvml(name=None)) is None


def test_versions_are_of_what_is_installed() -> None:
    found = HERE.versions(("numpy", "no-such-distribution"))
    assert set(found) == {"python", "numpy"}


def test_threads_cannot_be_set_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    machine.limit_native_threads(None)
    assert machine.native_threads() == {}
    with pytest.raises(
        WallsplitError, match="threadpoolctl is not installed; install it, or set OPENBLAS_NUM_THREADS=1"
    ):
        machine.limit_native_threads(1)


def test_a_machine_is_told_from_another_by_the_listed_names_and_no_host_name() -> None:
    here = machine.identity()
    assert set(here) <= set(machine.IDENTITY)
    assert {"processor", "cores", "memory", "system"} <= set(here)
    assert platform.node() not in " ".join(here.values()).split()


def test_a_gpu_and_its_driver_are_part_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu", lambda: Gpu("A GPU"))
    monkeypatch.setattr(machine, "driver", lambda: "550.54")
    assert (machine.identity()["gpu"], machine.identity()["driver"]) == ("A GPU", "550.54")


@pytest.mark.parametrize(("version", "cuda"), [("535.183.01", 12), ("580.65.06", 13), ("600", 13), ("", 12), ("?", 12)])
def test_the_driver_says_which_cuda_it_runs(version: str, cuda: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "driver", lambda: version)
    assert machine.cuda_major() == cuda


def test_without_nvml_the_kernel_tells_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(machine, "_DRIVER", tmp_path / "version")
    assert machine.driver() is None
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\nGCC 12")
    assert machine.driver() == "550.54.14"
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release")
    assert machine.driver() == "580.65.06"


def test_an_nvidia_smi_is_a_gpu_as_a_device_node_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_GPU_NODES", ())
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert machine.gpu_lack() is not None
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert machine.gpu_lack() is None
