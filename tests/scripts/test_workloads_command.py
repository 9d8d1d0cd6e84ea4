from click.testing import CliRunner
from wallsplit_workloads import WORKLOADS

from wallsplit_scripts.workloads import workloads


def test_every_workload_is_listed_with_its_summary() -> None:
    lines = CliRunner().invoke(workloads, []).output.splitlines()
    assert [line.split()[0] for line in lines] == [workload.name for workload in WORKLOADS]
    assert all(line.endswith(workload.summary) for line, workload in zip(lines, WORKLOADS, strict=True))


def test_every_parameter_of_a_workload_is_listed() -> None:
    for workload in WORKLOADS:
        output = CliRunner().invoke(workloads, [workload.name]).output
        listed = [line.split()[0] for line in output.splitlines()[1:]]
        assert listed == [parameter.name for parameter in workload.parameters]
