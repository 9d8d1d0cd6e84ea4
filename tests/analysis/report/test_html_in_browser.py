"""The HTML page in a real browser: inert, quiet, readable."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page

from analyses import ALL, HOSTILE, analysis, explained_run, hostile, incomplete, ledger, two_gpus, usual
from chromium import chromium
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.html import html
from wallsplit.report.index import index
from wallsplit.text import for_people

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


class Visit:
    """A page that was opened, and whatever it did that a report must not do."""

    def __init__(self, browser: Browser, path: Path, *, javascript: bool = True, width: int = 1280) -> None:
        self.events: list[str] = []
        context = browser.new_context(java_script_enabled=javascript, viewport={"width": width, "height": 800})
        self.page: Page = context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("console", lambda message: self.events.append(f"console {message.text}"))
        self.page.on("pageerror", lambda error: self.events.append(f"error {error}"))
        self.page.on("popup", lambda popup: self.events.append(f"popup {popup.url}"))
        self.page.on("request", lambda request: self._request(request.url, path))
        self.page.goto(path.as_uri())

    def _dialog(self, dialog: Dialog) -> None:
        self.events.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str, path: Path) -> None:
        if url != path.as_uri() and not url.startswith("data:image/svg+xml;base64,"):
            self.events.append(f"request {url}")


def written(folder: Path, analysis: Analysis) -> Path:
    path = folder / "report.html"
    path.write_text(html(report(analysis)), encoding="utf-8")
    return path


@pytest.mark.parametrize("make", ALL)
def test_a_report_does_nothing_but_be_read(browser: Browser, tmp_path: Path, make: Callable[[], Analysis]) -> None:
    visit = Visit(browser, written(tmp_path, make()))
    assert visit.events == []
    assert visit.page.locator("h1").inner_text()


@pytest.mark.parametrize("javascript", [True, False])
def test_hostile_names_are_read_as_text(browser: Browser, tmp_path: Path, javascript: bool) -> None:
    visit = Visit(browser, written(tmp_path, hostile()), javascript=javascript)
    text = visit.page.locator("#kernel_summary").text_content() or ""
    for name in HOSTILE:
        assert for_people(name) in text
    assert visit.events == []


def test_the_figure_shows_every_part(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(tmp_path, usual()))
    widths = {
        part: sum(box["width"] for box in _boxes(visit.page, f"#recording .bar .c-{part}"))
        for part in ("computing", "copying", "cuda", "host")
    }
    whole = sum(widths.values())
    assert widths["computing"] / whole == pytest.approx(1734 / 3361, abs=0.01)
    assert widths["host"] / whole == pytest.approx(1063 / 3361, abs=0.01)


def test_the_pages_own_drawings_have_a_size(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(tmp_path, explained_run()))
    assert visit.page.evaluate("document.images.length") == 0
    widths = [box["width"] for box in _boxes(visit.page, "svg.strip, svg.steps, svg.dots, svg.small")]
    assert len(widths) > 4
    assert min(widths) > 100


def test_columns_sort_by_their_numbers(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(tmp_path, usual()))
    visit.page.locator("#ledger thead button", has_text="time").click()
    first = visit.page.locator("#ledger tbody tr").first
    assert first.locator("th").inner_text() == "gpu.kernel"
    visit.page.locator("#ledger thead button", has_text="time").click()
    assert visit.page.locator("#ledger tbody tr").last.locator("th").inner_text() == "gpu.kernel"
    assert visit.events == []


@pytest.mark.parametrize("make", ALL)
def test_the_page_is_never_wider_than_a_telephone(
    browser: Browser, tmp_path: Path, make: Callable[[], Analysis]
) -> None:
    visit = Visit(browser, written(tmp_path, make()), width=360)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Browser, tmp_path: Path, scheme: str) -> None:
    visit = Visit(browser, written(tmp_path, two_gpus()))
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    for selector in ("h1", "nav a", "caption", "td", ".legend", "figcaption", "tr.zero th", "footer p"):
        ink = visit.page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).color")
        assert _contrast(ink, ground) >= 4.5, selector


def test_on_paper_the_colours_are_those_for_light_grounds(browser: Browser, tmp_path: Path) -> None:
    visit = Visit(browser, written(tmp_path, incomplete()))
    names = ["computing", "copying", "host", "warn", "bad"]
    colours = f"{names}.map((name) => getComputedStyle(document.body).getPropertyValue(`--${{name}}`))"
    visit.page.emulate_media(color_scheme="light")
    light = visit.page.evaluate(colours)
    visit.page.emulate_media(color_scheme="dark")
    assert visit.page.evaluate(colours) != light
    visit.page.emulate_media(color_scheme="dark", media="print")
    assert visit.page.evaluate(colours) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_in_a_bar_stand_out_from_it(browser: Browser, tmp_path: Path, scheme: str) -> None:
    even = ledger(gpu_kernel=200, gpu_comm=200, gpu_memcpy=200, cuda_launch=200, host=200)
    visit = Visit(browser, written(tmp_path, analysis(even)))
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for part in ("computing", "communicating", "copying", "cuda", "host"):
        fills = "['t', 'c'].map((kind) => getComputedStyle(document.querySelector(`#recording .bar .${kind}-%s`)).fill)"
        ink, ground = visit.page.evaluate(fills % part)
        assert _contrast(ink, ground) >= 4.5, part


def test_an_index_leads_to_its_reports(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "a%b.html").write_text(html(report(usual())), encoding="utf-8")
    path = tmp_path / "index.html"
    path.write_text(html(index([usual()], ["a%b"], [("x.sqlite", HOSTILE[0])])), encoding="utf-8")
    visit = Visit(browser, path)
    assert visit.events == []
    visit.page.locator("main a").first.click()
    assert visit.page.locator("h1").inner_text().replace("\u00a0", " ").startswith("The GPU computes 52 %")


def _boxes(page: Page, selector: str) -> list[dict[str, float]]:
    boxes = (element.bounding_box() for element in page.locator(selector).all())
    return [{"width": box["width"]} for box in boxes if box]


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two `rgb(…)` colours as WCAG 2.2 defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
