"""What a process issued, in the order in which its host issued it."""

import pytest

from builders import TraceBuilder
from wallsplit.ledger.rows import rows_of_processes
from wallsplit.why.steps.sequence import launch_sequence
from wallsplit.why.steps.units import SYNC


@pytest.mark.parametrize("begin", [0, -1000])
def test_a_wait_comes_before_an_operation_issued_at_once_also_where_times_are_negative(
    begin: int, build: TraceBuilder
) -> None:
    build.api("cudaLaunchKernel", begin, begin + 2, corr=1).kernel(begin + 5, begin + 8, corr=1)
    build.api("cudaDeviceSynchronize", begin, begin + 9, corr=2)
    model = build.model()
    ((rows,),) = (devices.values() for devices in rows_of_processes(model).values())
    assert (launch_sequence(model, rows).kind == SYNC).tolist() == [True, False]
