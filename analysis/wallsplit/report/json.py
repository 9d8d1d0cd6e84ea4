"""Analyses as the machine-readable document; docs/report.schema.json is its contract."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from wallsplit import __version__, native
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis, Failure, Outcome
from wallsplit.arithmetic.work import LedgerArithmetic, Work
from wallsplit.breakdowns import BREAKDOWNS
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.report.explanation_json import explained_trace, explanation
from wallsplit.run.manifest import to_value
from wallsplit.words.all_notes import all_notes

SCHEMA_VERSION = 2
_encoded = json.JSONEncoder(allow_nan=False).encode  # json.dumps makes an encoder per call: of a document, per row
LISTED = {breakdown.name: breakdown.listed for breakdown in BREAKDOWNS if breakdown.listed is not None}


def document(
    outcomes: Sequence[Outcome], comparison: dict[str, Any] | None = None, ranks: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the document of several traces, in the order given; of a failed one it holds path and error.

    `comparison` and `ranks` are what `comparison_json.py` and `ranks_report.py` make of those between them.

    Times are integers in ns, None is not measured, and no number is infinite or NaN.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "generator": {"name": "wallsplit", "version": __version__, "core": native.name()},
        "traces": [_failure(o) if isinstance(o, Failure) else _trace(o) for o in outcomes],
        "comparison": comparison,
        **({"ranks": ranks} if ranks else {}),
    }


def text(document: dict[str, Any]) -> str:
    """Return the document as ASCII JSON, a line per field and per row: no byte of it acts on a terminal."""
    return _lines(document, 4) + "\n"


def _lines(value: object, depth: int) -> str:
    """Break lines down to this depth only; `indent=` would leave json's fast encoder, and every cell has a line."""
    if depth and isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"{_encoded(key)}: {_lines(item, depth - 1)}" for key, item in value.items()) + "\n}"
    if depth and isinstance(value, list) and value:
        return "[\n" + ",\n".join(_lines(item, depth - 1) for item in value) + "\n]"
    return _encoded(value)


def _failure(failure: Failure) -> dict[str, Any]:
    return {"path": _path(failure.path), "error": _path(failure.message)}


def _trace(analysis: Analysis) -> dict[str, Any]:
    known = [breakdown.name for breakdown in BREAKDOWNS]
    names = (*known, *(name for name in analysis.tables if name not in known))
    return {
        "path": _path(analysis.path),
        "size_bytes": analysis.size_bytes,
        "format": analysis.format,
        "headline": analysis.headline,
        "nsys_version": analysis.nsys_version,
        "schema": analysis.schema_version,
        "reconstructed": analysis.reconstructed,
        "assumptions": list(analysis.assumptions),
        "gpus": analysis.gpus.to_dicts(),
        "processes": analysis.processes.to_dicts(),
        "run": to_value(analysis.run) if analysis.run else None,
        "arithmetic": _arithmetic(analysis),
        "perturbation": asdict(analysis.perturbation) if analysis.perturbation else None,
        "nvml": asdict(analysis.nvml) if analysis.nvml else None,
        "window": _window(analysis.window) if analysis.window else None,
        "window_is_explicit": analysis.window_is_explicit,
        "ledgers": [_ledger(ledger, why) for ledger, why in zip(analysis.ledgers, _reasons(analysis), strict=True)],
        "cpu_sampling": asdict(facts) if (facts := analysis.explained and analysis.explained.cpu_sampling) else None,
        **explained_trace(analysis.explained),
        **{name: _rows(analysis, name) for name in names},
        **{f"{name}_rows_total": _rows_total(analysis, name) for name in LISTED},
        "notes": [asdict(note) for note in all_notes(analysis)],
        "not_used": [asdict(table) for table in analysis.not_used],
    }


def _reasons(analysis: Analysis) -> Sequence[Explanation | None]:
    return analysis.explained.ledgers if analysis.explained else [None] * len(analysis.ledgers)


def _ledger(ledger: Ledger, why: Explanation | None) -> dict[str, Any]:
    exposure = {
        name: {"union_ns": e.union_ns, "hidden_ns": e.hidden_ns, "exposed_ns": e.exposed_ns}
        for name, e in ledger.api_exposure.items()
    }
    result = {
        "pid": ledger.pid,
        "device": ledger.device,
        "gpu": ledger.gpu,
        "wall_ns": ledger.wall_ns,
        "residual_ns": ledger.residual_ns,
        "gpu_busy_ns": ledger.gpu_busy_ns,
        "kernel_active_ns": ledger.kernel_active_ns,
        "busy_ratio": ledger.busy_ratio,
        "kernel_active_ratio": ledger.kernel_active_ratio,
        "gpu_complete": ledger.gpu_complete,
        "launch_coverage": ledger.launch_coverage,
        "api_complete": ledger.api_complete,
        "api_coverage": ledger.api_coverage,
        "accounts": {account: ledger.accounts[account] for account in ACCOUNTS},
        "host_parts": ledger.host_parts,
        "api_exposure": exposure,
        **explanation(why),
    }
    if ledger.window:
        result["window"] = _window(ledger.window)
    return result


def _arithmetic(analysis: Analysis) -> dict[str, Any] | None:
    if analysis.arithmetic is None:
        return None
    return {"ledgers": [_ledger_arithmetic(arithmetic) for arithmetic in analysis.arithmetic]}


def _ledger_arithmetic(arithmetic: LedgerArithmetic) -> dict[str, Any]:
    return {
        "pid": arithmetic.pid,
        "device": arithmetic.device,
        "counted": arithmetic.counted,
        "formula": arithmetic.formula,
        "peak": asdict(arithmetic.peak) if arithmetic.peak else None,
        "no_peak": arithmetic.no_peak,
        "works": [_work(work) for work in arithmetic.works],
    }


def _work(work: Work) -> dict[str, Any]:
    return {
        **asdict(work),
        "overhead_at_least_ns": work.overhead_at_least_ns,
        "overhead_at_most_ns": work.overhead_at_most_ns,
        "flop_utilisation_ratio": work.flop_utilisation,
    }


def _window(window: Window) -> dict[str, Any]:
    return {
        "name": window.name,
        "start_ns": window.start_ns,
        "end_ns": window.end_ns,
        "pid": window.pid,
        "wall_ns": window.wall_ns,
    }


def _rows(analysis: Analysis, name: str) -> list[dict[str, Any]] | None:
    frame = analysis.tables.get(name)
    if frame is None:
        return None
    listed = frame.head(LISTED.get(name, frame.height))
    return [{key: _finite(value) for key, value in row.items()} for row in listed.to_dicts()]


def _rows_total(analysis: Analysis, name: str) -> int | None:
    frame = analysis.tables.get(name)
    return None if frame is None else frame.height


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _path(text: str) -> str:
    """Return a text with a path in it; bytes that are no UTF-8 as escapes, since JSON has no place for them."""
    return text.encode("utf-8", "backslashreplace").decode()
