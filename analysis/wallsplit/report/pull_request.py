"""A comparison as the comment of a pull request: GitHub-flavoured Markdown without images, below GitHub's limit."""

from collections.abc import Iterator

from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.repeats import KINDS
from wallsplit.errors import ReportError
from wallsplit.report.comparison_report import accounts, changed, changes_table
from wallsplit.report.markdown import escape, table_text
from wallsplit.text import for_people
from wallsplit.words.changes import graphed, how_sure, label, sentence, unit, warnings
from wallsplit.words.comparison_verdict import comparison_verdict

MARK = "<!-- wallsplit compare -->"
"""The first line: by it a bot finds the comment that it is to update."""
LIMIT = 65_536
"""Characters that a comment has at most; ours stays below that in bytes, too."""
ROWS = (20, 10, 5, 3, 0)
"""Rows of a table: fewer until the comment fits, at last no tables."""
_PAIRS = 10


def pull_request(comparison: Comparison, top: int = ROWS[0]) -> str:
    """Return the comment.

    Raises:
        ReportError: even without tables it is too long.
    """
    for rows in (top, *(fewer for fewer in ROWS if fewer < top)):
        text = "\n\n".join(_parts(comparison, rows)) + "\n"
        if len(text.encode()) < LIMIT:
            return text
    raise ReportError(f"{len(comparison.sides)} sides do not fit a comment of {LIMIT:,} characters; compare fewer")


def _parts(comparison: Comparison, rows: int) -> Iterator[str]:
    pairs = comparison.pairs[:_PAIRS]
    yield MARK
    yield f"### Where the wall time went, per {escape(unit(comparison))}"
    yield f"**{escape(comparison_verdict(comparison))}**"
    for pair in pairs:
        yield escape(sentence(comparison, pair))
    if len(comparison.pairs) > len(pairs):
        yield f"The first {len(pairs)} of {len(comparison.pairs)} pairs."
    for text in (*warnings(comparison), *(text for pair in pairs if (text := graphed(pair)))):
        yield f"> [!WARNING]\n> {escape(text)}"
    yield table_text(accounts(comparison, _PAIRS))
    yield escape(how_sure(comparison))
    if rows:
        for pair in pairs:
            yield from _tables(comparison, pair, rows)
    elif any(changed(pair, kind.key) for pair in pairs for kind in KINDS):
        yield "Tables of what changed are left out: they do not fit a comment."


def _tables(comparison: Comparison, pair: Pair, rows: int) -> Iterator[str]:
    several = f": {label(pair.before)} → {label(pair.after)}" if len(comparison.pairs) > 1 else ""
    for kind in KINDS:
        changes = changed(pair, kind.key)
        if changes:
            of = f" ({min(rows, len(changes))} of {len(changes)})" if len(changes) > rows else ""
            summary = escape(for_people(f"{kind.title} that changed{of}{several}"))
            table = table_text(changes_table(comparison, kind, changes, rows), captioned=False)
            yield f"<details><summary>{summary}</summary>\n\n{table}\n\n</details>"
