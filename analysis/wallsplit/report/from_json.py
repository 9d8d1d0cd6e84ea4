"""Analyses out of the document that `report/json.py` writes: what is compared or checked later needs no trace."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wallsplit import schema
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis, Failure, Outcome
from wallsplit.arithmetic.work import LedgerArithmetic
from wallsplit.breakdowns import BREAKDOWNS
from wallsplit.errors import SavedAnalysisError
from wallsplit.ledger.ledger import Exposure, Ledger, Window
from wallsplit.model.not_used import NotUsedTable
from wallsplit.note import Note
from wallsplit.report.explanation_from_json import explained
from wallsplit.report.frames_from_json import frame
from wallsplit.report.json import SCHEMA_VERSION
from wallsplit.run.decoding import DecodeError, decode
from wallsplit.run.manifest import RunManifest
from wallsplit.run.nvml import NvmlSummary
from wallsplit.run.perturbation import Perturbation

Value = dict[str, Any]


def outcomes(source: str | Path) -> tuple[Outcome, ...]:
    """Return the analyses, and the failures, of a saved document, given as JSON text or as the path of a file.

    Equal to what was written, but for what the document leaves out: notes come gravest first, tables that it cuts have
    their first rows, of what explains the ledgers there is what it has, and bytes of a path that are no UTF-8 are
    escapes.

    Raises:
        SavedAnalysisError: it cannot be read, is no such document, or is one of another version of the schema.
    """
    name, text = _text(source)
    try:
        document = json.loads(text)
        _check_version(document)
        return tuple(_outcome(trace) for trace in document["traces"])
    except (ValueError, RecursionError) as error:  # DecodeError, too, is a ValueError
        raise SavedAnalysisError(f"{name}: is no saved analysis ({error}); {_ADVICE}") from error
    except (KeyError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
        raise SavedAnalysisError(f"{name}: is no saved analysis ({reason}); {_ADVICE}") from error


def analysis(source: str | Path) -> Analysis:
    """Return the one analysis of a saved document, given as JSON text or as the path of a file.

    Raises:
        SavedAnalysisError: as for `outcomes`; or the document has several traces, or one that could not be analysed.
    """
    saved = outcomes(source)
    if len(saved) != 1:
        raise SavedAnalysisError(f"{_text(source)[0]}: holds {len(saved)} traces, not one; save each on its own")
    if isinstance(saved[0], Failure):
        raise SavedAnalysisError(f"{_text(source)[0]}: holds no analysis, but a failure: {saved[0].message}")
    return saved[0]


_ADVICE = "write one with: wallsplit analyze TRACE --json"


def _text(source: str | Path) -> tuple[str, str]:
    """Return what messages call the source, and its text. Text that begins with a brace is the document itself."""
    if isinstance(source, str) and source.lstrip()[:1] == "{":
        return "the text", source
    try:
        return str(source), Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise SavedAnalysisError(f"{source}: cannot be read ({error.strerror}); {_ADVICE}") from error
    except ValueError as error:  # no UTF-8, or no path at all
        raise SavedAnalysisError(f"{str(source)[:80]}: is no saved analysis ({error}); {_ADVICE}") from error


def _check_version(document: object) -> None:
    version = document.get("schema_version") if isinstance(document, dict) else None
    if type(version) is not int:
        raise DecodeError("schema_version is missing")
    if version != SCHEMA_VERSION:
        what = "newer: update wallsplit" if version > SCHEMA_VERSION else "older: analyse the trace again"
        raise DecodeError(f"schema_version {version}, where {SCHEMA_VERSION} can be read; it is {what}")


def _outcome(trace: Value) -> Outcome:
    if "error" in trace:
        return Failure(trace["path"], trace["error"])
    ledgers = tuple(_ledger(value) for value in trace["ledgers"])
    return Analysis(
        path=trace["path"],
        size_bytes=trace["size_bytes"],
        format=trace["format"],
        headline=trace["headline"],
        nsys_version=trace["nsys_version"],
        schema_version=trace["schema"],
        gpus=frame(trace["gpus"], schema.GPU_USE),
        processes=frame(trace["processes"], schema.PROCESSES),
        window=decode(Window | None, trace["window"], "window"),
        window_is_explicit=trace["window_is_explicit"],
        ledgers=ledgers,
        tables={b.name: _table(trace[b.name], b.schema) for b in BREAKDOWNS if b.name in trace},
        notes=_notes(trace),
        run=decode(RunManifest | None, trace["run"], "run"),
        arithmetic=_optional(trace["arithmetic"], _arithmetic),
        perturbation=decode(Perturbation | None, trace["perturbation"], "perturbation"),
        nvml=decode(NvmlSummary | None, trace["nvml"], "nvml"),
        reconstructed=trace["reconstructed"],
        assumptions=tuple(trace["assumptions"]),
        explained=explained(trace, ledgers),
        not_used=decode(tuple[NotUsedTable, ...], trace["not_used"], "not_used"),
    )


def _ledger(value: Value) -> Ledger:
    accounts = decode(Mapping[str, int | None], value["accounts"], "accounts")
    return Ledger(
        pid=value["pid"],
        device=value["device"],
        gpu=value["gpu"],
        wall_ns=value["wall_ns"],
        accounts={account: accounts[account] for account in ACCOUNTS},
        gpu_busy_ns=value["gpu_busy_ns"],
        kernel_active_ns=value["kernel_active_ns"],
        gpu_complete=value["gpu_complete"],
        launch_coverage=value["launch_coverage"],
        api_complete=value["api_complete"],
        api_coverage=value["api_coverage"],
        api_exposure=decode(Mapping[str, Exposure], value["api_exposure"], "api_exposure"),
        window=decode(Window | None, value.get("window"), "window"),
        host_parts=decode(Mapping[str, int] | None, value["host_parts"], "host_parts"),
    )


def _table(rows: list[Value] | None, columns: pl.Schema) -> pl.DataFrame | None:
    return None if rows is None else frame(rows, columns)


def _notes(trace: Value) -> tuple[Note, ...]:
    """Return the notes; those that the document adds to a reconstruction are in other fields of it."""
    notes: tuple[Note, ...] = decode(tuple[Note, ...], trace["notes"], "notes")
    if not trace["reconstructed"]:
        return notes
    return notes[1 : len(notes) - len(trace["assumptions"])]


def _arithmetic(value: Value) -> tuple[LedgerArithmetic, ...]:
    arithmetic: tuple[LedgerArithmetic, ...] = decode(
        tuple[LedgerArithmetic, ...], value["ledgers"], "arithmetic.ledgers"
    )
    return arithmetic


def _optional(value: Any, read: Callable[[Any], Any]) -> Any:
    return None if value is None else read(value)
