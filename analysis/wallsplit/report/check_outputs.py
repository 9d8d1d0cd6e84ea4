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
    if any(judgement.is_failure for judgement in judgements):
        return 1
    return 2 if any(judgement.status == "unknown" for judgement in judgements) else 0


def lines(judgements: Sequence[Judgement], warnings: Sequence[str]) -> list[str]:
    """Return a line for each budget, and one that counts them."""
    lines = [f"{WARNING}  {_line(text)}" for text in warnings]
    lines += [
        f"{_word(judgement):<7}  {_line(judgement.budget.name)}: {_line(judgement.text)}" for judgement in judgements
    ]
    return [*lines, counted(judgements)]


def counted(judgements: Sequence[Judgement]) -> str:
    """Return how many budgets there are, and what became of them."""
    words = [_word(judgement) for judgement in judgements]
    tally = ", ".join(f"{words.count(word)} {word.lower()}" for word in (*_SHOWN.values(), WARNING) if word in words)
    return f"{len(judgements)} budget{'' if len(judgements) == 1 else 's'}: {tally}."


def junit(judgements: Sequence[Judgement]) -> str:
    """Return the check as JUnit's XML: a case per budget; a broken warning is a case that passed and says so."""
    counts: dict[Status, int] = {
        status: sum(judgement.status == status for judgement in judgements) for status in _STATUSES
    }
    failures = sum(judgement.is_failure for judgement in judgements)
    cases = "\n".join(map(_case, judgements))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites>\n<testsuite name="wallsplit check" tests="{len(judgements)}" failures="{failures}" '
        f'errors="{counts["unknown"]}" skipped="{counts["skipped"]}">\n{cases}\n</testsuite>\n</testsuites>\n'
    )


_STATUSES: tuple[Status, ...] = ("kept", "broken", "unknown", "skipped")


def _case(judgement: Judgement) -> str:
    message = quoteattr(_line(judgement.text))
    tag = "failure" if judgement.is_failure else {"unknown": "error", "skipped": "skipped"}.get(judgement.status)
    said = f"warning: {judgement.text}" if judgement.status == "broken" else judgement.text
    inside = f"<{tag} message={message}/>" if tag else f"<system-out>{escape(_line(said))}</system-out>"
    return f'<testcase classname="wallsplit.check" name={quoteattr(_line(judgement.budget.name))}>{inside}</testcase>'


def annotations(judgements: Sequence[Judgement], warnings: Sequence[str]) -> list[str]:
    """Return GitHub's workflow commands for what is broken or unknown; nothing in them ends a command early."""
    lines = [f"::warning title=wallsplit check::{_data(text)}" for text in warnings]
    for judgement in judgements:
        if judgement.status in ("broken", "unknown"):
            level = "error" if judgement.budget.severity == "error" else "warning"
            lines.append(f"::{level} title={_property(f'wallsplit: {judgement.budget.name}')}::{_data(judgement.text)}")
    return lines


def _data(text: str) -> str:
    return for_people(text, PROSE).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(judgements: Sequence[Judgement], warnings: Sequence[str]) -> str:
    """Return the check as Markdown for a workflow's summary."""
    rows = [
        f"| {_SIGNS[_word(judgement)]} | {markdown_escape(judgement.budget.name)} | {markdown_escape(judgement.text)} |"
        for judgement in judgements
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
        "budgets": [_value(judgement) for judgement in judgements],
    }
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _value(judgement: Judgement) -> dict[str, object]:
    budget = judgement.budget
    return {
        "name": budget.name,
        "figure": budget.figure,
        "kind": budget.kind,
        "max": _written(budget.max),
        "min": _written(budget.min),
        "regression": _written(budget.regression),
        "floor": _written(budget.floor),
        "severity": budget.severity,
        "status": judgement.status,
        "text": judgement.text,
        "values": None if judgement.values is None else list(judgement.values),
    }


def _written(limit: Limit | None) -> str | None:
    return limit.text if limit else None


def _word(judgement: Judgement) -> str:
    return WARNING if judgement.status == "broken" and not judgement.is_failure else _SHOWN[judgement.status]


def _line(text: str) -> str:
    return for_people(text, PROSE)
