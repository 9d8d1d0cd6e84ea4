"""Real captures of every CPU workload, small: epochs, steps and phases against the workload's own clocks and marks."""

import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from clocks import FAR_NS, agrees, around, inside
from cpu_recordings import MLP, Case, Recorded, record, total_ns
from wallsplit.ledger.ledger import Ledger
from wallsplit.run.manifest import RunManifest

pytestmark = [pytest.mark.nsys, pytest.mark.skipif(sys.platform != "linux", reason="capture works on Linux")]


def assert_parts(ledger: Ledger, marked: pl.DataFrame, parts: Mapping[str, str]) -> None:
    """Check that the parts of a ledger's `host` are the times of these ranges, and that there are no others."""
    found = ledger.host_parts
    assert found is not None
    said = {names: sum(found.get(name, 0) for name in names.split(" + ")) for names in parts}
    assert said == {names: total_ns(marked, terms) for names, terms in parts.items()}
    assert sum(said.values()) + found["host.run"] == ledger.wall_ns
    assert ledger.residual_ns == 0


def test_every_range_arrives(recorded: Recorded) -> None:
    seen = dict(recorded.marked.group_by("name").len().iter_rows())
    assert seen == recorded.made.marks


def test_epochs_last_as_long_as_the_workloads_clock_says(recorded: Recorded) -> None:
    epochs = recorded.marked.filter(name="epoch")
    bounds = (inside if recorded.case.is_inside else around)(recorded.marked, epochs)
    clock = [epoch.wall_ns for epoch in recorded.made.epochs]
    assert len(clock) == len(epochs) == recorded.made.parameters["epochs"]
    assert agrees(clock, *bounds)


def test_the_steps_found_are_those_the_workload_counted(recorded: Recorded) -> None:
    _, why = recorded.trained()
    made, found = recorded.made, why.steps
    assert made.steps is not None
    assert found.kinds is not None
    assert found.source == "nvtx"
    wanted = {"step": made.steps.train * len(made.epochs), "validation step": made.steps.validation * len(made.epochs)}
    assert {kind.name: kind.count for kind in found.kinds} == {name: count for name, count in wanted.items() if count}
    own = recorded.marked.filter(pl.col("name").is_in(["step", "validation_step"]))
    assert found.rows.select("start", "end").equals(own.select("start", "end"))
    if made.steps.validation:
        assert {kind.name: kind.role for kind in found.kinds} == {"step": "train", "validation step": "validation"}


def test_steps_last_as_long_as_the_workloads_clock_says(recorded: Recorded) -> None:
    if recorded.made.step_wall_ns is None:
        pytest.skip("this workload times no steps")
    _, why = recorded.trained()
    assert why.steps.kinds is not None
    step = next(kind for kind in why.steps.kinds if kind.name == "step")
    clock = np.array(recorded.made.step_wall_ns)
    least, most = around(recorded.marked, recorded.marked.filter(name="step"))
    assert agrees(recorded.made.step_wall_ns, least, most)
    assert agrees(int(clock.sum()), step.total_ns, int(most.sum()))
    steady = slice(step.warmup_count or 0, None)
    assert agrees(int(np.median(clock[steady])), int(step.med_ns), int(np.median(most[steady])))


def test_the_parts_of_host_are_what_the_workload_marks(recorded: Recorded) -> None:
    ledger, _ = recorded.trained()
    assert_parts(ledger, recorded.marked.filter(pid=ledger.pid), recorded.case.parts)


def test_further_clocks_of_the_workload_agree_with_the_parts_of_host(recorded: Recorded) -> None:
    made, (ledger, _) = recorded.made, recorded.trained()
    parts, own = ledger.host_parts or {}, results(made)
    validations = [epoch.wall_ns - epoch.train_wall_ns for epoch in made.epochs if epoch.train_wall_ns is not None]
    epochs_ns = sum(epoch.wall_ns for epoch in made.epochs)
    bounds = {  # least, clock, most
        "validation": (parts.get("host.validation", 0), sum(validations), epochs_ns),
        "compiling": (0, own.get("compile_wall_ns", 0), parts.get("host.compile", 0)),
        "item()": (0, own.get("item_wall_ns", 0), parts.get("host.metrics", 0)),
        "training": (0, epochs_ns, own.get("train_wall_ns", FAR_NS)),
        "all": (ledger.wall_ns, made.wall_ns, FAR_NS),
    }
    assert {name for name, (least, clock, most) in bounds.items() if not agrees(clock, least, most)} == set()


def test_every_process_of_a_pool_agrees_with_the_clock_of_its_model(tmp_path: Path, real_nsys: Path) -> None:
    models = ("--set", "models=2", "--set", "processes=2", "--set", "threads=1")
    recorded = record(Case(("pool", "--epochs", "2", "--steps", "30", *models), MLP), tmp_path, real_nsys)
    test_every_range_arrives(recorded)
    epochs = recorded.marked.filter(name="epoch")
    search = recorded.marked.filter(name="search")
    clocks = [model["wall_ns"] for model in results(recorded.made)["models"]]
    bounds = []  # of each model trained, in no order that the recording knows
    for (pid,), own in epochs.group_by("pid", maintain_order=True):
        marked, (ledger, why) = recorded.marked.filter(pid=pid), recorded.ledger(int(str(pid)))
        least, most = inside(marked, own)
        bounds += [(least[first : first + 2], most[first : first + 2]) for first in range(0, len(own), 2)]
        assert why.steps.kinds is not None
        assert {kind.name: kind.count for kind in why.steps.kinds} == {
            "step": 30 * len(own),
            "validation step": 8 * len(own),
        }
        assert_parts(ledger, marked, MLP)
    orders = itertools.permutations(clocks)
    assert any(all(agrees(clock, *bound) for clock, bound in zip(order, bounds, strict=True)) for order in orders)
    assert agrees(results(recorded.made)["search_wall_ns"], *around(recorded.marked, search))
    parent, why = recorded.ledger(search["pid"][0])
    assert parent.host_parts == {"host.run": parent.wall_ns}  # no phase: it waits for the others
    assert why.steps.source is None


def results(made: RunManifest) -> dict[str, Any]:
    """Return what only this workload measures."""
    return dict(made.results)
