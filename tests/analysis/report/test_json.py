"""The machine-readable document."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator, ValidationError

from analyses import ALL, HOSTILE, analysis, cpu_run, hostile, ledger, usual, without_gpu_rows
from shared_traces import CASES, SAMPLED, TRACES, needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.analysis import Analysis, Failure
from wallsplit.ledger.ledger import Window
from wallsplit.note import KINDS
from wallsplit.pipeline import analyze
from wallsplit.report.json import document, text

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
RECORDED = TRACES | CASES | {path.stem: path for path in (SAMPLED.glob("*.sqlite") if SAMPLED else ())}


def first(analysis: Analysis) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(document([analysis])))["traces"][0]
    return found


def test_the_schema_is_itself_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("make", ALL)
def test_every_document_is_valid(make: Callable[[], Analysis]) -> None:
    VALIDATOR.validate(json.loads(text(document([make(), Failure("x.sqlite", "is empty")]))))


@needs_shared_traces
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_documents_of_real_traces_are_valid(name: str) -> None:
    VALIDATOR.validate(json.loads(text(document([analyze(RECORDED[name])]))))


def test_the_schema_refuses_what_it_does_not_know() -> None:
    wrong = document([usual()])
    wrong["traces"][0]["ledgers"][0]["surprise"] = 1
    with pytest.raises(ValidationError):
        VALIDATOR.validate(wrong)


def test_accounts_are_whole_in_order_and_add_up() -> None:
    found = first(usual())["ledgers"][0]
    assert list(found["accounts"]) == list(ACCOUNTS)
    assert sum(found["accounts"].values()) == found["wall_ns"]
    assert found["residual_ns"] == 0


def test_what_was_not_measured_is_null() -> None:
    assert first(cpu_run())["ledgers"][0]["accounts"]["gpu.kernel"] is None
    assert first(cpu_run())["kernel_summary"] is None
    assert first(without_gpu_rows())["ledgers"][0]["busy_ratio"] is None


def test_a_number_that_is_not_finite_is_null() -> None:
    frame = usual().tables["kernel_summary"]
    assert frame is not None
    odd = frame.with_columns(pl.lit(math.nan).alias("stddev_ns"), pl.lit(math.inf).alias("avg_ns"))
    row = first(replace(usual(), tables={"kernel_summary": odd}))["kernel_summary"][0]
    assert (row["stddev_ns"], row["avg_ns"]) == (None, None)


def test_names_are_whole_and_as_they_are() -> None:
    names = [row["name"] for row in first(hostile())["kernel_summary"]]
    assert names == list(HOSTILE)


def test_of_ranges_that_never_repeat_the_first_rows_by_total_are_listed_and_all_counted() -> None:
    frame = usual().tables["nvtx_summary"]
    assert frame is not None
    many = pl.concat([frame.head(1)] * 10_001).with_columns(total_ns=pl.int_range(10_001, 0, -1))
    found = first(replace(usual(), tables={"nvtx_summary": many}))
    assert [row["total_ns"] for row in found["nvtx_summary"]] == list(range(10_001, 1, -1))
    assert found["nvtx_summary_rows_total"] == 10_001
    assert found["nvtx_gpu_projection_rows_total"] is None


def test_the_text_acts_on_no_terminal() -> None:
    output = text(document([hostile()]))
    assert output.isascii()
    assert not [c for c in output if ord(c) < 32 and c != "\n"]


def test_a_path_that_is_no_utf8_is_escaped() -> None:
    assert first(replace(usual(), path="\udcff.sqlite"))["path"] == r"\udcff.sqlite"


def test_a_failed_trace_keeps_its_place_and_has_its_path_and_error_only() -> None:
    found = document([Failure("a.sqlite", "is empty"), usual()])["traces"]
    assert found[0] == {"path": "a.sqlite", "error": "is empty"}
    assert found[1]["headline"] == usual().headline


def test_a_reconstruction_is_a_warning_with_its_assumptions() -> None:
    one = replace(usual(), reconstructed=True, assumptions=("kernels are alike",))
    notes = first(one)["notes"]
    assert notes[0]["level"] == "warning"
    assert "Reconstructed" in notes[0]["text"]
    assert {
        "kind": "assumption",
        "level": "info",
        "text": "Assumption: kernels are alike",
        "pid": None,
        "device": None,
    } in (notes)


def test_a_ledger_of_one_range_among_many_has_its_window() -> None:
    one = replace(ledger(host=5), window=Window("nvtx:step", 1, 6))
    found = document([analysis(one)])
    assert found["traces"][0]["ledgers"][0]["window"] == {
        "name": "nvtx:step",
        "start_ns": 1,
        "end_ns": 6,
        "pid": None,
        "wall_ns": 5,
    }
    VALIDATOR.validate(found)


def test_the_kinds_of_notes_and_the_accounts_are_those_of_the_schema() -> None:
    trace = SCHEMA["$defs"]["trace"]["properties"]
    assert tuple(trace["notes"]["items"]["properties"]["kind"]["enum"]) == KINDS
    accounts_ = SCHEMA["$defs"]["ledger"]["properties"]["accounts"]
    assert tuple(accounts_["properties"]) == tuple(accounts_["required"]) == ACCOUNTS


def test_a_gpu_is_described_once_with_what_all_its_processes_did() -> None:
    one = analysis(
        ledger(3, pid=1, gpu_kernel=4, gpu_other=3, host=3), ledger(3, pid=2, gpu_kernel=3, gpu_other=4, host=3)
    )
    (gpu,) = first(one)["gpus"]
    assert (gpu["gpu"], gpu["device"], gpu["processes"]) == (3, 3, [1, 2])


def test_what_was_not_used_and_what_nsys_said_is_whole() -> None:
    found = first(hostile())
    assert found["not_used"][0] == {"table": HOSTILE[0], "rows": 7}
    assert [row["text"] for row in found["nsys_messages"]] == list(HOSTILE)
