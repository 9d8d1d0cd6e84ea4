"""A comparison as people and programs read it: terminal, page, comment, document."""

import io
import json
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from analyses import HOSTILE, usual
from comparisons import comparison, of_sides, of_steps, repeat, total, usual_pair
from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.pairs import Comparison
from wallsplit.comparison.repeats import KINDS, Repeat
from wallsplit.figures.waterfall import bars, waterfall
from wallsplit.report.comparison_json import comparison_value
from wallsplit.report.comparison_report import STEM, comparison_report
from wallsplit.report.files import files
from wallsplit.report.json import document, text
from wallsplit.report.pull_request import LIMIT, MARK, pull_request
from wallsplit.report.terminal import terminal
from wallsplit.words.changes import sentence

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def lines(found: Comparison, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal(comparison_report(found, 20), console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def everything(names: tuple[str, ...] = ("k",), scale: int = 1) -> Repeat:
    """Return a trace with every account and rows of these names of every kind."""
    times = {name.replace(".", "_", 1): scale * (i + 1) * 1_000 for i, name in enumerate(ACCOUNTS)}
    rows = {kind.key: {name: total(scale, 10 * scale * (i + 1)) for i, name in enumerate(names)} for kind in KINDS}
    return repeat(times, rows, path=f"/some/folder/{names[0]}.sqlite")


def test_the_sentence_tells_the_change_what_makes_it_and_how_sure_it_is() -> None:
    assert sentence(usual_pair(), usual_pair().pairs[0]) == (
        "after against before, per run: 8.45 ms → 9.23 ms (+783 µs, +9.3 %); most of it host +515 µs, "
        "gpu.comm +188 µs, gpu.kernel +80.0 µs; no interval: one run a side; record at least 3 to tell it from noise."
    )


def test_with_three_runs_a_side_the_sentence_ends_with_a_verdict() -> None:
    found = of_steps([[100_000] * 30, [101_000] * 30, [99_000] * 30], [[110_000] * 30, [111_000] * 30, [109_000] * 30])
    assert re.search(r"; median step \+10\.0 % \[\+7\.\d %, \+12\.\d %\]: slower\.$", sentence(found, found.pairs[0]))


def test_two_single_runs_differ_and_no_more_is_claimed() -> None:
    found = of_steps([[100_000] * 30], [[150_000] * 30])
    told = sentence(found, found.pairs[0])
    assert told.endswith("differs between these two runs; 3 runs a side tell whether the program does.")
    assert "slower" not in told


def test_where_stalls_make_the_difference_the_verdict_leads() -> None:
    quiet, stalled = [[100_000] * 30] * 3, [[100_000] * 28 + [2_000_000] * 2] * 3
    found = of_steps(quiet, stalled)
    told = sentence(found, found.pairs[0])
    assert told.startswith("median step ±0 [±0, ±0]: within noise. after against before")
    assert told.endswith("stalls of a few steps make the difference.")


@pytest.mark.parametrize("sides", [2, 3, 5, 9])
@pytest.mark.parametrize("names", [("k",), HOSTILE])
def test_the_terminal_is_told_in_25_lines_of_80_columns(sides: int, names: tuple[str, ...]) -> None:
    told = lines(of_sides({f"side {n}": everything(names, n + 1) for n in range(sides)}))
    assert len(told) <= 25
    assert max(map(len, told)) <= 80


def test_signs_of_changes_are_bars_and_the_wall_is_the_sum() -> None:
    told = lines(comparison(a=repeat({"host": 100, "gpu_kernel": 100}), b=repeat({"host": 180, "gpu_kernel": 60})))
    (host,) = (line for line in told if line.startswith("host"))
    (kernel,) = (line for line in told if line.startswith("gpu.kernel  "))
    assert (host.count("+"), kernel.count("-")) == (24 + 1, 12)
    assert any(line.split() == ["wall", "200", "ns", "240", "ns", "+40", "ns"] for line in told)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_long_names_of_sides_cut_no_account_and_no_figure(width: int) -> None:
    accounts = {"gpu_kernel": 7_500_000, "cuda_graph_build": 500_000, "host": 300_000}
    before, after = (f"torch_ddp_2xh100_{when}_the_change" for when in ("before", "after"))
    told = lines(
        of_sides({before: repeat(accounts), after: repeat({**accounts, "cuda_graph_build": 1_500_000})}), width
    )
    assert max(map(len, told)) <= width
    (row,) = (line for line in told if line.startswith("cuda.graph_build ") and "500" in line)
    assert row.split()[:7] == ["cuda.graph_build", "500", "µs", "1.50", "ms", "+1.00", "ms"]
    assert any(line.split()[:5] == ["wall", "8.30", "ms", "9.30", "ms"] for line in told)


def test_different_amounts_of_work_are_a_warning() -> None:
    few, many = ({"kernels": {"k": total(count, 10)}} for count in (100, 110))
    told = " ".join(lines(comparison(a=repeat({"host": 9}, few), b=repeat({"host": 9}, many))))
    assert "Warning: a launches 100 kernels, b 110: is it the same work?" in told
    same = " ".join(lines(comparison(a=repeat({"host": 9}, few), b=repeat({"host": 9}, few))))
    assert "same work" not in same


def test_lower_bounds_stay_lower_bounds() -> None:
    lacking = repeat({"gpu_kernel": 5, "host": 95}, complete=False)
    told = " ".join(" ".join(lines(comparison(a=repeat({"gpu_kernel": 50, "host": 50}), b=lacking))).split())
    assert "GPU work is not fully recorded in b" in told
    assert "gpu.kernel 50 ns ≥ 5 ns" in told
    assert "host 50 ns ≤ 95 ns" in told


def test_bars_of_a_waterfall_lead_from_one_wall_to_the_other() -> None:
    found = bars(usual_pair().pairs[0])
    assert found[0].end == found[1].start
    for one, other in pairwise(found[1:-1]):
        assert one.end == other.start
    assert found[-2].end == pytest.approx(found[-1].end)
    assert len(found) == 5


def test_changes_too_small_for_a_bar_make_one_together() -> None:
    found = bars(comparison(a=repeat({}), b=repeat({"host": 10_000, "cuda_sync": 3, "cuda_alloc": 2})).pairs[0])
    assert [(bar.name, bar.end - bar.start) for bar in found[1:-1]] == [("host", 10_000), ("2 others", 5)]


def test_small_changes_get_a_second_panel_whose_axis_is_cut_off() -> None:
    small = comparison(a=repeat({"host": 1_000}), b=repeat({"host": 1_050}))
    large = comparison(a=repeat({"host": 1_000}), b=repeat({"host": 1_500}))
    assert "the axis cut off below 900 ns" in waterfall(small.pairs[0]).svg
    assert "cut off" not in waterfall(large.pairs[0]).svg


def test_an_svg_is_well_formed_and_runs_nothing_whatever_the_labels() -> None:
    for name in HOSTILE:
        pair = of_sides({name: repeat({"host": 1}), f"{name}2": repeat({"host": 3})}).pairs[0]
        inline = waterfall(pair).inline
        assert inline is not None
        for drawing in (waterfall(pair).svg, inline.svg()):
            tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(drawing).iter()}
            assert tags <= {"svg", "text", "rect", "line"}


def hostile() -> Comparison:
    return of_sides({HOSTILE[0]: everything(HOSTILE), HOSTILE[6]: everything(HOSTILE, 2)})


def test_hostile_names_are_inert_in_page_and_comment() -> None:
    page = next(file.content.decode() for file in files(comparison_report(hostile(), 20), STEM) if "html" in file.name)
    assert "<script>alert" not in page
    assert "<img" not in page
    comment = pull_request(hostile())
    for raw in ("<script>", "<img", "](javascript:", "@someone", "\x1b", "\u202e", "</details><"):
        assert raw not in comment.replace("\\@", "")


def test_a_comment_begins_with_its_mark_and_has_no_image() -> None:
    comment = pull_request(usual_pair())
    assert comment.startswith(f"{MARK}\n")
    assert "![" not in comment
    assert "| **wall** | **8.45 ms** | **9.23 ms** | **+783 µs** |" in comment.replace("\N{NO-BREAK SPACE}", " ")


def test_no_two_kernels_that_changed_bear_one_name() -> None:
    functors = ("MulFunctor", "AddFunctor", "DivFunctor")
    inside = "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::{}<float>>"
    names = [
        f"void at::native::vectorized_elementwise_kernel<(int)4, {inside.format(functor)}>(int, T2, T3)"
        for functor in functors
    ]
    before, after = (repeat({"host": 9}, {"kernels": {name: total(n, 100 * n) for name in names}}) for n in (1, 2))
    page = pull_request(comparison(before=before, after=after))
    shown = re.findall(r"^\| (\S.*?) \| (?:slower|faster|same|new|gone) ", page, re.MULTILINE)
    assert len(set(shown)) == len(names)
    assert all(f"elementwise · {functor}" in page for functor in functors)


@pytest.mark.parametrize("sides", [2, 30])
def test_a_comment_always_fits_and_says_how_much_of_a_table_it_shows(sides: int) -> None:
    names = tuple(f"{i} {'&|_' * 60}" for i in range(127))
    found = pull_request(of_sides({f"{'<>' * 10}{n}": everything(names, n + 1) for n in range(sides)}), top=500)
    assert len(found.encode()) < LIMIT
    assert re.search(r"\(\d+ of 127\)|left out", found)


def test_tables_that_do_not_fit_at_all_are_left_out_and_that_is_said() -> None:
    names = tuple(f"{'漢' * 199}{i}" for i in range(100))
    sides = {f"{'漢' * 38}{n}": everything(names, n + 1) for n in range(11)}
    found = pull_request(of_sides(sides))
    assert len(found.encode()) < LIMIT
    assert re.search(r"\(3 of 100\)|left out", found)


def test_the_document_is_valid_and_its_changes_add_up() -> None:
    for found in (
        usual_pair(),
        hostile(),
        of_steps([[10] * 30], [[12] * 30]),
        comparison(a=everything(), b=everything()),
    ):
        value = comparison_value(found, {side.label: [n] for n, side in enumerate(found.sides)})
        whole = json.loads(text(document([usual(), usual()], value)))
        Draft202012Validator(SCHEMA).validate(whole)
        for pair in whole["comparison"]["pairs"]:
            assert sum(pair["account_deltas"].values()) == pair["wall_delta"] == sum(pair["part_deltas"].values())


def test_units_that_are_no_whole_number_are_told_as_they_are() -> None:
    one = repeat({"host": 3})
    object.__setattr__(one.units, "count", Fraction(3, 2))
    found = comparison(a=one, b=one)
    assert comparison_value(found, {"a": [0], "b": [0]})["sides"][0]["units"] == [1.5]


def test_of_many_sides_in_a_chain_each_is_compared_with_the_one_before() -> None:
    walls = {f"s{n}": repeat({"host": ns}) for n, ns in enumerate((10, 12, 9))}
    chained, fanned = of_sides(walls, chain=True), of_sides(walls)
    assert [(p.before.label, p.waterfall.wall_delta) for p in chained.pairs] == [("s0", 2), ("s1", -3)]
    assert [(p.before.label, p.waterfall.wall_delta) for p in fanned.pairs] == [("s0", 2), ("s0", -1)]


def test_the_verdict_leads_everywhere_and_the_sentence_is_its_caption() -> None:
    said = "The run took 9.23 ms instead of 8.45 ms: 9.3 % more; noise unknown."
    told = lines(usual_pair())
    assert told[2] == said
    assert told[3].startswith("after against before, per run: 8.45 ms → 9.23 ms")
    comment = pull_request(usual_pair())
    assert comment.index(f"**{said}**") < comment.index("after against before, per run")
    pages = {file.name: file.content.decode() for file in files(comparison_report(usual_pair(), 20), STEM)}
    text_of_page = re.sub(r"<[^>]*>", "", pages["comparison.html"].replace("\N{NO-BREAK SPACE}", " "))
    for page in (pages["comparison.md"].replace("**", ""), text_of_page):
        order = [said, "after against before, per run: 8.45 ms", "Wall time per run", "Largest change", "What stayed"]
        places = [page.index(part) for part in order]
        assert places == sorted(places)
