"""The Markdown page, read by a CommonMark parser with GitHub's tables."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analyses import ALL, HOSTILE, hostile, incomplete, usual, without_gpu_rows
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.document import Table
from wallsplit.report.index import index
from wallsplit.report.markdown import MARK, escape, figures, markdown
from wallsplit.text import for_people

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    """Return all tokens of a page, those within lines too."""
    return [t for token in PARSER.parse(text) for t in (token, *(token.children or []))]


@pytest.mark.parametrize("name", HOSTILE)
def test_an_escaped_name_reads_as_itself_and_as_nothing_else(name: str) -> None:
    for frame in ("Before {} after", "| a | b |\n|---|---|\n| {} | x |", "- {} end", "[{}](target.md)"):
        found = tokens(frame.format(escape(name)))
        texts = "".join(t.content for t in found if t.type in ("text", "text_special"))
        assert for_people(name, 2_000) in texts
        allowed = {"link_open"} if frame.startswith("[") else set()
        markup = {t.type for t in found if t.type in ("link_open", "image", "code_inline", "strong_open", "em_open")}
        assert markup == allowed
        assert not [t for t in found if t.type.startswith(("html", "fence", "s_open"))]


@pytest.mark.parametrize("make", ALL)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(make: Callable[[], Analysis]) -> None:
    lines = markdown(report(make()), "run").splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert tables
    for before, line in pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|")  # a name holds no "|": it is written as an entity


@pytest.mark.parametrize("make", ALL)
def test_every_table_is_read_as_one(make: Callable[[], Analysis]) -> None:
    found = report(make())
    tables = [block for section in found.sections for block in section.blocks if isinstance(block, Table)]
    read = [t for t in tokens(markdown(found, "run")) if t.type in ("table_open", "tr_open")]
    todo = len(found.first.advice) if found.first else 0
    assert len(read) == sum(2 + len(table.rows) for table in tables) + (2 + todo if todo else 0)


FOLDED = ("<details>", "<summary>", "</summary>", "<summary>Show</summary>", "</details>")


def test_hostile_names_make_no_html() -> None:
    html = [t for t in tokens(markdown(report(hostile()), "run")) if t.type.startswith("html")]
    assert {t.content.strip() for t in html} <= {f"{MARK}0.1.0 -->", "<sub>", "</sub>", *FOLDED}


def test_figures_are_files_beside_the_page() -> None:
    found = report(usual())
    images = [t for t in tokens(markdown(found, "my%run")) if t.type == "image"]
    assert [image.attrs["src"] for image in images] == [f"my%25run.{figure.name}.svg" for figure in figures(found)]
    assert all(image.content for image in images)


@pytest.mark.parametrize("make", ALL)
def test_equal_analyses_give_equal_text(make: Callable[[], Analysis]) -> None:
    assert markdown(report(make()), "run") == markdown(report(make()), "run")


def test_the_mark_is_on_the_first_line_and_no_folder_anywhere() -> None:
    text = markdown(report(usual()), "run")
    assert text.startswith(MARK)
    assert "/some/folder" not in text


def test_gpu_figures_of_an_incomplete_trace_are_lower_bounds() -> None:
    text = markdown(report(incomplete()), "run")
    assert (
        "| gpu.kernel | ≥\N{NO-BREAK SPACE}300\N{NO-BREAK SPACE}ns | ≥\N{NO-BREAK SPACE}30.0\N{NO-BREAK SPACE}% |"
        in text
    )
    assert not re.search(r"(?<!≥\s)(?<!least\s)30\.0\s%", text)


def test_without_gpu_rows_the_gpu_is_not_measured() -> None:
    text = markdown(report(without_gpu_rows()), "run")
    assert "| gpu.kernel | not measured | not measured |" in text


def test_an_index_links_to_the_pages_beside_it() -> None:
    text = markdown(index([usual()], ["a%b"], [("/some/folder/x.sqlite", "/some/folder/x.sqlite: is empty")]), "index")
    assert [t.attrs["href"] for t in tokens(text) if t.type == "link_open"] == ["a%25b.md"]
    assert "x.sqlite: is empty" in text
    assert "/some/folder" not in text
