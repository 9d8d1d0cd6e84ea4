"""The first screen in a real browser: on one screen, for everyone, without a script, on paper."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from analyses import HOSTILE
from axe import violations
from chromium import chromium
from comparisons import of_sides, repeat, usual_pair
from shared_traces import TRACES, needs_shared_traces
from variants import VARIANTS, analysed, hostile
from wallsplit.pipeline import analyze
from wallsplit.report.build import report
from wallsplit.report.comparison_report import comparison_report
from wallsplit.report.html import html

pytestmark = pytest.mark.browser
LIMIT_BYTES = 400_000
COMPARISONS = {
    "pair": usual_pair(),
    "sides": of_sides({name: repeat({"host": 10**i}) for i, name in enumerate(HOSTILE[:5], 6)}),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in {**VARIANTS, "hostile": hostile}.items():
        (folder / f"{name}.html").write_text(html(report(analysed(make))), encoding="utf-8")
    for name, found in COMPARISONS.items():
        (folder / f"{name}.html").write_text(html(comparison_report(found, 20)), encoding="utf-8")
    return folder


def opened(
    browser: Browser, path: Path, *, width: int = 1280, height: int = 800, dark: bool = False, script: bool = True
) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        java_script_enabled=script,
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", VARIANTS)
def test_verdict_strip_cards_and_advice_fit_on_one_screen(browser: Browser, pages: Path, name: str) -> None:
    page = opened(browser, pages / f"{name}.html")
    for selector in ("h1", "svg.strip >> nth=0", ".card >> nth=0", ".advice tbody tr >> nth=0"):
        box = page.locator(selector).bounding_box()
        assert box
        assert box["y"] + box["height"] <= 800, selector


def test_verdict_cards_and_waterfall_of_a_comparison_begin_on_one_screen(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "pair.html")
    tops = []
    for selector in ("h1", ".seconds", ".card >> nth=0", "main > nav", "#waterfall figure"):
        box = page.locator(selector).bounding_box()
        assert box, selector
        tops.append(box["y"])
    assert tops == sorted(tops)
    assert tops[-1] < 600


@pytest.mark.parametrize("name", [*VARIANTS, *COMPARISONS, "hostile"])
def test_a_telephone_shows_it_without_scrolling_sideways(browser: Browser, pages: Path, name: str) -> None:
    page = opened(browser, pages / f"{name}.html", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*VARIANTS, *COMPARISONS, "hostile"])
def test_axe_finds_nothing(browser: Browser, pages: Path, name: str, dark: bool) -> None:
    assert violations(opened(browser, pages / f"{name}.html", dark=dark)) == []


@pytest.mark.parametrize("name", VARIANTS)
def test_without_a_script_everything_is_there(browser: Browser, pages: Path, name: str) -> None:
    page = opened(browser, pages / f"{name}.html", script=False)
    assert page.locator("h1").is_visible()
    assert page.locator("svg.strip title").count() > 0
    assert page.locator("svg.strip >> nth=0").bounding_box()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("script", [True, False])
def test_how_to_open_it_in_perfetto_is_told_on_demand(browser: Browser, pages: Path, width: int, script: bool) -> None:
    page = opened(browser, pages / "steady.html", width=width, script=script)
    command = page.locator(".perfetto code")
    assert not command.is_visible()
    page.locator(".perfetto summary").click()
    box = command.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    if script:
        page.locator(".perfetto button").click()
        expect(page.locator(".perfetto button")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == command.inner_text()
        assert violations(page) == []


def test_dragging_across_the_strip_gives_the_window(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "steady.html")
    box = page.locator("svg.strip").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 3 / 4, box["y"] + 30)
    page.mouse.up()
    said = re.match(r"--window (0\.\d+)s:(0\.\d+)s", page.locator(".picked").inner_text())
    assert said
    assert float(said[1]) == pytest.approx(0.170, abs=0.002)
    assert float(said[2]) == pytest.approx(0.255, abs=0.002)


def test_no_label_of_the_strip_leaves_its_box(browser: Browser, pages: Path) -> None:
    for width in (360, 700, 1280):
        page = opened(browser, pages / "steady.html", width=width)
        overhang = """[...document.querySelectorAll(".lane")].map((lane) => {
            const text = lane.querySelector("text");
            if (!text || getComputedStyle(text).display === "none") return 0;
            const [box, inner] = [lane.getBoundingClientRect(), text.getBoundingClientRect()];
            const rect = lane.querySelector("rect").getBoundingClientRect();
            return inner.right - rect.right;
        })"""
        assert max(page.evaluate(overhang)) <= 0, width


BLOCKS = ("header", "h1", ".seconds", ".course", ".chart", ".cards", "h2.todo", ".advice", ".leftout", "main > nav")
LAYOUT = """(blocks) => {
    const shown = (element) => element.getClientRects().length > 0;
    const name = (element) => element.tagName.toLowerCase() + "." + element.className;
    const found = [];
    const stacked = blocks.flatMap((block) => [...document.querySelectorAll(block)].filter(shown));
    stacked.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    stacked.slice(1).forEach((block, i) => {
        const above = stacked[i].getBoundingClientRect().bottom;
        if (block.getBoundingClientRect().top < above - 0.5) found.push(`${name(block)} overlaps ${name(stacked[i])}`);
    });
    for (const box of document.querySelectorAll("header, .card, .advice td, .advice th, .course")) {
        const outer = box.getBoundingClientRect();
        for (const inner of box.querySelectorAll("p, b, span, a, code, li, svg.small, svg.strip")) {
            if (!shown(inner) || inner.closest("details div") || inner.closest(".unseen")) continue;
            const { left, right, bottom } = inner.getBoundingClientRect();
            if (left < outer.left - 0.5 || right > outer.right + 0.5 || bottom > outer.bottom + 0.5)
                found.push(`${name(inner)} leaves ${name(box)}: ${inner.textContent}`);
        }
    }
    for (const held of document.querySelectorAll(".card .figure b, .held"))
        if (held.getClientRects().length > 1) found.push(`broken: ${held.textContent}`);
    if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("scrolls sideways");
    return found;
}"""
"""What is wrong with where things are: blocks that overlap, text that leaves its box, figures that are broken."""


@pytest.mark.parametrize("name", [*VARIANTS, "hostile"])
def test_nothing_overlaps_or_leaves_its_box_at_a_desk_on_a_telephone_and_on_paper(
    browser: Browser, pages: Path, name: str
) -> None:
    page = opened(browser, pages / f"{name}.html")
    for width, media in ((1280, "screen"), (768, "screen"), (390, "screen"), (794, "print")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media="print" if media == "print" else "screen")
        assert page.evaluate(LAYOUT, BLOCKS) == [], (width, media)


def test_the_look_at_the_layout_sees_what_is_wrong(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "steady.html")
    page.evaluate("document.querySelector('.card b').style.marginLeft = '500px'")
    assert any("leaves div.card" in said for said in page.evaluate(LAYOUT, BLOCKS))
    page.evaluate("document.querySelector('.cards').style.marginTop = '-60px'")
    assert any("overlaps figure" in said for said in page.evaluate(LAYOUT, BLOCKS))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_part_that_is_drawn_has_a_colour(browser: Browser, pages: Path, name: str, dark: bool) -> None:
    page = opened(browser, pages / f"{name}.html", dark=dark)
    black = """() => [...document.querySelectorAll(".bar rect, .small rect, .swatch rect, .mini rect, .strip path")]
        .filter((part) => getComputedStyle(part).fill === "rgb(0, 0, 0)")
        .map((part) => part.getAttribute("class"))"""
    assert page.evaluate(black) == []


def test_the_verdict_is_the_largest_text_and_figures_stand_out(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "steady.html")
    size = """(selector) => Math.max(...[...document.querySelectorAll(selector)].map(
        (element) => parseFloat(getComputedStyle(element).fontSize)))"""
    verdict, figure, text, title = (page.evaluate(size, s) for s in ("h1", ".card b", ".card .text", "h2.todo"))
    assert verdict > figure > title > text


def test_what_is_done_looks_like_code_where_it_is_code(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "graphs.html")
    assert page.locator(".advice code").all_inner_texts() == ["--cuda-graph-trace=node"]


def test_a_usual_report_takes_few_sheets_of_paper_and_breaks_no_word(browser: Browser, pages: Path) -> None:
    page = opened(browser, pages / "steady.html")
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    assert sheets <= 4


@needs_shared_traces
def test_the_page_of_a_trace_of_four_megabytes_is_small() -> None:
    page = html(report(analyze(TRACES["torch_rtx3070ti_train"])))
    assert len(page.encode()) <= LIMIT_BYTES
