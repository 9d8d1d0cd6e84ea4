from pathlib import Path

import pytest
from click.testing import CliRunner

from environments import torch_version, venv
from fake_nsys import fake_nsys
from fake_nvml import FakeNvml, NVMLError
from wallsplit.errors import CaptureError
from wallsplit_scripts import doctor, nsys, sampling
from wallsplit_scripts.doctor import Finding
from wallsplit_workloads.environment import Environment, of_venv


def test_the_doctor_names_the_nsys_it_found(tmp_path: Path) -> None:
    path = fake_nsys(tmp_path)
    result = CliRunner().invoke(doctor.doctor, ["--nsys", str(path)])
    assert result.exit_code == 0
    assert f"2023.4.4.54-234433681190v0 at {path}, as --nsys says\n" in result.output


def test_lacking_everything_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_installed", lambda distributions: None)
    monkeypatch.setattr(Environment, "version_of", lambda self, distribution: None)
    monkeypatch.setattr(sampling, "paranoid", lambda: None)
    monkeypatch.setattr("wallsplit_scripts.nvml.load", lambda: None)
    result = CliRunner().invoke(doctor.doctor, ["--nsys", "/nonexistent/nsys"])
    assert result.exit_code == 0
    lacks = {line[6:20].strip() for line in result.output.splitlines() if line.startswith("lack")}
    assert lacks - {"compiled core"} == {"nsys", "nvtx", "gpu", "cpu sampling"}
    assert result.output.count("optional, not installed") == len(doctor.FRAMEWORKS)


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ((), "You can analyse and record, on CPU and GPU."),
        (("gpu",), "You can analyse, and record what runs on the CPU; you cannot record GPU work: no GPU here."),
        (("capture", "gpu"), "You can analyse exports and reports; you cannot record: that works on Linux alone."),
        (("nsys", "gpu"), "You can analyse exports (.sqlite); you cannot record or open reports (.nsys-rep): no nsys"),
    ],
)
def test_the_first_line_says_what_works_here(lacks: tuple[str, ...], said: str) -> None:
    assert doctor.in_short([Finding(subject, "lack", "") for subject in lacks]).startswith(said)


def test_every_lack_says_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_installed", lambda distributions: None)
    monkeypatch.setattr("wallsplit_scripts.nvml.load", lambda: None)
    findings = list(doctor.examine("/nonexistent/nsys"))
    assert all(finding.cost for finding in findings if finding.verdict == "lack")


def test_the_gpus_and_the_driver_are_named() -> None:
    assert doctor.gpu_findings(FakeNvml(), "13.0") == [
        Finding("gpu", "ok", "GPU 0"),
        Finding("gpu", "ok", "GPU 1"),
        Finding("driver", "ok", "550.54"),
    ]


def test_a_gpu_that_is_lost_is_a_lack_and_no_traceback() -> None:
    class Lost(FakeNvml):
        def nvmlDeviceGetName(self, handle: object) -> str:
            raise NVMLError("GPU is lost")

    assert [(found.verdict, found.found) for found in doctor.gpu_findings(Lost(), "13.0")] == [
        ("lack", "a GPU that NVML cannot ask: GPU is lost")
    ]


@pytest.mark.parametrize(
    ("paranoid", "privileged", "verdict"),
    [(-1, False, "ok"), (2, False, "ok"), (3, False, "lack"), (4, True, "ok"), (None, True, "lack")],
)
def test_cpu_sampling_depends_on_the_kernels_setting(paranoid: int | None, privileged: bool, verdict: str) -> None:
    assert doctor.perf_finding(paranoid, privileged=privileged).verdict == verdict


def test_an_nvtx_that_clashes_with_the_nsys_is_a_lack() -> None:
    old = nsys.Nsys(Path("nsys"), "2023.4.4", ())
    assert doctor.nvtx_finding("0.2.17", old).verdict == "lack"
    assert doctor.nvtx_finding("0.2.11", old).verdict == "ok"
    assert doctor.nvtx_finding("0.2.17", CaptureError("no nsys")).verdict == "ok"


def test_a_cpu_build_beside_a_gpu_is_a_lack_that_says_what_brings_the_other(tmp_path: Path) -> None:
    environment = of_venv(venv(tmp_path / ".venv-torch", "torch 2.13.0"))
    assert environment is not None
    torch_version(tmp_path / ".venv-torch", "None")

    def finding(*, has_gpu: bool) -> Finding:
        return doctor.framework_finding("torch", ("torch",), "iris", environment, has_gpu=has_gpu)

    assert finding(has_gpu=False) == Finding("torch", "ok", "2.13.0 in .venv-torch")
    assert finding(has_gpu=True).verdict == "lack"
    assert "a build for the CPU beside a GPU" in finding(has_gpu=True).found
    torch_version(tmp_path / ".venv-torch", "'12.8'")
    assert finding(has_gpu=True).verdict == "ok"


@pytest.mark.parametrize(
    ("cuda", "version", "said"), [(13, (2023, 4, 4), 1), (13, (2025, 3, 1), 0), (12, (2023, 4, 4), 0)]
)
def test_an_nsys_too_old_for_the_drivers_cuda_is_pointed_out(cuda: int, version: tuple[int, ...], said: int) -> None:
    findings = list(doctor.cuda_finding(cuda, version))
    assert len(findings) == said
    assert all("takes 2025.3 or later" in finding.cost for finding in findings)
