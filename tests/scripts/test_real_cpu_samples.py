"""Real captures of every CPU workload, small: what the samples say against the scheduler and the program's clocks."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from clocks import FAR_NS, agrees
from cpu_recordings import Recorded, ranges
from recordings import NAME, profile
from sampled import every, opened
from wallsplit.ledger.ledger import Window
from wallsplit.why.samples.shares import wilson
from workload_runs import need

pytestmark = [pytest.mark.nsys, pytest.mark.skipif(sys.platform != "linux", reason="capture works on Linux")]

PERIOD_NS = 2_000_000
"""Of CPU time, from one sample of a thread to the next: what nsys takes by default."""
CLOCKED = """
import json, pathlib, sys, time
from wallsplit_workloads import WORKLOADS, running
from wallsplit_workloads.workload import find, resolve
clocks, workload = [], find(WORKLOADS, sys.argv[2])
values = resolve(workload, dict(setting.split("=") for setting in sys.argv[3:]))
running.run(workload, values, lambda line: clocks.append(time.thread_time_ns()))
pathlib.Path(sys.argv[1]).write_text(json.dumps(clocks))
"""


def test_samples_fall_in_ranges_as_the_scheduler_saw_the_thread_run_there(recorded: Recorded, can_sample: None) -> None:
    ledger, why = recorded.trained()
    said = why.host_samples
    assert said is not None
    assert said.main.scheduling is not None
    scheduled = said.main.scheduling
    assert scheduled.on_cpu_ns + scheduled.off_cpu_ns + scheduled.unknown_ns == said.host_ns == ledger.wall_ns
    on_cpu = {phase.range: phase.on_cpu_ns or 0 for phase in said.phases}
    counts = {phase.range: phase.main.sample_count for phase in said.phases}
    assert all((phase.on_cpu_ns or 0) <= phase.host_ns for phase in said.phases)
    # a thread that is in the kernel runs and is not sampled: no share can be further off than that
    unseen = max(0, sum(on_cpu.values()) / (sum(counts.values()) * PERIOD_NS) - 1)
    far_off = {}
    for name, count in counts.items():
        low, high = wilson(count / sum(counts.values()), sum(counts.values()))
        share = on_cpu[name] / sum(on_cpu.values())
        if not 2 * low - high - unseen <= share <= 2 * high - low + unseen:  # three times as wide, nearly never beyond
            far_off[name] = (low, share, high)
    assert far_off == {}


def test_nearly_every_sample_of_the_libraries_used_here_has_a_class(recorded: Recorded, can_sample: None) -> None:
    said = recorded.trained()[1].host_samples
    assert said is not None
    every_summary = (said.main, said.other_driving)
    classes = [(each.sample_class, each.count) for summary in every_summary for each in summary.classes]
    unclear = sum(count for name, count in classes if name in ("unknown", "other"))
    assert unclear <= 0.1 * sum(count for _, count in classes) + 3


def test_what_a_range_is_known_to_execute_is_the_largest_class_in_it(recorded: Recorded, can_sample: None) -> None:
    said, known = recorded.trained()[1].host_samples, recorded.case.executes
    if not known:
        pytest.skip("nobody knows beforehand what its ranges execute most")
    assert said is not None
    phases = {phase.range: phase for phase in said.phases}
    for name, (sample_class, at_least) in known.items():
        (largest, *_) = phases[name].main.classes
        assert largest.sample_class == sample_class
        assert largest.share >= at_least
    if "step" in known and recorded.made.step_wall_ns:  # and nothing executes for longer than it is there
        clock_ns = sum(recorded.made.step_wall_ns)
        assert agrees(clock_ns, (phases["step"].main.sample_count - 1) * PERIOD_NS, FAR_NS)


def test_samples_of_an_epoch_are_as_many_as_its_cpu_time_by_the_threads_own_clock(
    tmp_path: Path, real_nsys: Path, can_sample: None
) -> None:
    need("nvtx")
    clocks_file, folder = tmp_path / "clocks.json", tmp_path / "t"
    settings = ("epochs=4", "steps=25", "threads=1")
    done = profile(folder, real_nsys, "--", sys.executable, "-c", CLOCKED, str(clocks_file), "numpy-sample", *settings)
    assert done.returncode == 0, done.stderr
    clocks = np.diff(json.loads(clocks_file.read_text()))  # one behind each epoch: the first has none before it
    model, samples = opened(folder / f"{NAME}.sqlite")
    epochs = ranges(model).filter(name="epoch").rows(named=True)[1:]
    for clock_ns, epoch in zip(clocks, epochs, strict=True):
        (said,) = every(model, samples, Window("epoch", epoch["start"], epoch["end"]))
        assert said is not None
        assert said.main.scheduling is not None
        # interrupts count for the scheduler and not for the thread; the kernel is not sampled
        assert said.main.scheduling.on_cpu_ns == pytest.approx(clock_ns, rel=0.05)
        assert said.main.sample_count * PERIOD_NS == pytest.approx(clock_ns, rel=0.1, abs=2 * PERIOD_NS)
