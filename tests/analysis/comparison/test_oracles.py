"""Comparisons of shared traces equal those of an independent reference: fractions exactly."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shared_traces import SHARED, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.pairs import Comparison, Pair, compare
from wallsplit.comparison.repeats import Measured
from wallsplit.comparison.sides import named_paths
from wallsplit.pipeline import measure

pytestmark = needs_shared_traces
FOLDER = SHARED / "oracle_compare" if SHARED else Path()
ORACLES = sorted(path.stem for path in FOLDER.glob("compare_*.json"))


def compared(oracle: dict[str, Any]) -> Comparison:
    assert SHARED is not None
    arguments = [argument.replace("=", f"={SHARED / 'traces'}/") for argument in oracle["traces"]]
    known: dict[Path, Measured] = {}
    for paths in named_paths(arguments).values():
        known |= {path: measure(path, oracle["per"]) for path in paths if path not in known}
    sides = {label: [known[path] for path in paths] for label, paths in named_paths(arguments).items()}
    return compare(sides, oracle["per"])


def fraction(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"


@pytest.mark.parametrize("name", ORACLES)
def test_a_comparison_equals_that_of_the_reference(name: str) -> None:
    oracle = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    found = compared(oracle)
    for side, expected in zip(found.sides, oracle["sides"], strict=True):
        assert side.label == expected["label"]
        assert [repeat.units.count for repeat in side.repeats] == expected["units"]
        assert fraction(side.wall) == expected["wall"]
        assert {name: fraction(time) for name, time in side.accounts.items()} == expected["accounts"]
    for pair, expected in zip(found.pairs, oracle["pairs"], strict=True):
        check(pair, expected)


def check(pair: Pair, expected: dict[str, Any]) -> None:
    water = pair.waterfall
    assert (pair.before.label, pair.after.label, water.unit) == (
        expected["before"],
        expected["after"],
        expected["unit"],
    )
    assert water.wall_delta == expected["wall_delta"] == sum(water.account_deltas.values())
    assert water.account_deltas == expected["account_deltas"]
    assert list(water.account_deltas) == list(ACCOUNTS)
    assert list(water.not_measured_on_one_side) == expected["not_measured_on_one_side"]
    assert (pair.work_differs is not None) == expected["work_differs"]
    for ours, theirs in (("kernels", "kernel"), ("api", "api")):
        for row, other in zip(pair.rows.get(ours, ())[:40], expected[theirs], strict=True):
            assert (row.name, row.change, list(row.count)) == (other["name"], other["change"], other["count"])
            for figure in ("total_ns", "delta_ns", "by_count_ns", "by_mean_ns"):
                assert getattr(row, figure) == pytest.approx(other[figure]), (row.name, figure)
