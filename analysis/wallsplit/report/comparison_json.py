"""A comparison as it stands in the JSON document (docs/report.schema.json)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from wallsplit.comparison.decomposition import Row
from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.repeats import KINDS
from wallsplit.comparison.sides import Side
from wallsplit.words.changes import work_differs


def comparison_value(comparison: Comparison, traces: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the comparison as plain values; `traces` are the places of each side's traces in the document.

    Times per unit are floats; changes are whole numbers of the pair's unit, and sum to the change of the wall time.
    """
    return {
        "per": comparison.per,
        "why": comparison.why,
        "sides": [_side(side, traces[side.label]) for side in comparison.sides],
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _side(side: Side, places: Sequence[int]) -> dict[str, Any]:
    return {
        "label": _text(side.label),
        "traces": list(places),
        "units": [_number(repeat.units.count) for repeat in side.repeats],
        "wall_ns": float(side.wall),
        "accounts": {name: None if ns is None else float(ns) for name, ns in side.accounts.items()},
        "gpu_complete": side.gpu_complete,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    water = pair.waterfall
    return {
        "before": _text(pair.before.label),
        "after": _text(pair.after.label),
        "unit": water.unit,
        "wall_delta": water.wall_delta,
        "account_deltas": water.account_deltas,
        "part_deltas": water.part_deltas,
        "not_measured_on_one_side": list(water.not_measured_on_one_side),
        "work_differs": _text(differs) if (differs := work_differs(pair)) else None,
        "confidence": asdict(pair.confidence),
        **{kind.key: [_row(row) for row in pair.rows.get(kind.key, ())] for kind in KINDS},
    }


def _row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "name": _text(row.name), "maybe_replaces": row.maybe_replaces and _text(row.maybe_replaces)}


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _text(text: str) -> str:
    """Return a text, bytes of a file name that are no UTF-8 as escapes: JSON has no place for them."""
    return text.encode("utf-8", "backslashreplace").decode()
