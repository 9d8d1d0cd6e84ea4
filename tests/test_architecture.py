"""Imports point one way: scripts → workloads → analysis, and inside the analysis from the report down to the trace."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wallsplit import schema
from wallsplit.trace.raw import MARKS_OF_NVPROF, TABLES

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "wallsplit": "analysis",
    "wallsplit_workloads": "workloads",
    "wallsplit_study": "workloads",
    "wallsplit_scripts": "scripts",
}
LAYERS = (  # a module may import from its own layer and those below it
    ("frozen", "errors", "units", "text", "intervals", "ranks", "native", "accounts", "note", "aside", "cores"),
    ("schema",),
    ("trace", "run"),
    ("model",),
    ("kernel_names",),
    ("ledger",),
    ("arithmetic", "breakdowns", "why"),
    ("diagnosis",),
    ("analysis",),
    ("comparison",),
    ("words",),
    ("pipeline",),
    ("export",),
    ("figures",),
    ("report",),
)
OPENED_WHEN_CALLED = {
    "analysis.py"
}  # the value people hold: its methods lead to the report, imported when they are called
HEAVY = {"click", "subprocess", "matplotlib", "tensorflow", "jax", "torch", "cupy", "gensim", "keras", "sklearn"}


def sources(package: str) -> list[Path]:
    return sorted((ROOT / PACKAGES[package] / package).rglob("*.py"))


def imports(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in tree.body if top_level_only else ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("wallsplit", {"wallsplit"}),
        ("wallsplit_workloads", {"wallsplit", "wallsplit_workloads"}),
        ("wallsplit_study", {"wallsplit", "wallsplit_workloads", "wallsplit_study"}),
        ("wallsplit_scripts", set(PACKAGES)),
    ],
)
def test_packages_import_only_those_below_them(package: str, allowed: set[str]) -> None:
    found = {(p.name, name) for p in sources(package) for name in imports(p) if name.split(".")[0] in PACKAGES}
    assert {(file, name) for file, name in found if name.split(".")[0] not in allowed} == set()


def layer(name: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if name in names)


def test_every_part_of_the_analysis_has_a_layer_and_imports_none_above_it() -> None:
    wrong = []
    root = ROOT / "analysis" / "wallsplit"
    for path in sources("wallsplit"):
        own = path.relative_to(root).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for name in imports(path, top_level_only=path.name in OPENED_WHEN_CALLED):
            parts = name.split(".")
            if parts[0] == "wallsplit" and len(parts) > 1 and layer(parts[1]) > layer(own):
                wrong.append(f"{path.relative_to(root)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("package", ["wallsplit", "wallsplit_workloads"])
def test_no_library_module_imports_a_framework_a_plotter_or_a_command_line_at_the_top(package: str) -> None:
    found = {
        (p.name, name)
        for p in sources(package)
        for name in imports(p, top_level_only=True)
        if name.split(".")[0] in HEAVY
    }
    assert found == set()


def test_the_library_runs_no_program_and_prints_nothing() -> None:
    for path in sources("wallsplit"):
        names = {n.split(".")[0] for n in imports(path)}
        assert not names & {"subprocess", "click"}, path
        calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
        assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path


def words_of_texts(path: Path) -> Iterator[str]:
    """Yield the words of every text in a source file, docstrings included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def test_names_of_nsys_occur_in_trace_and_model_only() -> None:
    """Those that are words of their own, such as `start`, may mean anything; so may those of frames in schema.py."""
    aliases = {alias.name for table in TABLES for alias in table.aliases.values()}
    every = aliases | {name for table in TABLES for name in (*table.names, *table.columns)}
    of_nsys = {name for name in every | MARKS_OF_NVPROF if not name.islower() and not hasattr(schema, name)}
    rooms = [ROOT / "analysis" / "wallsplit" / room for room in ("trace", "model")]
    elsewhere = (p for package in PACKAGES for p in sources(package) if not any(map(p.is_relative_to, rooms)))
    found = [(path.relative_to(ROOT), word) for path in elsewhere for word in words_of_texts(path) if word in of_nsys]
    assert found == []


def test_the_page_on_architecture_names_every_package_with_its_root() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for package, root in PACKAGES.items():
        assert f"| `{root}/` | `{package}` |" in page
