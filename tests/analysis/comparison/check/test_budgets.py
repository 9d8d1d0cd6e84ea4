"""Budgets as they are written: what is understood, and what is refused because it could never apply."""

from fractions import Fraction
from pathlib import Path

import pytest

from wallsplit.comparison.check.budgets import Budgets, read
from wallsplit.comparison.check.figures import CLASSES, kind
from wallsplit.errors import BudgetError
from wallsplit.schema import API_CLASSES


def budgets(folder: Path, text: str) -> Budgets:
    path = folder / "wallsplit.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_a_file_of_budgets_is_read_with_its_baseline_beside_it(tmp_path: Path) -> None:
    found = budgets(
        tmp_path,
        """
        [check]
        per = "step"
        window = "cuda"
        baseline = "baseline.json"
        [[budget]]
        figure = "host"
        max = "20 %"
        [[budget]]
        name = "no slower than main"
        figure = "wall"
        regression = "3 %"
        floor = "50 us"
        severity = "warning"
        when_unknown = "skip"
        """,
    )
    assert (found.per, found.window, found.baseline) == ("step", "cuda", tmp_path / "baseline.json")
    host, wall = found.budgets
    assert (host.name, host.kind, host.severity, host.when_unknown) == ("host max 20 %", "ns", "error", "fail")
    assert host.max is not None
    assert (host.max.kind, host.max.exact) == ("ratio", Fraction(1, 5))
    assert (wall.name, wall.severity, wall.when_unknown) == ("no slower than main", "warning", "skip")
    assert wall.floor is not None
    assert wall.floor.exact == 50_000


@pytest.mark.parametrize(
    ("figure", "limit", "kind_of", "exact"),
    [
        ("wall", '"1.5 s"', "ns", 1_500_000_000),
        ("wall", '"10µs"', "ns", 10_000),
        ("cuda", '"12.5%"', "ratio", Fraction(1, 8)),
        ("computing", '"3 ms"', "ns", 3_000_000),
        ("busy_ratio", '"90 %"', "ratio", Fraction(9, 10)),
        ("count:launch", "1200", "count", 1200),
        ("count:sync", '"2.5"', "count", Fraction(5, 2)),
        ("kernel:*nccl*", '"0 ns"', "ns", 0),
    ],
)
def test_limits_are_times_parts_of_the_wall_or_numbers_as_the_figure_is(
    tmp_path: Path, figure: str, limit: str, kind_of: str, exact: Fraction
) -> None:
    (found,) = budgets(tmp_path, f'[[budget]]\nfigure = "{figure}"\nmax = {limit}').budgets
    assert found.max is not None
    assert found.max.kind == kind_of
    assert found.max.exact == exact


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no budget"),
        ("[check]\nper = 'step'", "there is no budget"),
        ("budget = 3", "there is no budget"),
        ("[[budgets]]\nfigure = 'wall'", "the file has no 'budgets'; there are check, budget"),
        ("[check]\nwarmup = 3\n[[budget]]", r"\[check\] has no 'warmup'; there are per, window, baseline"),
        ("[check]\nper = 'epoch'\n[[budget]]", "--per epoch: is none of auto, run, step"),
        ("[check]\nper = 3\n[[budget]]", "per = 3 is no text"),
        ("[[budget]]\nmax = '3 ms'", "budget 1 has no figure; choose wall, busy_ratio, an account"),
        ("[[budget]]\nname = 'x'\nfigure = 'hots'\nmax = '3 %'", "budget 'x': figure 'hots' is none of wall"),
        ("[[budget]]\nfigure = 'count:launches'\nmax = 3", "count:CLASS .launch, sync"),
        ("[[budget]]\nfigure = 'kernel:'\nmax = '3 ms'", "figure 'kernel:' is none of"),
        ("[[budget]]\nfigure = 'host'", "budget 1 has no limit; give max, min or regression"),
        ("[[budget]]\nfigure = 'host'\nmax = 3", "max = 3 is a number; write a time .10 ms. or per cent"),
        ("[[budget]]\nfigure = 'host'\nmax = '3 parsecs'", "max = '3 parsecs' is no limit; write a time"),
        ("[[budget]]\nfigure = 'host'\nmax = '-3 ms'", "max = '-3 ms' is no limit"),
        ("[[budget]]\nfigure = 'host'\nmax = true", "max = True is no limit"),
        ("[[budget]]\nfigure = 'wall'\nmax = '90 %'", "max = '90 %' is per cent; write a time"),
        ("[[budget]]\nfigure = 'busy_ratio'\nmin = '180 %'", "min = '180 %' is more than all of the time"),
        ("[[budget]]\nfigure = 'host'\nmax = '100.1 %'", "max = '100.1 %' is more than all of the time"),
        (
            "[check]\nbaseline = 'b.json'\n[[budget]]\nfigure = 'busy_ratio'\nregression = '101 %'",
            "regression = '101 %' is more than all of the time",
        ),
        (
            "[check]\nbaseline = 'b.json'\n[[budget]]\nfigure = 'busy_ratio'\nregression = '1 %'\nfloor = '150 %'",
            "floor = '150 %' is more than all of the time",
        ),
        ("[[budget]]\nfigure = 'busy_ratio'\nmin = '3 ms'", "min = '3 ms' is a time; write per cent"),
        ("[[budget]]\nfigure = 'count:sync'\nmax = '3 ms'", "max = '3 ms' is a time; write a number"),
        ("[[budget]]\nfigure = 'host'\nmax = '3 ms'\nmaximum = 3", "budget 1 has no 'maximum'; there are name, figure"),
        ("[[budget]]\nfigure = 'host'\nmax = '3 ms'\nfloor = '1 ms'", "has a floor, which is for a regression"),
        ("[[budget]]\nfigure = 'host'\nregression = '3 %'", "has a regression, and .check. no baseline"),
        ("[[budget]]\nfigure = 'host'\nmax = '3 ms'\nseverity = 'info'", "severity = 'info' is none of error, warning"),
        ("[[budget]]\nfigure = 'host'\nmax = '3 ms'\nwhen_unknown = 1", "when_unknown = 1 is none of fail, skip"),
        ("[[budget]", "this is no TOML"),
    ],
)
def test_what_could_never_apply_is_refused_in_a_sentence_that_names_the_choices(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(BudgetError, match=says) as caught:
        budgets(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "wallsplit.toml"))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="name the file with --config"):
        read(tmp_path / "none.toml")


def test_counts_are_of_the_classes_that_calls_have() -> None:
    assert set(CLASSES) == set(API_CLASSES)
    assert [kind(f"count:{name}") for name in CLASSES] == ["count"] * len(CLASSES)
