"""What explains a ledger, as the document has it, against its reference on real traces and minimal ones."""

import json
from pathlib import Path

import pytest

from references import REFERENCES, differences
from shared_traces import needs_shared_traces
from wallsplit.pipeline import analyze
from wallsplit.report.json import document, text

HIDDEN = "steps_hidden_nvtx"  # the steps with the ranges hidden: tests/analysis/why/steps has it


@needs_shared_traces
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_every_figure_of_the_document_equals_the_reference(name: str) -> None:
    trace, oracle = REFERENCES[name]
    reference = json.loads(Path(oracle).read_text())
    (ours,) = json.loads(text(document([analyze(trace)])))["traces"]
    for ledger, theirs in zip(ours["ledgers"], reference["ledgers"], strict=True):
        theirs.pop(HIDDEN)
        ledger["steps"]["starts_sum_ns"] = sum(row["start"] for row in ledger["steps"]["rows"])
        if not theirs["steps"]["count"]:
            ledger["steps"] = {key: ledger["steps"][key] for key in ("source", "reason", "count")}
        assert list(differences(theirs, ledger)) == []
    assert list(differences(reference["rank_skew"], ours["rank_skew"])) == []
