"""A saved analysis is the analysis: what was written is read again, and nothing else is."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from analyses import ALL, hostile, usual
from builders import TraceBuilder
from shared_traces import CASES, TRACES, needs_shared_traces
from wallsplit.analysis import Analysis, Failure
from wallsplit.errors import SavedAnalysisError
from wallsplit.note import LEVELS
from wallsplit.pipeline import analyze
from wallsplit.report.from_json import outcomes
from wallsplit.report.json import LISTED, document, text

SAMPLES = sorted((Path(__file__).parents[3] / "traces").glob("*.sqlite"))


def saved(analysis: Analysis) -> str:
    return text(document([analysis]))


NOT_WRITTEN = (".explained.memory_over_time", ".steps.accounts", "].course")
"""Of what explains the ledgers: memory at every instant, the accounts of every step, strips over time."""


def as_written(analysis: Analysis) -> Analysis:
    """Return the analysis as its document has it: notes gravest first, the first rows of tables that it cuts."""
    notes = tuple(sorted(analysis.notes, key=lambda note: LEVELS.index(note.level)))
    tables = {n: t if t is None or n not in LISTED else t.head(LISTED[n]) for n, t in analysis.tables.items()}
    return replace(analysis, notes=notes, tables=tables)


def differences(one: object, other: object, place: str = "") -> list[str]:
    """Return where two values differ, whatever is inside them, but for what the document leaves out."""
    if isinstance(one, pl.DataFrame) and isinstance(other, pl.DataFrame):
        return [] if one.schema == other.schema and one.equals(other) else [place]
    if is_dataclass(one) and type(one) is type(other):
        names = [field.name for field in fields(one) if not f"{place}.{field.name}".endswith(NOT_WRITTEN)]
        return [d for n in names for d in differences(getattr(one, n), getattr(other, n), f"{place}.{n}")]
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return [f"{place}: {list(one)}, {list(other)}"]
        return [d for key in one for d in differences(one[key], other[key], f"{place}[{key!r}]")]
    if isinstance(one, tuple | list) and type(one) is type(other) and len(one) == len(other):
        return [d for i, each in enumerate(zip(one, other, strict=True)) for d in differences(*each, f"{place}[{i}]")]
    return [] if type(one) is type(other) and one == other else [place]


def assert_survives(analysis: Analysis) -> None:
    """Assert that the analysis is read as it was written, and written again as it was."""
    found = Analysis.from_json(saved(analysis))
    assert differences(found, as_written(analysis)) == []
    once, again = document([analysis])["traces"][0], document([found])["traces"][0]
    assert {key for key in once if once[key] != again[key] and not key.endswith("_rows_total")} == set()


@pytest.mark.parametrize("make", ALL)
def test_what_was_written_is_read(make: Callable[[], Analysis]) -> None:
    assert_survives(make())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("window", [None, "nvtx"])
def test_the_samples_are_read_as_they_were_analysed(path: Path, window: str | None) -> None:
    assert_survives(analyze(path, window))


def test_of_many_ranges_each_ledger_keeps_its_window(build: TraceBuilder) -> None:
    build.range("step", 0, 50).range("step", 60, 90).api("cudaLaunchKernel", 5, 8, 1).kernel(10, 20, 1)
    analysis = analyze(build.write(), "nvtx:step")
    assert [ledger.window is not None for ledger in analysis.ledgers] == [True, True]
    assert_survives(analysis)


@needs_shared_traces
@pytest.mark.parametrize(
    "name", ["torch_ddp_2xh100_after", "graph_level_rtx3060", "python_nocuda_rtx8000", "julia_flux_gtx1650"]
)
def test_real_traces_are_read_as_they_were_analysed(name: str) -> None:
    assert_survives(analyze(TRACES[name]))


@needs_shared_traces
@pytest.mark.parametrize("name", CASES)
def test_cases_are_read_as_they_were_analysed(name: str) -> None:
    assert_survives(analyze(CASES[name]))


def test_a_file_is_read_by_its_path_and_several_traces_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(saved(usual()), encoding="utf-8")
    assert differences(Analysis.from_json(path), usual()) == []
    assert differences(Analysis.from_json(str(path)), usual()) == []
    path.write_text(text(document([Failure("a.sqlite", "is empty"), hostile()])), encoding="utf-8")
    failed, found = outcomes(path)
    assert failed == Failure("a.sqlite", "is empty")
    assert differences(found, as_written(hostile())) == []


def changed(**values: object) -> str:
    return json.dumps({**document([usual()]), **values})


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (changed(schema_version=1), "schema_version 1, where 2 can be read; it is older: analyse the trace again"),
        (changed(schema_version=99), "schema_version 99, where 2 can be read; it is newer: update wallsplit"),
        (changed(schema_version=True), "schema_version is missing"),
        (changed(traces=[]), "holds 0 traces, not one"),
        (changed(traces=[{"path": "x"}]), "is no saved analysis"),
        (changed(traces=7), "is no saved analysis"),
        (changed(traces=[{"path": "x", "error": "is empty"}]), "holds no analysis, but a failure: is empty"),
        ("{", "is no saved analysis"),
        ('{"a": ' * 100_000, "is no saved analysis"),
        ("no/such/file.json", "cannot be read"),
        ("\0", "is no saved analysis"),
    ],
    ids=range(11),
)
def test_what_is_no_saved_analysis_is_named_in_one_line(source: str, complaint: str) -> None:
    with pytest.raises(SavedAnalysisError) as caught:
        Analysis.from_json(source)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_of_another_type_is_named_with_its_place() -> None:
    wrong = document([usual()])
    wrong["traces"][0]["ledgers"][0]["accounts"]["host"] = "much"
    with pytest.raises(SavedAnalysisError, match=r"accounts\.host is 'much', not a whole number"):
        Analysis.from_json(json.dumps(wrong))
