"""Which builds a machine needs and where they lie: one Python without a GPU, one for each framework beside a GPU."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from environments import fake_python, installed, torch_version, venv
from wallsplit_scripts import builds, children
from wallsplit_scripts.builds import Build, cuda_major, environment_of, is_cpu_build, needed, of_study
from wallsplit_scripts.profile import workload_program
from wallsplit_scripts.workloads import workloads
from wallsplit_workloads import WORKLOADS, machine
from wallsplit_workloads.environment import HERE, Environment, of_venv
from wallsplit_workloads.running import extra_of
from wallsplit_workloads.workload import find, resolve
from workload_runs import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this machine seem to have a GPU with a driver for CUDA 12."""
    monkeypatch.setattr(machine, "gpu_lack", lambda: None)
    monkeypatch.setattr(machine, "driver", lambda: "550.54.14")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU")


def opened(folder: Path) -> Environment:
    found = of_venv(folder)
    assert found is not None
    return found


def told(name: str, *options: str) -> list[str]:
    """Return the lines that the Makefile reads."""
    result = CliRunner().invoke(workloads, ["--extra-of", name, "--", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def install(folder: Path, lines: list[str], python: Path) -> None:
    """Install builds as `make profile` does."""
    subprocess.run(
        [str(ROOT / "scripts" / "install_builds.sh")],
        input="".join(f"{line}\n" for line in lines),
        env={**os.environ, "PYTHON": str(python)},
        cwd=folder,
        text=True,
        check=True,
        timeout=60,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with what the installation looks at in a checkout."""
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    return tmp_path


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_one_environment_has_all_that_runs_here() -> None:
    assert of_study() == [Build(".venv", "workloads")]
    assert told("keras-cpu") == [".venv tensorflow"]
    assert told("all") == [".venv workloads"]


@pytest.mark.usefixtures("gpu")
def test_beside_a_gpu_each_framework_has_an_environment_of_its_own_with_the_build_for_gpus() -> None:
    assert told("all") == [
        ".venv profile",
        ".venv word2vec",
        ".venv-tensorflow tensorflow-gpu",
        ".venv-jax jax-gpu",
        ".venv-torch torch",
        ".venv-cupy cupy",
    ]
    assert told("jax-cpu") == [".venv profile", ".venv-jax jax-gpu"]
    assert told("numpy") == [".venv profile"]


@pytest.mark.parametrize(
    ("driver", "extras"), [("550.54", ["jax-gpu", "cupy"]), ("580.65", ["jax-gpu-cuda13", "cupy-cuda13"])]
)
@pytest.mark.usefixtures("gpu")
def test_the_driver_decides_between_cuda_12_and_13(
    driver: str, extras: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "driver", lambda: driver)
    assert [told(name)[-1].split()[1] for name in ("jax-gpu", "cupy")] == extras
    assert told("keras-gpu")[-1] == ".venv-tensorflow tensorflow-gpu"  # there is one build


@pytest.mark.parametrize("driver", ["550.54", "580.65"])
@pytest.mark.usefixtures("gpu")
def test_every_extra_told_is_one_of_this_package(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "driver", lambda: driver)
    lines = [*told("all"), *(line for workload in WORKLOADS for line in told(workload.name))]
    assert {line.split()[1] for line in lines} <= set(EXTRAS)


@pytest.mark.usefixtures("gpu")
def test_the_parameters_given_to_the_recording_choose_the_build() -> None:
    assert told("op-timing") == [".venv profile"]
    on_gpu = ("--set", "backend=tensorflow", "--set", "device=cuda", "--name", "x", "--batch", "64", "--force")
    assert told("op-timing", *on_gpu) == [".venv profile", ".venv-tensorflow tensorflow-gpu"]
    assert told("pool", "--set=backend=jax")[-1] == ".venv-jax jax-gpu"


def test_what_is_no_option_of_the_recording_is_a_usage_error() -> None:
    result = CliRunner().invoke(workloads, ["--extra-of", "numpy", "--", "--set", "backend"])
    assert result.exit_code == 2


@pytest.mark.usefixtures("gpu")
def test_keras_on_the_gpu_then_on_the_cpu_leaves_both_working(clone: Path) -> None:
    python = fake_python(clone)
    for name in ("keras-gpu", "keras-cpu", "keras-gpu"):
        install(clone, told(name), python)
    assert installed(clone / ".venv-tensorflow") == ["tensorflow-gpu"]  # one distribution, once
    assert installed(clone / ".venv") == ["profile"]
    on_gpu, on_cpu = (find(WORKLOADS, name) for name in ("keras-gpu", "keras-cpu"))
    assert extra_of(on_gpu, resolve(on_gpu, {})) == extra_of(on_cpu, resolve(on_cpu, {})) == "tensorflow-gpu"


@pytest.mark.usefixtures("gpu")
def test_a_cpu_build_installed_before_the_gpu_came_is_left_where_it_is(clone: Path) -> None:
    python = fake_python(clone)
    install(clone, [".venv tensorflow"], python)
    install(clone, told("keras-gpu"), python)
    assert installed(clone / ".venv") == ["tensorflow", "profile"]
    assert installed(clone / ".venv-tensorflow") == ["tensorflow-gpu"]


def test_what_is_installed_is_installed_again_only_when_the_requirements_change(clone: Path) -> None:
    python = fake_python(clone)
    for _ in range(2):
        install(clone, [".venv jax"], python)
    assert installed(clone / ".venv") == ["jax"]
    os.utime(clone / "constraints.txt", (2**31, 2**31))
    install(clone, [".venv jax"], python)
    assert installed(clone / ".venv") == ["jax", "jax"]


def test_a_run_uses_the_frameworks_own_environment_where_there_is_one(tmp_path: Path) -> None:
    assert environment_of("jax", tmp_path) == HERE
    folder = venv(tmp_path / ".venv-jax", "jax 0.9.1", "jaxlib 0.9.1", modules=("jax",))
    found = environment_of("jax-gpu-cuda13", tmp_path)
    assert found.python == str(folder / "bin" / "python")
    assert found.versions(("jax", "numpy")) == {"python": "3.11.9", "jax": "0.9.1"}
    assert found.has("jax")
    assert not found.has("tensorflow")
    assert environment_of("torch", tmp_path) == environment_of("profile", tmp_path) == HERE


def test_the_workload_is_recorded_with_that_environments_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = venv(tmp_path / ".venv-jax", "jax 0.9.1", modules=("jax",))
    monkeypatch.setattr("wallsplit_scripts.nsys.checkout", lambda: tmp_path)
    assert workload_program("jax-cpu", {}).argv[0] == str(folder / "bin" / "python")
    assert workload_program("numpy", {}).argv[0] == children.module("x")[0]


def test_a_build_for_the_cpu_is_told_from_one_for_gpus(tmp_path: Path) -> None:
    cpu = opened(venv(tmp_path / "cpu", "tensorflow-cpu 2.21", "jax 0.9", "torch 2.13"))
    torch_version(tmp_path / "cpu", "None")
    gpu = opened(venv(tmp_path / "gpu", "tensorflow 2.21", "jax 0.9", "jax-cuda12-plugin 0.9", "torch 2.13"))
    torch_version(tmp_path / "gpu", "'12.8'")
    nothing = opened(venv(tmp_path / "nothing"))
    for family in ("tensorflow", "jax", "torch"):
        assert [is_cpu_build(family, environment) for environment in (cpu, gpu, nothing)] == [True, False, False]


def test_the_cuda_a_framework_was_built_on_is_read_without_importing_it(tmp_path: Path) -> None:
    of_jax = opened(venv(tmp_path / "jax", "jax-cuda13-plugin 0.9"))
    of_cupy = opened(venv(tmp_path / "cupy", "cupy-cuda12x 14.2"))
    of_torch = opened(venv(tmp_path / "torch", "torch 2.13"))
    torch_version(tmp_path / "torch", "'13.0'")
    nothing = opened(venv(tmp_path / "nothing"))
    assert [cuda_major(one) for one in (of_jax, of_cupy, of_torch, nothing)] == [13, 12, 13, None]


def test_a_folder_that_is_no_environment_is_none(tmp_path: Path) -> None:
    (tmp_path / ".venv-jax").mkdir()
    assert of_venv(tmp_path / ".venv-jax") is None
    assert builds.environment_of("jax", tmp_path) == HERE


@pytest.mark.usefixtures("no_gpu")
def test_a_framework_with_an_environment_of_its_own_is_asked_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert needed("jax") == [Build(".venv", "jax")]
    monkeypatch.setattr("wallsplit_scripts.nsys.checkout", lambda: tmp_path)
    venv(tmp_path / ".venv-jax", modules=("somethingelse",))
    with pytest.raises(Exception, match="jax is not installed"):
        workload_program("jax-cpu", {})
