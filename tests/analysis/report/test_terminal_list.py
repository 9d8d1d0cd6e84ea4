"""Several traces on a terminal: every verdict whole, every name told from the others, at several widths."""

import io
from dataclasses import replace
from functools import cache
from pathlib import PurePath

import pytest
from rich.console import Console

from analyses import explained_gpus, explained_run
from shared_traces import TRACES, needs_shared_traces
from variants import VARIANTS
from variants import analysed as variant
from wallsplit import units
from wallsplit.pipeline import analyze
from wallsplit.report.build import report
from wallsplit.report.document import Report
from wallsplit.report.terminal_list import overview
from wallsplit.words.gpu_verdict import MOST_WORDS, words

WIDTHS = (60, 80, 120)


@cache
def variants() -> tuple[tuple[Report, str], ...]:
    return tuple((report(variant(make)), "1.234 s") for make in VARIANTS.values())


@cache
def traces() -> tuple[tuple[Report, str], ...]:
    analyses = [analyze(path) for path in TRACES.values()]
    return tuple((report(a), units.ns(a.window.wall_ns) if a.window else "-") for a in analyses)


def listed(rows: tuple[tuple[Report, str], ...], width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(overview(rows, console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def named(names: list[str], width: int) -> list[str]:
    """Return the names as they are listed."""
    (shown, wall), *_ = variants()
    assert shown.first
    brief = replace(shown, first=replace(shown.first, verdict="So."))
    rows = tuple((replace(brief, title=name), wall) for name in names)
    return [line.split(wall)[1].removesuffix("So.").strip() for line in listed(rows, width) if wall in line]


def test_two_traces_are_a_line_each_where_there_is_room() -> None:
    rows = tuple((report(make()), "1.0 s") for make in (explained_run, explained_gpus))
    lines = listed(rows, 120)
    assert len([line for line in lines if "1.0 s" in line]) == 2
    assert all(len(line) <= 120 for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_verdict_of_a_list_is_cut(width: int) -> None:
    lines = listed(variants(), width)
    assert max(map(len, lines)) <= width
    for shown, _ in variants():
        assert shown.first
        assert shown.first.verdict in without_heads(lines, width)


@needs_shared_traces
@pytest.mark.parametrize("width", WIDTHS)
def test_every_trace_of_a_long_list_has_its_whole_verdict_in_few_lines(width: int) -> None:
    lines = listed(traces(), width)
    assert max(map(len, lines)) <= width
    text = without_heads(lines, width)
    for shown, _ in traces():
        assert shown.first
        assert words(shown.first.verdict) <= MOST_WORDS
        assert shown.first.verdict in text
    most = {60: 4, 80: 3, 120: 2}[width]
    assert len(lines) <= most * len(traces())


def test_a_legend_of_one_line_says_what_the_bars_are_made_of() -> None:
    assert listed(variants(), 80)[-1] == "GPU █ computing; GPU idle ▞ set-up · host code"


def test_long_names_keep_their_beginning_and_their_end() -> None:
    names = named(["resnet50_batch_32_mixed_precision_before.sqlite", "b.sqlite"], 80)
    assert names == ["resnet50_batc…ision_before", "b"]


def test_names_that_would_read_alike_get_the_room_to_differ() -> None:
    alike = [f"a_long_name_of_a_run_{middle}_of_a_training.sqlite" for middle in ("one", "two")]
    assert named(alike, 80) == ["a_long_name_of_…e_of_a_training", "a_long_name_of_…o_of_a_training"]


def test_names_that_no_line_tells_apart_are_whole() -> None:
    alike = [f"{'x' * 60}_{middle}_{'y' * 60}.sqlite" for middle in ("one", "two")]
    (shown, wall), *_ = variants()
    text = "".join("".join(listed(tuple((replace(shown, title=name), wall) for name in alike), 80)).split())
    assert all(PurePath(name).stem in text for name in alike)


def without_heads(lines: list[str], width: int) -> str:
    """Return the text right of bars and lengths, one space between words, without the names."""
    start = (12 if width >= 80 else 6) + 10
    return " ".join(" ".join(_verdict_part(line[start:], is_head=bool(line[:start].strip())) for line in lines).split())


def _verdict_part(text: str, *, is_head: bool) -> str:
    return text.partition(" ")[2] if is_head else text
