"""Which traces belong to which side."""

from fractions import Fraction
from pathlib import Path

import pytest

from comparisons import repeat, total
from wallsplit.comparison.sides import Side, named_paths
from wallsplit.errors import ComparisonError


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names(*arguments: str) -> dict[str, list[str]]:
    return {label: [str(path) for path in paths] for label, paths in named_paths(arguments).items()}


def test_a_label_given_again_adds_a_repeat_and_the_first_side_stays_first() -> None:
    assert names("old=a1", "new=b1", "old=a2") == {"old": ["a1", "a2"], "new": ["b1"]}


def test_without_a_label_a_side_is_called_as_its_file() -> None:
    assert names("x/one.sqlite", "two.sqlite") == {"one": ["x/one.sqlite"], "two": ["two.sqlite"]}


def test_files_of_one_name_are_told_apart_by_their_folders_and_one_file_twice_by_a_number() -> None:
    assert list(names("x/run.sqlite", "y/run.sqlite")) == ["x/run", "y/run"]
    assert list(names("x/run.sqlite", "x/run.sqlite")) == ["x/run", "x/run-2"]


def test_a_path_that_exists_wins_over_a_label() -> None:
    Path("a=b.sqlite").touch()
    assert names("a=b.sqlite", "c=d.sqlite") == {"a=b": ["a=b.sqlite"], "c": ["d.sqlite"]}


def test_a_pattern_stands_for_the_files_it_matches_unless_a_file_is_called_so() -> None:
    for name in ("a2", "a1", "b[1]"):
        Path(f"{name}.sqlite").touch()
    assert names("old=a*.sqlite", "new=b[1].sqlite") == {"old": ["a1.sqlite", "a2.sqlite"], "new": ["b[1].sqlite"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["a.sqlite"], "needs two"), (["a=1", "a=2"], "one side, a"), (["a=no*", "b=1"], r"no\*: matches no file")],
)
def test_one_side_or_none_is_an_error_that_says_what_to_do(arguments: list[str], says: str) -> None:
    with pytest.raises(ComparisonError, match=says):
        named_paths(arguments)


def test_a_side_is_the_mean_of_its_repeats_and_what_one_did_not_measure_is_0_there() -> None:
    one = repeat({"host": 10, "gpu_kernel": 3}, {"kernels": {"k": total(2, 6)}})
    other = repeat({"host": 5, "gpu_kernel": None, "cuda_sync": None}, {"kernels": {"j": total(1, 1)}})
    side = Side("x", (one, other))
    assert side.wall == 9
    assert (side.accounts["host"], side.accounts["gpu.kernel"]) == (Fraction(15, 2), Fraction(3, 2))
    assert Side("y", (other,)).accounts["cuda.sync"] is None
    assert side.totals("kernels") == {"k": total(1, 3), "j": total(Fraction(1, 2), Fraction(1, 2))}
