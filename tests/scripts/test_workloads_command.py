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


def test_without_a_gpu_nothing_is_installed_for_a_gpu_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpu_lack", lambda: "no NVIDIA GPU or driver")
    with pytest.raises(WallsplitError, match="keras-gpu: no NVIDIA GPU or driver; run keras-cpu instead"):
        CliRunner().invoke(workloads, ["--extra-of", "keras-gpu"], catch_exceptions=False)


def test_one_name_at_a_time() -> None:
    assert CliRunner().invoke(workloads, ["numpy", "jax-cpu"]).exit_code == 2
