"""SM use, launches, waits and communication against their reference on real traces and on minimal ones."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_use import cut, no_phase
from shared_traces import CASE_ORACLES, CASES, ORACLES, TRACES, needs_shared_traces
from wallsplit.ledger.activity import activities
from wallsplit.ledger.host import on_other_devices
from wallsplit.ledger.windows import default_window
from wallsplit.model import load
from wallsplit.trace import Trace
from wallsplit.why.comm import comm, rank_skew
from wallsplit.why.launch import launch
from wallsplit.why.sm import sm
from wallsplit.why.sync import sync

REFERENCES = {
    **{name: (path, ORACLES / name / "why.json") for name, path in TRACES.items() if ORACLES},
    **{name: (path, CASE_ORACLES / name / "why.json") for name, path in CASES.items()},
}
NO_STEPS = np.empty(0, np.int64)


def differences(theirs: Any, ours: Any, at: str = "") -> Iterator[str]:
    """Return where ours differs: integers at all, floats by more than their digits; what only ours has is none."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key, value in theirs.items():
            yield from differences(value, ours.get(key, "missing"), f"{at}/{key}")
    elif isinstance(theirs, list) and isinstance(ours, list | tuple) and len(theirs) == len(ours):
        for number, (x, y) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(x, y, f"{at}/{number}")
    elif isinstance(theirs, float) and isinstance(ours, float):
        if not math.isclose(theirs, ours, rel_tol=1e-6, abs_tol=1e-12):
            yield f"{at}: {theirs}, not {ours}"
    elif theirs != ours:
        yield f"{at}: {theirs}, not {ours}"


def without_phases(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of waits summed over phases: which phase holds when is another part's promise."""
    sums: dict[str, dict[str, Any]] = {}
    for row in calls:
        own = sums.setdefault(row["name"], {**dict.fromkeys(row, 0), "name": row["name"], "phase": None})
        for key in row.keys() - {"name", "phase"}:
            own[key] += row[key]
    return sorted(sums.values(), key=lambda row: (-row["total_ns"], row["name"]))


@needs_shared_traces
@pytest.mark.parametrize("name", [name for name, (_, oracle) in REFERENCES.items() if oracle.exists()])
def test_every_figure_equals_the_reference(name: str) -> None:
    path, oracle = REFERENCES[name]
    reference = json.loads(Path(oracle).read_text())
    model = load(Trace.open(path))
    window, everything = default_window(model), activities(model)
    if window is None:
        assert reference["ledgers"] == []
        return
    elsewhere = on_other_devices(everything)
    found: list[str] = []
    for activity, theirs in zip(everything, reference["ledgers"], strict=True):
        if theirs["sync"]:
            theirs["sync"]["calls"] = without_phases(theirs["sync"]["calls"])
        if theirs["launch"]:
            del theirs["launch"]["per_step_med"]  # of steps: another part's promise
        ours = {
            "sm": sm(activity, window, model.gpus),
            "launch": launch(activity, window, NO_STEPS, cut(model, activity, window)),
            "sync": sync(activity, window, model.names, no_phase, elsewhere[activity.pid, activity.device]),
            "comm": comm(activity, window, model.names),
        }
        for key, value in ours.items():
            found += differences(theirs[key], value and asdict(value), f"{activity.pid}/{activity.device}/{key}")
    skew = rank_skew(everything, window)
    assert [*found, *differences(reference["rank_skew"], skew and asdict(skew), "rank_skew")] == []
