"""The figures of earlier runs that a regression is told from: numbers only, fit to be committed."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wallsplit.comparison.check.budgets import Budget
from wallsplit.comparison.check.figures import kind, value
from wallsplit.comparison.repeats import Machine, Repeat
from wallsplit.errors import BudgetError
from wallsplit.frozen import dataclass

SCHEMA_VERSION = 1
MARK = '"baseline_of": "wallsplit check"'
"""What every such file of ours carries: it may be overwritten."""
_ADVICE = "write it anew with --write-baseline"


@dataclass(frozen=True)
class Baseline:
    """Figures of earlier runs, per unit, and the machine they ran on."""

    per: str
    figures: dict[str, tuple[float, ...]]
    machine: Machine


def baseline(budgets: Sequence[Budget], repeats: Sequence[Repeat], per: str) -> Baseline:
    """Return the figures that budgets are about, of traces that all tell them in full."""
    figures = {}
    for figure in dict.fromkeys(budget.figure for budget in budgets):
        values = [value(repeat, figure) for repeat in repeats]
        known = [float(amount.exact) for amount in values if amount is not None and not amount.bound]
        if len(known) == len(values):
            figures[figure] = tuple(known)
    return Baseline(per, figures, machine_of(repeats))


def machine_of(repeats: Sequence[Repeat]) -> Machine:
    """Return the machine that the traces were recorded on; of several machines, all GPUs, and no CPU."""
    gpus = sorted({gpu for repeat in repeats for gpu in repeat.machine.gpus})
    cpus = {repeat.machine.cpu for repeat in repeats}
    return Machine(tuple(gpus), cpus.pop() if len(cpus) == 1 else None)


def written(baseline: Baseline) -> str:
    """Return the baseline as JSON text."""
    figures = {name: {"values": list(values), "kind": kind(name)} for name, values in baseline.figures.items()}
    document = {
        "schema_version": SCHEMA_VERSION,
        "baseline_of": "wallsplit check",
        "per": baseline.per,
        "machine": {"gpus": list(baseline.machine.gpus), "cpu": baseline.machine.cpu},
        "figures": figures,
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def read(path: Path) -> Baseline:
    """Return the baseline in a file.

    Raises:
        BudgetError: it cannot be read, or is no baseline.
    """
    try:
        return _read(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BudgetError(f"{path}: the baseline cannot be read ({error.strerror}); {_ADVICE}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise BudgetError(f"{path}: is no baseline ({what}); {_ADVICE}") from error


def _read(document: Any) -> Baseline:
    if document["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"schema_version {document['schema_version']!r}, where {SCHEMA_VERSION} can be read")
    figures = {name: tuple(_numbers(name, figure["values"])) for name, figure in document["figures"].items()}
    machine = document.get("machine") or {}
    return Baseline(
        str(document["per"]), figures, Machine(tuple(map(str, machine.get("gpus", ()))), machine.get("cpu"))
    )


def _numbers(name: str, values: Any) -> list[float]:
    numbers = [float(amount) for amount in values]
    if not numbers or not all(math.isfinite(amount) and amount >= 0 for amount in numbers):
        raise ValueError(f"the values of {name!r} are no numbers")
    return numbers
