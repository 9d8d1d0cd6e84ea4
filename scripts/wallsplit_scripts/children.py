"""Starting Python again, so that it imports what is installed and nothing that happens to lie in the current folder."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def module(name: str, *arguments: str, python: str = sys.executable) -> tuple[str, ...]:
    """Return the command line that runs a module without the current folder in its search path (-P)."""
    return (python, "-P", "-m", name, *arguments)


def environment(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment with every folder of PYTHONPATH named in full: an empty entry means the current one."""
    folders = [str(Path(folder).absolute()) for folder in inherited.get("PYTHONPATH", "").split(os.pathsep) if folder]
    rest = {name: value for name, value in inherited.items() if name != "PYTHONPATH"}
    return {**rest, "PYTHONPATH": os.pathsep.join(folders)} if folders else rest
