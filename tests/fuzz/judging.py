"""What is wrong with what the command said: nothing, if it did its work or refused in one line."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

CODES = (0, 1, 2)
LONGEST_LINE = 4_000
"""Characters of a message: the longest path that a system takes, and what is said of it."""
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
FORMULA = re.compile(r"(^|;)\s*([=+@＝＋＠]|[-－](?![\d.]))")
OWN_LINK = "https://ui.perfetto.dev"
"""The one place outside that a page names, in a link that loads nothing by itself."""
_TRACEBACK = re.compile(r"Traceback \(most recent|panicked at|Fatal Python error")


@dataclass(frozen=True)
class Ran:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str
    files: dict[str, bytes] = field(default_factory=dict)
    """Reports and tables, by name."""


def judged(ran: Ran) -> list[str]:
    """Return what is wrong with a run; empty is well."""
    return [*_ending(ran), *_terminal(ran), *_document(ran), *(x for item in ran.files.items() for x in _file(*item))]


def _ending(ran: Ran) -> Iterator[str]:
    if _TRACEBACK.search(ran.err):
        yield f"traceback: {ran.err.strip()[-600:]}"
        return
    if ran.code not in CODES:
        yield f"exit code {ran.code}: {ran.err[-300:]}"
    lines = ran.err.splitlines()
    if ran.code == 0 and lines:
        yield f"a success that says: {lines[0][:300]}"
    if ran.code == 1 and not (lines and all(line.startswith("wallsplit: ") for line in lines)):
        yield f"no line for each failure: {ran.err[:300]}"
    if any(len(line) > LONGEST_LINE for line in lines):
        yield f"a message of {max(map(len, lines))} characters: {ran.err[:200]}"


def _terminal(ran: Ran) -> Iterator[str]:
    if unseen := UNSEEN.search(ran.out + ran.err):
        yield f"{unseen[0]!r} on the terminal"


def _document(ran: Ran) -> Iterator[str]:
    if not ran.out.startswith("{"):
        return
    try:
        document = json.loads(ran.out, parse_constant=_refused)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    for trace in document["traces"]:
        for ledger in trace.get("ledgers", ()):
            yield from _ledger(ledger)
        for name, rows in trace.items():
            if isinstance(rows, list) and name != "launches":
                yield from (x for row in rows if isinstance(row, dict) for x in _figures(name, row))


def _refused(constant: str) -> float:
    raise ValueError(f"it holds {constant}")


def _ledger(ledger: dict[str, Any]) -> Iterator[str]:
    parts = [ns or 0 for ns in ledger["accounts"].values()]
    if sum(parts) != ledger["wall_ns"] or ledger["residual_ns"] or min(parts) < 0:
        yield f"a ledger that does not sum: {ledger['wall_ns']} of {parts}"
    for key in ("busy_ratio", "kernel_active_ratio", "api_coverage", "launch_coverage"):
        if ledger[key] is not None and not 0 <= ledger[key] <= 1:
            yield f"{key} is {ledger[key]}"
    for name, exposure in ledger["api_exposure"].items():
        if exposure["hidden_ns"] + exposure["exposed_ns"] != exposure["union_ns"] or min(exposure.values()) < 0:
            yield f"exposure of {name}: {exposure}"


def _figures(table: str, row: dict[str, Any]) -> Iterator[str]:
    low, middle, high = (row.get(key) for key in ("min_ns", "median_ns", "max_ns"))
    if None not in (low, middle, high) and not low <= middle <= high:  # type: ignore[operator]
        yield f"{table}: {low} ≤ {middle} ≤ {high}"
    total, count = row.get("total_ns"), row.get("count")
    if None not in (total, count, low, high) and not low * count <= total <= high * count:  # type: ignore[operator]
        yield f"{table}: {total} of {count} between {low} and {high}"


def _file(name: str, content: bytes) -> Iterator[str]:
    if name.endswith(".parquet"):
        return
    text = content.decode("utf-8", "replace")
    if unseen := UNSEEN.search(text):
        yield f"{unseen[0]!r} in {name}"
    if name.endswith(".csv"):
        cells = (cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row)
        yield from (f"{name} holds a formula: {cell[:60]!r}" for cell in cells if FORMULA.search(cell))
    if name.endswith(".svg"):
        try:
            ET.fromstring(content)
        except ET.ParseError as error:
            yield f"{name} is no XML: {error}"
    if name.endswith(".html"):
        page = _Page()
        page.feed(text)
        yield from (f"{name} holds {thing}" for thing in page.active[:3])


class _Page(HTMLParser):
    """Collects what acts in a page though it should not."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("iframe", "object", "embed", "base", "form", "link") or (tag == "script" and attrs):
            self.active.append(tag)
        for name, value in attrs:
            foreign = name in ("href", "src") and re.match(r"\s*(javascript|data:text|https?:|//)", value or "", re.I)
            is_ours = (tag, name, value) == ("a", "href", OWN_LINK)
            if name.startswith("on") or (foreign and not is_ours):
                self.active.append(f"{tag} {name}={str(value)[:60]}")
