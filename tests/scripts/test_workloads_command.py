import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from wallsplit.errors import WallsplitError
from wallsplit_scripts.workloads import workloads
from wallsplit_workloads import WORKLOADS, machine


def test_every_workload_is_listed_with_its_summary() -> None:
    lines = CliRunner().invoke(workloads, []).output.splitlines()
    assert [line.split()[0] for line in lines] == [workload.name for workload in WORKLOADS]
    assert all(line.endswith(workload.summary) for line, workload in zip(lines, WORKLOADS, strict=True))


def test_every_parameter_of_a_workload_is_listed() -> None:
    for workload in WORKLOADS:
        output = CliRunner().invoke(workloads, [workload.name]).output
        listed = [line.split()[0] for line in output.splitlines()[1:]]
        assert listed == [parameter.name for parameter in workload.parameters]


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: None)


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize(("name", "extra"), [("numpy", "profile"), ("keras-cpu", "tensorflow"), ("iris-gpu", "torch")])
def test_the_extra_a_workload_needs_is_told_to_the_makefile(name: str, extra: str) -> None:
    assert CliRunner().invoke(workloads, ["--extra-of", name]).output == f"{extra}\n"


def test_without_a_gpu_nothing_is_installed_for_a_gpu_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU or driver")
    with pytest.raises(WallsplitError, match="keras-gpu: no NVIDIA GPU or driver; run keras-cpu instead"):
        CliRunner().invoke(workloads, ["--extra-of", "keras-gpu"], catch_exceptions=False)


@pytest.mark.usefixtures("with_gpu")
def test_every_extra_told_is_one_of_this_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = {CliRunner().invoke(workloads, ["--extra-of", w.name]).output.strip() for w in WORKLOADS}
    assert told <= set(project["optional-dependencies"])
