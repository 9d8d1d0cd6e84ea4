"""Reference results of what explains a ledger, where this machine has them, and how they are compared."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared_traces import CASE_ORACLES, CASES, ORACLES, TRACES

REFERENCES: dict[str, tuple[Path, Path]] = {
    name: (trace, oracle)
    for name, trace, oracle in (
        *((name, trace, ORACLES / name / "why.json") for name, trace in TRACES.items() if ORACLES),
        *((name, trace, CASE_ORACLES / name / "why.json") for name, trace in CASES.items()),
    )
    if oracle.exists()
}
"""A trace and its reference, by name."""


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
