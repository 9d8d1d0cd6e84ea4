"""The HTML page: complete, deterministic, and nothing in it acts."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

from analyses import ALL, HOSTILE, hostile, incomplete, two_gpus, usual, without_gpu_rows
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.html import MARK, html
from wallsplit.text import for_people

PERFETTO = "https://ui.perfetto.dev"


class Page(HTMLParser):
    """Collects elements and text; remembers what was opened and not closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def page(analysis: Analysis) -> Page:
    return Page(html(report(analysis)))


@pytest.mark.parametrize("make", ALL)
def test_every_element_is_closed_and_the_landmarks_are_there(make: Callable[[], Analysis]) -> None:
    found = page(make())
    assert found.open == []
    assert [found.count(tag) for tag in ("header", "nav", "main", "footer", "h1")] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("make", ALL)
def test_tables_have_captions_and_headers_with_a_scope(make: Callable[[], Analysis]) -> None:
    found = page(make())
    assert found.count("caption") == found.count("table")
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in found.elements if tag == "th")


@pytest.mark.parametrize("make", ALL)
def test_images_say_in_words_what_they_show(make: Callable[[], Analysis]) -> None:
    images = [attributes for tag, attributes in page(make()).elements if tag == "img"]
    images += [{"alt": a.get("aria-label")} for _, a in page(make()).elements if a.get("role") == "img"]
    assert all(attributes["alt"] for attributes in images)


@pytest.mark.parametrize("make", ALL)
def test_links_within_the_page_lead_somewhere(make: Callable[[], Analysis]) -> None:
    found = page(make())
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    targets = [a["href"] for tag, a in found.elements if tag == "a" and a["href"] != PERFETTO]
    assert len(ids) == len(set(ids))
    assert all(target and target[0] == "#" and target[1:] in ids for target in targets)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/some/folder/run.sqlite", "wallsplit export run.sqlite -o run.pftrace"),
        ("/some/folder/my run.nsys-rep", "wallsplit export 'my run.nsys-rep' -o my_run.pftrace"),
        ("/some/folder/a_pqtdir", "wallsplit export a_pqtdir -o a_pqtdir.pftrace"),
        ("/some/folder/$(rm x);`y`.sqlite", "wallsplit export '$(rm x);`y`.sqlite' -o '$(rm_x);`y`.pftrace'"),
        ("/some/folder/--force.sqlite", "wallsplit export ./--force.sqlite -o force.pftrace"),
    ],
)
def test_the_command_that_makes_a_timeline_is_to_be_copied_and_perfetto_is_a_plain_link(
    path: str, command: str
) -> None:
    shown = page(replace(usual(), path=path))
    assert command in shown.text
    assert [a for tag, a in shown.elements if a.get("href") == PERFETTO] == [{"href": PERFETTO, "rel": "noreferrer"}]


@pytest.mark.parametrize("name", ["a\x1b[2J.sqlite", "a\nrm -rf x.sqlite", "\u202ea.sqlite"])
def test_a_name_that_cannot_be_typed_has_no_command(name: str) -> None:
    assert "wallsplit export" not in html(report(replace(usual(), path=name)))


@pytest.mark.parametrize("make", ALL)
def test_nothing_is_styled_or_scripted_inline_or_loaded(make: Callable[[], Analysis]) -> None:
    for tag, attributes in page(make()).elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert (attributes.get("src") or "data:").startswith("data:image/svg+xml;base64,") or tag != "img"


def test_the_policy_allows_exactly_the_style_and_script_of_the_page() -> None:
    text = html(report(usual()))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)
    assert style and script and policy
    sums = [base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode() for part in (style, script)]
    allowed = policy[1].replace("&#39;", "'").replace("&#43;", "+")
    assert allowed == (
        f"default-src 'none'; style-src 'sha256-{sums[0]}'; script-src 'sha256-{sums[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_hostile_names_are_text_and_add_no_element() -> None:
    calm, found = page(hostile([f"name {i}" for i, _ in enumerate(HOSTILE)])), page(hostile())
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in calm.elements]
    for name in HOSTILE:
        assert for_people(name) in found.text


def test_long_names_are_shortened_and_control_characters_written_out() -> None:
    text = html(report(hostile()))
    assert "x" * 2_000 not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)


def test_the_whole_name_of_a_kernel_is_shown_on_hover() -> None:
    usual_tables = usual().tables
    kernels = usual_tables["kernel_summary"]
    assert kernels is not None
    named = kernels.with_columns(name=pl.lit('void a::b<"&\x1b">()'), label=pl.lit("b · c<float>"))
    text = html(report(replace(usual(), tables={**usual_tables, "kernel_summary": named})))
    assert '<th scope="row" title="void a::b&lt;&#34;&amp;\\x1b&#34;&gt;()">b · c&lt;float&gt;</th>' in text


def test_the_mark_is_near_the_top() -> None:
    assert MARK in html(report(usual()))[:200]


@pytest.mark.parametrize("make", ALL)
def test_equal_analyses_give_equal_bytes(make: Callable[[], Analysis]) -> None:
    assert html(report(make())) == html(report(make()))


def test_no_folder_of_the_machine_is_shown() -> None:
    assert "/some/folder" not in html(report(usual()))


def test_gpu_figures_of_an_incomplete_trace_are_lower_bounds() -> None:
    found = page(incomplete())
    assert "≥ 300 ns" in found.text
    assert "≥ 30.0 %" in found.text
    assert not re.search(r"(?<!≥ )(?<!at least )30\.0 %", found.text)


def test_without_gpu_rows_the_gpu_is_not_measured_and_never_idle_or_zero() -> None:
    found = page(without_gpu_rows())
    start = found.text.index("Accounts of process")
    ledger = found.text[start : found.text.index("sum = wall", start)]
    assert ledger.count("not measured") == 2 * 6  # time and share of each account of the GPU
    assert "GPU idle" not in ledger


def test_the_sum_is_proven() -> None:
    text = page(two_gpus()).text.replace("\N{NO-BREAK SPACE}", " ")
    assert text.count("sum = wall, residual 0 ns") == 1 + 2 + 1  # the last one in the summary to copy


def test_a_table_cut_short_says_so() -> None:
    assert f"Kernels by total time on the GPU: top 2 of {len(HOSTILE)}" in Page(html(report(hostile(), top=2))).text


def test_all_that_nsys_said_is_there_folded() -> None:
    found = page(hostile())
    assert found.count("details") == found.count("summary") == 1
    folded = found.text[found.text.index("What nsys said about this recording") :]
    assert all(for_people(name) in folded for name in HOSTILE)
