"""Families: what kind of work a kernel does, by its name."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.kernel_names.families import FAMILIES, RULES, family
from wallsplit.model.communication import communication_library

_ROWS = (Path(__file__).parent / "real_kernels.tsv").read_text(encoding="utf-8").splitlines()
REAL = [*csv.DictReader(_ROWS, delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.mark.parametrize("row", REAL, ids=lambda row: row["label"])
def test_a_real_kernel_is_of_the_family_of_its_work(row: dict[str, str]) -> None:
    assert family(row["name"]) == row["family"]


def test_the_real_kernels_cover_every_family_and_every_rule_names_one() -> None:
    assert {row["family"] for row in REAL} == set(FAMILIES)
    assert {rule.family for rule in RULES} | {"communication", "other"} == set(FAMILIES)
    assert all(rule.why for rule in RULES)


@given(st.text() | st.sampled_from([row["name"] for row in REAL]))
def test_every_name_has_a_family_and_communication_is_what_the_ledger_books_as_such(name: str) -> None:
    assert family(name) in FAMILIES
    if communication_library(name):
        assert family(name) == "communication"


@pytest.mark.parametrize("row", REAL, ids=lambda row: row["label"])
def test_no_other_kernel_is_called_communication(row: dict[str, str]) -> None:
    assert (family(row["name"]) == "communication") == (communication_library(row["name"]) is not None)
