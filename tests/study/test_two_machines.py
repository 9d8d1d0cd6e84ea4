from dataclasses import replace

from studies import IDENTITY, absent, place
from wallsplit.report.document import Facts, Section, Table
from wallsplit.report.html import html
from wallsplit_study.cells import Outcome, machines
from wallsplit_study.report import report
from wallsplit_study.two_machines import OtherMachine, title, two_machines


def elsewhere(*outcomes: Outcome) -> OtherMachine:
    there = {**IDENTITY, "processor": "another processor", "gpu": "A GPU"}
    return OtherMachine("cpu-study", [replace(outcome, identity=there) for outcome in outcomes])


def blocks(section: Section | None) -> tuple[Facts, Table]:
    assert section is not None
    facts, _, table = section.blocks
    assert isinstance(facts, Facts)
    assert isinstance(table, Table)
    return facts, table


def test_each_machine_is_named_and_no_number_mixes_the_two() -> None:
    facts, table = blocks(two_machines(place("numpy", 32, 100, 300), elsewhere(*place("numpy", 32, 50))))
    assert [(fact.title, fact.value) for fact in facts.facts] == [
        ("This machine", "processor a processor"),
        ("The other (cpu-study)", "processor another processor, gpu A GPU"),
    ]
    assert table.rows == (("grid", "numpy", "numpy", 32, None, "time per epoch", 200, 50, 0.25),)


def test_what_one_machine_alone_measured_has_no_ratio() -> None:
    here = [*place("numpy", 32, 100), absent("cupy", 32)]
    _, table = blocks(two_machines(here, elsewhere(*place("jax-cpu", 32, 7))))
    assert [(row[2], *row[6:]) for row in table.rows] == [("numpy", 100, None, None), ("jax-cpu", None, 7, None)]


def test_two_studies_without_a_measurement_have_nothing_to_show() -> None:
    assert two_machines([absent("cupy", 32)], elsewhere(absent("cupy", 32))) is None


def test_the_other_machine_stands_in_its_own_section_alone() -> None:
    here = place("numpy", 32, 100_000_000)
    with_other = report(here, other=elsewhere(*place("numpy", 32, 50_000_000)))
    tables = [block for section in report(here).sections for block in section.blocks if isinstance(block, Table)]
    beside = [block for section in with_other.sections for block in section.blocks if isinstance(block, Table)]
    assert [table for table in beside if table.caption != "Two machines"] == tables
    assert "another processor" in html(with_other)


def test_machines_are_listed_once_each() -> None:
    here, there = place("numpy", 32, 1, 2), elsewhere(*place("numpy", 32, 3)).outcomes
    assert machines([*here, *there]) == [
        {"processor": "a processor"},
        {"processor": "another processor", "gpu": "A GPU"},
    ]
    assert title([replace(one, identity={}) for one in here]) is None
