"""Energy: what two readings of a meter differ by, meters that begin anew, and none where nothing counts."""

from pathlib import Path

import pytest

from fake_nvml import FakeNvml, NVMLError
from wallsplit_workloads import energy
from wallsplit_workloads.energy import Meter, between, reading


def zone(folder: Path, name: str, title: str, microjoules: str) -> None:
    path = folder / name
    path.mkdir()
    for file, text in (("name", title), ("energy_uj", microjoules), ("max_energy_range_uj", "262143328850")):
        (path / file).write_text(f"{text}\n")


class Metered(FakeNvml):
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
        if handle:
            raise NVMLError("not supported")
        return 1_500


def test_packages_are_added_up_and_their_parts_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_POWERCAP", tmp_path)
    zone(tmp_path, "intel-rapl:0", "package-0", "2000")
    zone(tmp_path, "intel-rapl:1", "package-1", "3000")
    zone(tmp_path, "intel-rapl:0:0", "core", "9000")
    before = reading("cpu")
    assert [meter.millijoules for meter in before.values()] == [2.0, 3.0]
    after = {name: Meter(meter.millijoules + 10, meter.full) for name, meter in before.items()}
    assert between(before, after) == {"cpu_package": 20}


def test_a_counter_that_began_anew_in_between_is_counted_on() -> None:
    assert between({"cpu_package:0": Meter(90.0, 100.0)}, {"cpu_package:0": Meter(5.0, 100.0)}) == {"cpu_package": 15}


def test_a_meter_that_may_not_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_POWERCAP", tmp_path)
    zone(tmp_path, "intel-rapl:0", "package-0", "no number")
    assert reading("cpu") == {}
    assert between({}, {}) == {}


def test_a_gpus_own_meter_counts_for_a_run_on_it_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_POWERCAP", tmp_path)
    assert reading("gpu", Metered()) == {"gpu": Meter(1_500)}
    assert reading("cpu", Metered()) == {}


def test_a_gpu_without_a_meter_or_without_nvml_has_no_energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_POWERCAP", tmp_path)

    class Unmetered(FakeNvml):
        def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
            raise NVMLError("not supported")

    assert reading("gpu", Unmetered()) == {}
    monkeypatch.setattr("importlib.import_module", lambda name: exec("raise ImportError(name)"))
    assert reading("gpu") == {}
