"""Once, steady and the rest: three ledgers that add up to the whole one."""

import pytest

from builders import TraceBuilder
from wallsplit.accounts import ACCOUNTS
from wallsplit.diagnosis.diagnose import check_phases
from wallsplit.diagnosis.diagnosis import PhaseOfRun
from wallsplit.errors import LedgerError, WindowError
from wallsplit.pipeline import analyze

MS = 1_000_000


def a_loop(build: TraceBuilder, steps: int = 12) -> TraceBuilder:
    """Add 100 ms of start-up, steps of 10 ms of which the GPU works 8, and 30 ms after them."""
    build.api("cudaMalloc", 0, 5 * MS).api("cudaFree", 100 * MS + steps * 10 * MS + 20 * MS, 130 * MS + steps * 10 * MS)
    for step in range(steps):
        start = 100 * MS + step * 10 * MS
        build.range("train step", start, start + 10 * MS)
        build.api("cudaLaunchKernel", start, start + MS // 2, corr=step).kernel(start + MS, start + 9 * MS, corr=step)
    return build


def test_the_three_add_up_to_the_ledger_and_meet_where_the_steps_begin_and_end(build: TraceBuilder) -> None:
    analysis = analyze(a_loop(build).write())
    assert analysis.explained is not None
    (why,) = analysis.explained.ledgers
    phases = why.diagnosis.phases_of_run
    assert phases is not None
    assert [(phase.name, phase.start_ns, phase.end_ns) for phase in phases] == [
        ("once", 0, 100 * MS),
        ("steady", 100 * MS, 220 * MS),
        ("rest", 220 * MS, 250 * MS),
    ]
    assert phases[1].accounts["gpu.kernel"] == 12 * 8 * MS
    for account in ACCOUNTS:
        assert sum(phase.accounts[account] for phase in phases) == analysis.ledgers[0].accounts[account]


def test_the_window_steady_is_the_steady_phase(build: TraceBuilder) -> None:
    window = analyze(a_loop(build).write(), "steady").window
    assert window is not None
    assert (window.name, window.start_ns, window.end_ns) == ("steady", 100 * MS, 220 * MS)


def test_without_steps_the_window_steady_is_refused_with_the_reason(build: TraceBuilder) -> None:
    with pytest.raises(WindowError, match="window steady: no steady steps: "):
        analyze(build.api("cudaLaunchKernel", 0, 5, corr=1).kernel(5, 9, corr=1).write(), "steady")


def test_phases_that_do_not_add_up_are_refused() -> None:
    nothing = dict.fromkeys(ACCOUNTS, 0)
    phases = [PhaseOfRun("once", 0, 5, {**nothing, "host": 5}), PhaseOfRun("steady", 5, 9, {**nothing, "host": 4})]
    check_phases(phases, {**nothing, "host": 9})
    with pytest.raises(LedgerError, match="they hold 9 ns of host, the ledger 10 ns"):
        check_phases(phases, {**nothing, "host": 10})
