"""What a check says: to a person, to JUnit, to GitHub, to a program."""

import json
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from wallsplit import __version__
from wallsplit.comparison.check.budgets import Limit
from wallsplit.comparison.check.judging import Judgement, Status
from wallsplit.report.markdown import escape as markdown_escape
from wallsplit.text import PROSE, for_people

SCHEMA_VERSION = 1
JUNIT_MARK = 'name="wallsplit check"'
SUMMARY_MARK = "### wallsplit check"
_SHOWN: Mapping[str, str] = {"kept": "kept", "broken": "BROKEN", "unknown": "unknown", "skipped": "skipped"}
WARNING = "warning"
_SIGNS: Mapping[str, str] = {"kept": "✅", "BROKEN": "❌", "unknown": "❔", "skipped": "➖", WARNING: "⚠️"}


def exit_code(judgements: Sequence[Judgement]) -> int:
    """Return 1 where a budget is broken that is no mere warning, else 2 where one is unknown, else 0."""
    if any(one.is_failure for one in judgements):
        return 1
    return 2 if any(one.status == "unknown" for one in judgements) else 0


def lines(judgements: Sequence[Judgement], warnings: Sequence[str]) -> list[str]:
    """Return a line for each budget, and one that counts them."""
    found = [f"{WARNING}  {_line(text)}" for text in warnings]
    found += [f"{_word(one):<7}  {_line(one.budget.name)}: {_line(one.text)}" for one in judgements]
    return [*found, counted(judgements)]


def counted(judgements: Sequence[Judgement]) -> str:
    """Return how many budgets there are, and what became of them."""
    words = [_word(one) for one in judgements]
    told = ", ".join(f"{words.count(word)} {word.lower()}" for word in (*_SHOWN.values(), WARNING) if word in words)
    return f"{len(judgements)} budget{'' if len(judgements) == 1 else 's'}: {told}."


def junit(judgements: Sequence[Judgement]) -> str:
    """Return the check as JUnit's XML: a case per budget; a broken warning is a case that passed and says so."""
    counts: dict[Status, int] = {status: sum(one.status == status for one in judgements) for status in _STATUSES}
    failures = sum(one.is_failure for one in judgements)
    cases = "\n".join(map(_case, judgements))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites>\n<testsuite name="wallsplit check" tests="{len(judgements)}" failures="{failures}" '
        f'errors="{counts["unknown"]}" skipped="{counts["skipped"]}">\n{cases}\n</testsuite>\n</testsuites>\n'
    )


_STATUSES: tuple[Status, ...] = ("kept", "broken", "unknown", "skipped")


def _case(one: Judgement) -> str:
    message = quoteattr(_line(one.text))
    tag = "failure" if one.is_failure else {"unknown": "error", "skipped": "skipped"}.get(one.status)
    said = f"warning: {one.text}" if one.status == "broken" else one.text
    inside = f"<{tag} message={message}/>" if tag else f"<system-out>{escape(_line(said))}</system-out>"
    return f'<testcase classname="wallsplit.check" name={quoteattr(_line(one.budget.name))}>{inside}</testcase>'


def annotations(judgements: Sequence[Judgement], warnings: Sequence[str]) -> list[str]:
    """Return GitHub's workflow commands for what is broken or unknown; nothing in them ends a command early."""
    found = [f"::warning title=wallsplit check::{_data(text)}" for text in warnings]
    for one in judgements:
        if one.status in ("broken", "unknown"):
            level = "error" if one.budget.severity == "error" else "warning"
            found.append(f"::{level} title={_property(f'wallsplit: {one.budget.name}')}::{_data(one.text)}")
    return found


def _data(text: str) -> str:
    return for_people(text, PROSE).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(judgements: Sequence[Judgement], warnings: Sequence[str]) -> str:
    """Return the check as Markdown for a workflow's summary."""
    rows = [
        f"| {_SIGNS[_word(one)]} | {markdown_escape(one.budget.name)} | {markdown_escape(one.text)} |"
        for one in judgements
    ]
    notes = [f"> [!WARNING]\n> {markdown_escape(text)}\n" for text in warnings]
    head = [SUMMARY_MARK, "", counted(judgements), "", *notes, "| | budget | found |", "| :-- | :-- | :-- |"]
    return "\n".join([*head, *rows]) + "\n"


def document(judgements: Sequence[Judgement], per: str, paths: Sequence[str], warnings: Sequence[str]) -> str:
    """Return the check as JSON; docs/check.schema.json is its contract."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "generator": {"name": "wallsplit", "version": __version__},
        "per": per,
        "traces": [path.encode("utf-8", "backslashreplace").decode() for path in paths],
        "exit_code": exit_code(judgements),
        "warnings": list(warnings),
        "budgets": [_value(one) for one in judgements],
    }
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _value(one: Judgement) -> dict[str, object]:
    budget = one.budget
    return {
        "name": budget.name,
        "figure": budget.figure,
        "kind": budget.kind,
        "max": _written(budget.max),
        "min": _written(budget.min),
        "regression": _written(budget.regression),
        "floor": _written(budget.floor),
        "severity": budget.severity,
        "status": one.status,
        "text": one.text,
        "values": None if one.values is None else list(one.values),
    }


def _written(limit: Limit | None) -> str | None:
    return limit.text if limit else None


def _word(one: Judgement) -> str:
    return WARNING if one.status == "broken" and not one.is_failure else _SHOWN[one.status]


def _line(text: str) -> str:
    return for_people(text, PROSE)
