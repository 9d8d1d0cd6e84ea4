"""Where a workload runs: this Python, or that of another virtual environment, looked into from outside."""

import importlib.machinery
import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """A Python with what is installed in it."""

    python: str
    """The interpreter's path."""
    version: str
    path: tuple[str, ...] | None = None
    """The folders its packages lie in; None: it is this process's own."""

    def has(self, module: str) -> bool:
        """Return whether the module could be imported; nothing is."""
        if self.path is None:
            return importlib.util.find_spec(module) is not None
        return importlib.machinery.PathFinder.find_spec(module, list(self.path)) is not None

    def version_of(self, distribution: str) -> str | None:
        """Return the installed version of a distribution; None where it is not installed."""
        if self.path is None:
            with suppress(importlib.metadata.PackageNotFoundError):
                return importlib.metadata.version(distribution)
            return None
        found = importlib.metadata.distributions(name=distribution, path=list(self.path))
        return next((one.version for one in found), None)

    def versions(self, distributions: Sequence[str]) -> dict[str, str]:
        """Return the version of Python and those of the distributions that are installed, by name."""
        installed = {name: version for name in distributions if (version := self.version_of(name)) is not None}
        return {"python": self.version, **installed}

    def file(self, relative: str) -> Path | None:
        """Return the installed file of that path below one of the folders; None where there is none."""
        folders = sys.path if self.path is None else self.path
        return next((path for folder in folders if (path := Path(folder) / relative).is_file()), None)


HERE = Environment(sys.executable, platform.python_version())
"""The environment of this process."""


def of_venv(folder: Path) -> Environment | None:
    """Return the virtual environment in the folder; None where there is none."""
    python = folder / "bin" / "python"
    try:
        settings = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return None
    if not python.exists():
        return None
    pairs = (line.partition("=") for line in settings.splitlines())
    version = {key.strip(): value.strip() for key, _, value in pairs}.get("version", "unknown")
    packages = sorted(str(path) for path in folder.glob("lib/python*/site-packages"))
    return Environment(str(python.absolute()), version, tuple(packages))
