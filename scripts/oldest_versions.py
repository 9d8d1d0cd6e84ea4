"""Print the lower bounds of what wallsplit depends on as pip constraints: the oldest versions it promises to work with.

Usage: python scripts/oldest_versions.py [EXTRA]...        those of the extras too, and of the extras in them
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

PYPROJECT: Final = Path(__file__).resolve().parents[1] / "pyproject.toml"


def oldest(project: dict[str, Any], extras: Sequence[str]) -> Iterator[str]:
    """Yield `name==version` for each dependency that has a lower bound, those of the extras included."""
    optional = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *(one for extra in extras for one in optional[extra])]:
        own = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        if own:
            yield from oldest({**project, "dependencies": []}, own[1].split(","))
        elif bound := re.match(r"([\w.-]+)(?:\[.*?\])?>=([\w.]+)", requirement):
            yield f"{bound[1]}=={bound[2]}"


if __name__ == "__main__":
    print(*oldest(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"], sys.argv[1:]), sep="\n")  # noqa: T201
