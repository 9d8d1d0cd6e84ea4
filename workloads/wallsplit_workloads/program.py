"""Which program a workload is: a digest of its code, so that what another version measured is not taken for its own."""

import ast
import hashlib
import inspect
import sys
from functools import cache
from importlib import import_module
from types import ModuleType

import wallsplit
from wallsplit_workloads.workload import Workload

_PACKAGE = "wallsplit_workloads"
_NOT_PART = {_PACKAGE, *(f"{_PACKAGE}.{name}" for name in ("__main__", "program", "running"))}


def version(workload: Workload) -> str:
    """Return 12 hexadecimal digits that change when the code of the workload, or what it uses of this package, does.

    Comments, docstrings and layout count for nothing. Where no sources are installed, the distribution's version.
    """
    return _version(workload.run.__module__)


@cache
def _version(module: str) -> str:
    trees = _trees(module, {})
    if not trees:
        return wallsplit.__version__
    dumped = "\n".join(f"{name} {tree}" for name, tree in sorted(trees.items()))
    return hashlib.sha256(dumped.encode()).hexdigest()[:12]


def _trees(name: str, known: dict[str, str]) -> dict[str, str]:
    """Return the syntax of the module and of those of its package that it imports, by module, added to the known."""
    module = sys.modules.get(name) or import_module(name)
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError):
        return known
    known[name] = _dumped(tree)
    for imported in _imports(tree, module):
        if imported not in known and imported not in _NOT_PART and imported.startswith(_PACKAGE):
            _trees(imported, known)
    return known


def _dumped(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                node.body = body[1:]
    return ast.dump(tree)


def _imports(tree: ast.Module, module: ModuleType) -> list[str]:
    """Return the modules that are imported anywhere in the tree, by full name."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in submodules if node.module == _PACKAGE and name in sys.modules]
            found += modules or [node.module]
    return found
