"""What pyproject.toml promises about dependencies, and constraints.txt pins."""

import itertools
import re
import sys
import tomllib
from pathlib import Path

from oldest_versions import PYPROJECT, oldest

PROJECT = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
PINNED = Path(PYPROJECT).with_name("constraints.txt").read_text(encoding="utf-8").splitlines()


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_an_upper_bound_stands_in_pyproject_only_under_a_reason() -> None:
    lines = PYPROJECT.read_text(encoding="utf-8").splitlines()
    bounded = [pair for pair in itertools.pairwise(lines) if re.search(r",\s*<|~=|==\d", pair[1])]
    assert bounded
    assert [line for before, line in bounded if not before.lstrip().startswith("#")] == []


def test_all_that_make_installs_is_pinned() -> None:
    pinned = {normal(line.split("==")[0]) for line in PINNED if not line.startswith("#")}
    installed = {normal(line.split("==")[0]) for line in oldest(PROJECT, ["dev", "workloads", "pandas"])}
    elsewhere = {"tensorflow"}  # where there is no tensorflow-cpu
    assert installed - pinned - elsewhere == set()


def test_the_oldest_versions_are_those_of_the_dependencies_and_of_the_extras_in_extras() -> None:
    project = {
        "name": "own",
        "dependencies": ["click>=8.1", "numpy>=1.26"],
        "optional-dependencies": {
            "a": ["own[b]", "dask[array]>=2024.1"],
            "b": ["nvtx>=0.2.10,<0.2.12", "unbounded"],
        },
    }
    assert list(oldest(project, ["a"])) == ["click==8.1", "numpy==1.26", "nvtx==0.2.10", "dask==2024.1"]


def test_the_supported_pythons_begin_with_the_one_ruff_and_mypy_check_for() -> None:
    checked = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]
    assert PROJECT["requires-python"] == f">={checked['mypy']['python_version']}"
    assert checked["ruff"]["target-version"] == "py" + checked["mypy"]["python_version"].replace(".", "")
    assert sys.version_info >= tuple(map(int, checked["mypy"]["python_version"].split(".")))
