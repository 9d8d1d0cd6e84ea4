"""The report on a terminal."""

import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from analyses import (
    ALL,
    HOSTILE,
    cpu_run,
    explained_run,
    hostile,
    incomplete,
    two_gpus,
    usual,
    without_gpu_rows,
)
from variants import analysed, steady
from wallsplit.analysis import Analysis
from wallsplit.errors import SectionError
from wallsplit.report.build import report
from wallsplit.report.document import Column, Report, Section, Table
from wallsplit.report.terminal import terminal
from wallsplit.report.terminal_screen import LINES, WIDEST


def printed(
    analysis: Analysis, *wanted: str, encoding: str = "utf-8", width: int = 80, is_terminal: bool = False
) -> str:
    """Return what a console of that kind shows: the first screen, or the sections wanted."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(
        file=file, width=width, force_terminal=is_terminal, color_system="truecolor" if is_terminal else None
    )
    console.print(terminal(report(analysis), console, wanted))
    file.flush()
    return raw.getvalue().decode(encoding)


@pytest.fixture(autouse=True)
def _able_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_longer_than_the_terminal(make: Callable[[], Analysis], width: int) -> None:
    assert max(map(cell_len, printed(make(), width=width).splitlines())) <= width


def test_a_terminal_wider_than_can_be_read_gets_the_same_lines() -> None:
    wide, narrow = (printed(explained_run(), width=width).splitlines() for width in (300, WIDEST))
    assert [line.rstrip() for line in wide] == [line.rstrip() for line in narrow]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_first_screen_is_one_screen_of_whole_words(make: Callable[[], Analysis], width: int) -> None:
    lines = printed(make(), width=width).splitlines()
    assert len(lines) <= LINES
    found = report(make()).first
    assert found
    words = {word for text in (found.verdict, *(row.do for row in found.advice)) for word in text.split()}
    shown = " ".join(lines)
    assert {word for word in found.verdict.split() if word not in shown.split()} == set()
    assert all(word in shown.split() or word not in shown for word in words if len(word) < width // 2)


def test_the_first_screen_has_verdict_strip_cards_and_what_to_do() -> None:
    text = " ".join(printed(analysed(steady)).split())
    found = report(analysed(steady)).first
    assert found
    for part in (found.verdict, "██ GPU computing", found.cards[0].figure, "What to do", found.advice[0].at_most):
        assert part in text


def test_what_comes_after_the_steps_is_not_said_of_start_up_alone() -> None:
    found = report(analysed(lambda build: steady(build).api("cudaDeviceReset", 500_000_000, 900_000_000))).first
    assert found
    (once,) = (card for card in found.cards if card.title.startswith("Start-up"))
    assert once.text.startswith("GPU idle before and after the steady steps: tear-down 560 ms")


def test_the_strip_shows_what_takes_most_of_each_column_and_marks_the_steady_part() -> None:
    lines = printed(analysed(steady)).splitlines()
    strip = next(line for line in lines if line.startswith("▞"))
    assert re.fullmatch("▞{19}·{5}█{56}", strip)
    assert lines[lines.index(strip) + 1].index("▲ steady") == 80 * 100 // 340


def test_names_that_would_read_alike_are_printed_whole_on_several_lines() -> None:
    names = [f"elementwise_kernel · from_{place} · copy_of_many_values<float>" for place in ("here", "there")]
    rows = tuple((name, 5) for name in [*names, "gemm"])
    table = Table("Kernels", (Column("kernel"), Column("total", "ns")), rows, len(rows))
    console = Console(file=io.StringIO(), width=40)
    console.print(terminal(Report("t", "", None, (Section("k", "K", (table,)),)), console, ["k"]))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    shown = "".join("".join(lines).split())
    assert all("".join(name.split()) in shown for name in names)


def test_a_section_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(
        SectionError, match=r"section 'nope': there is none; there are what-ran-where, .*kernels.*, all$"
    ):
        printed(usual(), "nope")


@pytest.mark.parametrize("name", ["kernels", "kernel_summary", "Kernels", "kern"])
def test_a_section_goes_by_its_title_its_key_or_the_beginning(name: str) -> None:
    assert printed(usual(), name).startswith("Kernels\n")


@pytest.mark.parametrize("make", ALL)
def test_every_section_can_be_printed_alone(make: Callable[[], Analysis]) -> None:
    found = report(make())
    text = printed(make(), *(section.key for section in found.sections))
    assert max(map(cell_len, text.splitlines())) <= 80
    assert all(section.title in text for section in found.sections)


def test_it_shows_the_headline_the_ledger_its_proof_the_calls_the_kernels_and_the_notes() -> None:
    text = printed(usual(), "all")
    for part in ("3.361 s of wall time", "gpu.kernel", "residual 0 ns", "kernel_a", "Note: Nothing to worry about."):
        assert part in text


def test_piped_output_is_plain() -> None:
    assert "\x1b" not in printed(usual())


def test_a_terminal_gets_colour() -> None:
    assert "\x1b[" in printed(usual(), is_terminal=True)


def test_a_terminal_without_colour_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[\d;]*3\d", printed(usual(), is_terminal=True))


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("how", ["ascii", "dumb"])
def test_a_simple_terminal_gets_ascii(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Analysis], how: str) -> None:
    if how == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    text = printed(make(), encoding="ascii" if how == "ascii" else "utf-8")
    assert text.isascii()


def test_a_simple_terminal_gets_bars_of_hashes() -> None:
    text = printed(usual(), "all", encoding="ascii")
    assert re.search(r"^#{41}\+\+={11,12}\.{25,26}$", text, re.MULTILINE)
    assert re.search(r"gpu\.kernel .* #{12}\s", text)


def test_markup_in_a_name_is_text() -> None:
    text = printed(hostile(), "all")
    assert "[red]markup[/red]" in text


def test_no_control_character_reaches_the_terminal() -> None:
    text = printed(hostile(), "all")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028\u2029]", text)
    assert r"\x1b[31mred" in text


def test_a_reconstruction_says_so_first() -> None:
    text = printed(hostile([f"name {i}" for i, _ in enumerate(HOSTILE)]))
    assert text.index("Reconstructed trace") < text.index("recorded")


def test_gpu_figures_of_an_incomplete_trace_are_lower_bounds() -> None:
    text = printed(incomplete(), "all")
    assert re.search(r"gpu\.kernel +≥ 300 ns +≥ 30\.0 %", text)
    assert re.search(r"host +≤ [\d.]+ .?s +≤ [\d.]+ %", text)
    assert re.search(r"host code with the GPU idle +≤ [\d.]+ % +≤ [\d.]+", text)
    assert not re.search(r"(?<!≥ )(?<!least )30\.0 %", text)


def test_without_gpu_rows_the_gpu_is_not_measured() -> None:
    text = printed(without_gpu_rows(), "all")
    assert "gpu.kernel" not in text
    assert re.search(r"^Not measured: gpu\.\*\.$", text, re.MULTILINE)


def test_accounts_that_took_no_time_share_a_line() -> None:
    text = printed(usual(), "all")
    assert re.search(r"^At 0: gpu\.graph, gpu\.comm, gpu\.memset,", text, re.MULTILINE)
    assert not re.search(r"^gpu\.graph", text, re.MULTILINE)


def test_a_lower_bound_of_0_is_not_called_0() -> None:
    assert re.search(r"^At ≥ 0: gpu\.graph, gpu\.comm", printed(incomplete(), "all"), re.MULTILINE)


def test_a_program_on_the_cpu_has_one_account_and_a_line_for_the_others() -> None:
    text = printed(cpu_run(), "all")
    assert re.search(r"^host +5\.000 s +100\.0 %", text, re.MULTILINE)
    assert re.search(r"^Not measured: gpu\.\*, cuda\.\*\.$", text, re.MULTILINE)


def test_ranges_are_shown_where_there_are_no_cuda_calls() -> None:
    ranges = usual().tables["nvtx_groups"]
    assert "NVTX ranges" in printed(replace(cpu_run(), tables={"nvtx_groups": ranges}), "all")
    assert "NVTX ranges" not in printed(usual(), "all")


def test_each_gpu_has_its_bar() -> None:
    assert re.search(r"^GPU 0 █+.*\nGPU 1 █+", printed(two_gpus(), "all"), re.MULTILINE)
